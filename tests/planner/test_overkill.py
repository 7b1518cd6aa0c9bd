"""Is a GPU needed: CPUs as candidates like any other, and the sentences that say where a GPU is more than needed."""

from __future__ import annotations

import pytest

from planner.application import plan
from pricing.catalog.price_catalog import Catalog

L4 = {"accelerator": "L4", "count": 1, "units_per_second": 500, "per": "job", "scaling": "replicas"}
XEON = {"accelerator": "CPU-Xeon-8480+", "count": 2, "units_per_second": 400, "per": "job", "scaling": "replicas"}
SERVER = {"name": "Xeon server", "accelerator": "CPU-Xeon-8480+", "accelerators": 2, "price": 14_000, "max_power_kw": 1}
G6 = ("aws", "us-east-1", "g6.xlarge", "on_demand")
PARTS = ("aws", "us-east-1", "g6f.large", "on_demand")


def scoring(*measurements: dict, units: float = 20e6, **more) -> dict:
    demand = {"units_per_month": units}
    return {"name": "scoring", "unit": "samples", "demand": demand, "measurements": list(measurements), **more}


def owning(*systems: dict) -> dict:
    """What is there already, so that nothing waits for delivery."""
    return {"systems": list(systems), "existing": {"nodes": [{"system": s["name"], "count": 4} for s in systems]}}


def told(request, catalog) -> str:
    return "\n".join(map(str, plan(request, catalog).recommendation.reasons))


class TestServersOfCpus:
    def test_an_own_server_serves_what_was_measured_on_it(self, priced, ask) -> None:
        request = ask(scoring(XEON, units=800e6), **owning(SERVER), strategies=["onprem"])
        found = plan(request, priced({G6: 1.0}))
        assert found.status == "optimal"
        used = {use.accelerator for use in found.strategy("onprem").uses if use.what == "owned"}
        assert used == {"CPU-Xeon-8480+"}
        assert "scoring: no GPU is needed, it runs on CPU-Xeon-8480+ here." in map(str, found.recommendation.reasons)

    def test_it_is_carried_to_another_cpu_whoever_made_it(self, priced, ask) -> None:
        other = {**SERVER, "name": "EPYC server", "accelerator": "CPU-EPYC-7763-64c"}
        request = ask(scoring(XEON, units=200e6), **owning(other), strategies=["onprem"])
        found = plan(request, priced({G6: 1.0}))
        assert {rate.accelerator for rate in found.throughput} == {"CPU-EPYC-7763-64c"}
        assert all(rate.basis.startswith("predicted") for rate in found.throughput)

    @pytest.mark.parametrize("named", [False, True])
    def test_what_ran_on_a_gpu_runs_on_a_cpu_only_where_that_is_named(self, priced, ask, named: bool) -> None:
        names = ["L4", "CPU-Xeon-8480+"] if named else []
        request = ask(scoring(L4, accelerators=names), **owning(SERVER), strategies=["onprem"])
        rates = {rate.accelerator for rate in plan(request, priced({G6: 1.0})).throughput}
        assert ("CPU-Xeon-8480+" in rates) is named

    def test_what_ran_on_an_amd_cpu_does_not_run_on_an_amd_gpu(self, priced, ask) -> None:
        epyc = {**XEON, "accelerator": "CPU-EPYC-7763-64c"}
        gpu = {**SERVER, "name": "MI300X server", "accelerator": "MI300X", "accelerators": 8}
        request = ask(scoring(epyc, units=400e6), **owning(SERVER, gpu), strategies=["onprem"])
        assert {rate.accelerator for rate in plan(request, priced({G6: 1.0})).throughput} == {"CPU-Xeon-8480+"}

    def test_sockets_are_counted_as_sockets_and_accelerators_as_accelerators(self, priced, ask) -> None:
        found = plan(ask(scoring(XEON, L4), systems=[SERVER], strategies=["cloud"]), priced({G6: 1.0}))
        assert {(rate.accelerator, rate.gang) for rate in found.throughput} == {("L4-24GB", 1)}

    def test_a_cpu_that_cannot_be_had_is_said(self, priced, ask) -> None:
        said = told(ask(scoring(XEON, L4, units=400e6), strategies=["cloud"]), priced({G6: 1.0}))
        assert "scoring: measured on CPU-Xeon-8480+, but no CPU that can do it is for rent or sale here" in said


class TestOwnCloud:
    @pytest.fixture
    def with_cpus(self, tmp_path, monkeypatch) -> Catalog:
        monkeypatch.setenv("GPU_PLANNER_DATA", str(tmp_path))
        folder = tmp_path / "providers" / "ourcloud"
        folder.mkdir(parents=True)
        tables = {
            "provider.toml": 'name = "ourcloud"\ntitle = "Our cloud"\nhome_page = ""\ncurrency = "USD"\n'
            'billing_increment_seconds = 60\nbilling_minimum_seconds = 60\nterraform_module = ""\n'
            "reference_regions = {}\n",
            "regions.csv": "region,name,country,blocs,source_id\nhere,Our room,DE,EU,rates\n",
            "sources.csv": "source_id,reference,as_of,gave\nrates,internal rate card,2026-11-02,rates by the hour\n",
            "tiers.csv": "region,item,from_gb,price_per_gb,currency,as_of,source_id,kind,note\n",
            "offerings.csv": "family,instance_type,accelerator,accelerator_count,accelerator_memory_gib,vcpus,"
            "memory_gib,local_ssd_gb,network_gbps,interconnect,status,successor,source_id,part\n"
            "CPU,xeon-2s,CPU-Xeon-8480+,2,256,112,512,,25,,current,,rates,no\n",
            "prices.csv": "region,instance_type,purchase_option,price_per_hour,currency,as_of,source_id,method,note\n"
            "here,xeon-2s,on_demand,0.50,USD,2026-11-02,rates,listed,\n",
        }
        for name, text in tables.items():
            (folder / name).write_text(text, encoding="utf-8")
        return Catalog.current()

    @pytest.mark.slow
    def test_a_cpu_by_the_hour_wins_where_it_is_cheaper(self, with_cpus, ask) -> None:
        request = ask(scoring(XEON, {**L4, "units_per_second": 300}, memory_gib_total=20), strategies=["cloud"])
        found = plan(request, with_cpus)
        assert {use.accelerator for use in found.strategy("cloud").uses} == {"CPU-Xeon-8480+"}
        (said,) = found.recommendation.reasons
        # 0.50 an hour over 400 x 3,600 units an hour
        assert (
            "no GPU is needed, it runs on CPU-Xeon-8480+ here; by the hour: a CPU does a million samples for 0.34"
            in said.text
        )
        assert (said.code, said.parameters["costs"].parameters["cpu_cost_per_unit"]) == (
            "no_gpu_needed", pytest.approx(0.5 / (400 * 3600), rel=0.01),  # a little more with failures
        )  # fmt: skip

    @pytest.mark.slow
    def test_where_a_gpu_is_cheaper_the_cpu_is_told_beside_it(self, with_cpus, ask) -> None:
        request = ask(scoring({**XEON, "units_per_second": 20}, L4), strategies=["cloud"])
        assert "scoring: a CPU can do it as well; by the hour: a CPU does a million samples for 6.9" in told(
            request, with_cpus
        )


class TestIdle:
    def test_work_for_a_tenth_of_the_hours_or_more_says_nothing(self, priced, ask) -> None:
        # 500 x 3,600 = 1.8e6 an hour; a tenth of 730 hours is 131.4e6 a month
        assert told(ask(scoring(L4, units=132e6), strategies=["cloud"]), priced({G6: 1.0})) == ""

    def test_less_is_said_with_its_share_and_that_no_cpu_was_measured(self, priced, ask) -> None:
        said = told(ask(scoring(L4, units=65.7e6), strategies=["cloud"]), priced({G6: 1.0}))
        assert "aws g6.xlarge (1 x L4-24GB), would work 5.0% of the time (below 10%)" in said
        assert "whether it needs a GPU is unknown: it was not measured on a CPU." in said

    def test_the_cheapest_machine_with_cpus_only_is_named_with_its_price_date_and_source(self, priced, ask) -> None:
        # g6.xlarge has 4 vCPUs and 16 GiB: of those no smaller in us-east-1 c7g.2xlarge is the cheapest, 0.29 an hour.
        # The L4 does 1.8e6 samples for 1.00: at 0.29 x 1.8e6 = 522,000 an hour both cost the same
        request = ask(scoring(L4, units=65.7e6), strategies=["cloud"], regions=["us-east-1"])
        reasons = plan(request, priced({G6: 1.0})).recommendation.reasons
        (said,) = [each.parameters for each in reasons if each.code == "cpu_machine"]
        assert (said["instance_type"], said["price_per_hour"], said["as_of"]) == ("c7g.2xlarge", 0.29, "2026-07-20")
        assert said["units_per_hour"] == pytest.approx(522_000, rel=0.01)  # a little less with failures of the L4
        assert "karpenter" in said["source"]

    def test_residency_and_providers_hold_for_it_as_well(self, priced, ask) -> None:
        def named(**more) -> list[str]:
            reasons = plan(ask(scoring(L4, units=65.7e6), strategies=["cloud"], **more), priced({G6: 1.0}))
            return [r.parameters["provider"] for r in reasons.recommendation.reasons if r.code == "cpu_machine"]

        assert named(providers=["aws"]) == ["aws"]
        assert named(providers=["aws"], residency=["US"]) == ["aws"]
        assert named(regions=["us-east-1"], providers=["aws"]) == ["aws"]

    def test_who_measured_a_cpu_knows(self, priced, ask) -> None:
        said = told(ask(scoring(L4, XEON, units=65.7e6), strategies=["cloud"]), priced({G6: 1.0}))
        assert "too little to own or commit to one for it alone." in said
        assert "unknown" not in said


class TestSmaller:
    def test_a_part_of_an_accelerator_is_told_where_it_would_do(self, priced, ask) -> None:
        # an eighth of an L4: 8 times the hours at 0.10 is 0.80 of the whole at 1.00
        catalog = priced({G6: 1.0, PARTS: 0.1})
        request = ask(scoring(L4, units=150e6, memory_gib_total=2), strategies=["cloud"])
        said = told(request, catalog)
        # 150e6 x 12 / 1.8e6 = 1,000 hours whole, 8,000 of the 8,760 in an eighth: 800 USD
        assert "0.125 of a L4-24GB (aws us-east-1 g6f.large) has the 2 GiB and would cost about 800 USD" in said
        assert said.endswith("measure it there, and state gang: 0.125.")

    @pytest.mark.parametrize(
        ("price", "memory_gib", "units"),
        [(0.13, 2, 150e6), (0.1, 3, 150e6), (0.1, 2, 180e6)],
        ids=["dearer", "too little memory", "too slow"],
    )
    def test_and_not_where_it_would_not(self, priced, ask, price: float, memory_gib: float, units: float) -> None:
        request = ask(scoring(L4, units=units, memory_gib_total=memory_gib), strategies=["cloud"])
        assert "state gang" not in told(request, priced({G6: 1.0, PARTS: price}))


def test_a_plan_that_cannot_be_says_nothing_of_it(priced, ask) -> None:
    request = ask(scoring(L4, memory_gib_total=4000), strategies=["cloud"])
    assert plan(request, priced({G6: 1.0})).recommendation.reasons == ()


class TestDescribedWork:
    CHAT = {  # noqa: RUF012
        "name": "chat", "kind": "inference", "network": {"model": "llama-3-8b", "run": "inference"},
        "serving": {"input_tokens": 1000, "output_tokens": 400, "ttft_ms": 4000, "tpot_ms": 100},
        "regions": ["us-east-1"],
    }  # fmt: skip

    @pytest.mark.one_in(3)
    @pytest.mark.parametrize("weights", ["bf16", "int8", "int4"])  # integers are computed with in half precision
    def test_a_service_says_what_a_cpu_would_have_to_reach(self, priced, ask, weights: str) -> None:
        # 1,400 tokens of 2 x 8.03e9 operations: 2.2484e13 a request. A core of two Xeon 8480 has 114.7 TFLOPS / 112:
        # 0.04555 requests a second, so 0.2 a second take 4.391 cores; of c7g.2xlarge (0.29 for 8) 0.1592 an hour, and
        # the L4 stands for 1.00
        network = {**self.CHAT["network"], "precision": weights}
        service = {**self.CHAT, "network": network, "demand": {"requests_per_second": 0.2}}
        reasons = plan(ask(service, strategies=["cloud"]), priced({G6: 1.0})).recommendation.reasons
        (said,) = [each for each in reasons if each.code == "described_work_on_cpus"]
        assert said.parameters["fraction"] == pytest.approx(0.1592, rel=2e-3)
        assert said.parameters["cpu"] == "CPU-2x-Xeon-8480-56c"
        assert "reached 16% or more of the data sheet of CPU-2x-Xeon-8480-56c" in str(said)

    def test_next_to_nothing_is_less_than_a_hundredth_of_a_data_sheet(self, priced, ask) -> None:
        """A hundredth of the requests above take a hundredth of the cores: 0.16 % of the data sheet, never «0 %»."""
        network = {**self.CHAT["network"], "precision": "bf16"}
        service = {**self.CHAT, "network": network, "demand": {"requests_per_second": 0.002}}
        reasons = plan(ask(service, strategies=["cloud"]), priced({G6: 1.0})).recommendation.reasons
        (said,) = [each for each in reasons if each.code == "described_work_on_cpus"]
        assert said.parameters["fraction"] == pytest.approx(0.001592, rel=2e-3)
        assert "reached less than 1% of the data sheet of CPU-2x-Xeon-8480-56c" in str(said)

    def test_training_is_out_of_reach_of_cpus(self, priced, ask) -> None:
        tune = {"name": "tune", "kind": "training", "unit": "tokens", "regions": ["us-east-1"],
                "network": {"model": "llama-3-8b", "run": "lora"}, "demand": {"units_per_month": 1e6}}  # fmt: skip
        g6e = ("aws", "us-east-1", "g6e.xlarge", "on_demand")
        said = told(ask(tune, strategies=["cloud"]), priced({g6e: 1.0}))
        assert "tune: CPUs would not do it for less than aws g6e.xlarge (1 x L40S-48GB) in full use" in said
