"""What the pricing tests share: the shipped catalogue in its own cache, and a small fact folder with its target."""

from __future__ import annotations

import csv
from io import StringIO
from pathlib import Path
from types import SimpleNamespace

import pytest

from pricing.catalog.price_catalog import ROOT, Catalog

FACTS = {
    "accelerators.csv": """\
name,vendor,architecture,release_year,memory_gib,memory_bandwidth_gbs,cores,fp32_tflops,tf32_tflops,fp16_bf16_tflops,\
fp8_tflops,fp4_tflops,tdp_w,interconnect_gbs,ecc,class,list_price_usd,list_price_year,status,source,notes
X1-16GB-PCIe,Acme,One,2020,16,900,5120,14,,112,,,250,32,yes,datacenter,9000,2020,,a page,
X1-16GB-SXM,Acme,One,2020,16,900,5120,15,,125,,,300,300,yes,datacenter,,,,a page,
D2-8GB-die,Acme,Two,2015,8,160,2048,4,,,,,150,,no,datacenter,,,,a page,half a board
""",
    "cpu_prices.csv": """\
provider,region,instance_type,vcpus,memory_gib,kind,fpga_count,purchase_option,price_usd_per_hour,as_of,source,note
acme,here-1,h.big,64,128,cpu,,on_demand,3.2,2026-05-20,https://acme.example/guide,
acme,here-1,f.one,,,fpga,2,on_demand,1.5,2026-05-20,https://acme.example/guide,count from memory
""",
    "neocloud_prices.csv": """\
provider,region,instance_type,accelerator,accelerator_count,vcpus,memory_gib,purchase_option,price_usd_per_hour,as_of,\
source
nowhere,west,w.1,X1,1,8,32,on_demand,1,2026,a page
""",
    "offerings.csv": """\
provider,family,instance_type,accelerator,accelerator_count,accelerator_memory_gib,vcpus,memory_gib,local_ssd_gb,\
network_gbps,interconnect,status,source_ids
acme,A,a.large,X1,8,16.0,64,1360.00,,,none,current,src1+src2
acme,A,a.sixth,D2,0.167,8,4,16,,,,current,src1
acme,B,b.old,X1,,16,4,16,,,,retired,src1
acme,C,c.card,X1,1,16,,,,,,current,src2
""",
    "prices.csv": """\
provider,region,instance_type,purchase_option,price_usd_per_hour,as_of,source_id,method,sources_seen,note
acme,here-1,a.large,on_demand,8.5,2026-07-20,src1,listed,2,
acme,here-1,a.large,reserved_1y,5.25,2026-07-20,src1,listed,1,month/730
acme,there-1,a.sixth,spot,0.1,2026-05-20,src2,derived,1,"half, of a third"
acme,here-1,b.old,on_demand,1,2017-11-12,src1,listed,1,
acme,here-1,c.card,on_demand,0.5,2026-05-20,src2,listed,1,card only
""",
    "sources.csv": """\
source_id,repo,path,commit,commit_date,as_of,gave
src1,acme/prices,prices.json,abc,2026-07-20,2026-07-20,prices
src2,acme/more,more.csv,def,2026-05-20,2026-05-20,more prices
""",
    "systems.csv": """\
name,accelerator,count,max_power_kw,rack_units,list_price_usd,list_price_year,memory,network,source,notes
Box 8,X1-16GB-SXM,8,6.5,6,199000,2020,8 x 16 GB,,a page,six units
Box 16,X1-16GB-SXM,16,,,,,16 x 16 GB,,a page,
""",
    "transfer_storage_prices.csv": """\
provider,region,item,unit,tier,price_usd,as_of,source_id
acme,here-1,out,gb,first 10TB,0.09,2024-09-25,src1
acme,here-1,out,gb,next 40TB,0.085,2024-09-25,src1
acme,here-1,out,gb,first,0.1,2026-01-01,src2
acme,the south,out,gb,first,0.2,2026-01-01,src2
acme,here-1,disk,gb_month,,0.08,2024-09-25,src1
acme,here-1,tape,gb_month,,0.01,2024-09-25,src1
acme,here-1,out,gb,to friends,0.01,2024-09-25,src1
""",
    "price_history.csv": """\
provider,region,instance_type,purchase_option,price_usd_per_hour,first_seen,source_id,commit
acme,here-1,a.large,on_demand,12,2025-01-31,src2,0ef00abbe
""",
    "price_suspect.csv": "provider,why\nacme,stale\nacme,odd\n",
    "sold_how.csv": """\
provider,instance_type,purchase_option,sold,constraint,regions_or_zones,source,date,confidence
acme,a.*,reserved_1y,yes,only with an attached reservation,,"a page, id 12345",2026-05-01,vendor page
acme,a.sixth,spot,yes,best effort; max run 7 days,there-1,a page,2026-05-01,vendor page
""",
    "fabric.csv": """\
provider,instance_type,network_gbps,rdma,rdma_gbps,nics,nodes_per_domain,tpu_topology,tpu_chips,tpu_hosts,\
gke_machine_type,note,source,date,confidence
acme,a.large,400,InfiniBand,400,4,100 VMs in one scale set,,,,,,a page (copy; id 9),2026-05-01,vendor page
acme,a.sixth,5-80,none,0,1,1 (no RDMA),,,,,,a page,2026-05-01,vendor page
""",
    "grid_carbon.csv": """\
provider,region,grid_gco2e_per_kwh,carbon_free_share,year,source
acme,here-1,379.069,,2021-2022,a repository
acme,nowhere-1,100,0.5,2024,a region that the catalogue does not have
""",
    "term_prices.csv": """\
provider,region,instance_type,purchase_option,price_usd_per_hour,as_of,source_id,method,sources_seen,note,source,confidence
acme,here-1,a.large,reserved_3y,4,2026-09-01,src2,listed; on the page,1,,a page,secondary
""",
}
CURATED = {
    "successors.csv": "provider,instance_type,successor,source_id,note\nacme,b.old,a.large,guide,\n",
    "accelerators.csv": """\
name,model,vendor,architecture,release_year,memory_gib,memory_bandwidth_gbs,cores,fp32_tflops,tf32_tflops,fp16_tflops,\
fp8_tflops,fp4_tflops,tdp_w,interconnect_gbs,ecc,device_class,counted_as,list_price,list_price_year,source,notes
Z9-4GB,Z9,Acme,,,4,,,,,,,,,,,datacenter,device,,,src1,no specification
""",
    "offering_accelerators.csv": (
        "provider,written,instance_types,name,source\n"
        "acme,X1,b.*,X1-16GB-PCIe,a note\nacme,X1,c.*,X1-16GB-PCIe,a note\n"
    ),
    "sources.csv": "source_id,reference,as_of,gave\nguide,https://acme.example/guide,2026-01-01,targets\n",
    "excluded_prices.csv": "provider,region,instance_type,purchase_option,why\n",
    "sale_types.csv": "provider,written,types\nacme,old B,b.*\n",
    "systems.csv": "name,sold,price_as_of,source\nBox 8,yes,2020-05-14,a shop\n",
    "servers.csv": (
        "name,accelerator,accelerator_count,max_power_kw,rack_units,price,currency,price_as_of,source,notes,sold\n"
    ),
}
MAINTAINED = {
    "data/ended.csv": "provider,pattern,title,ended,successor,source\nacme,z.*,Zed,2020-01,a.large,a page\n",
    "data/aliases.csv": "written,name,used_by,units_per_chip,source\nD2,D2-8GB-die,acme,,\nX1,X1-16GB-SXM,acme,,\n",
    "providers/acme/regions.csv": (
        "region,name,country,blocs,source_id\nhere-1,Here,DE,EEA EU,guide\nthere-1,There,ZA,,guide\n"
    ),
    "providers/acme/provider.toml": """\
name = "acme"
title = "Acme Cloud"
home_page = "https://acme.example"
currency = "USD"
billing_increment_seconds = 1
billing_minimum_seconds = 60
terraform_module = "acme"
reference_regions = { egress_internet = "here-1" }

[import]
step_unit = "TB"
parts = ["*.card"]
options = { reserved_1y = "committed_use_1y", reserved_3y = "committed_use_3y" }
region_groups = { "the south" = ["ZA"] }

[[import.tiers]]
item = "egress_internet"
fact = "out"
kind = "to the internet"
last_step = 50
steps = { "first" = 0, "first 10TB" = 0, "next 40TB" = 10, "over 50TB" = 50 }
ignore = ["to friends"]

[[import.tiers]]
item = "block_storage"
fact = "disk"
kind = "ssd"
steps = { "" = 0 }
""",
}


@pytest.fixture(scope="session")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("cache")


@pytest.fixture(scope="session")
def catalog(cache: Path) -> Catalog:
    """The shipped catalogue, compiled into a folder of this test run."""
    return Catalog.read(ROOT, cache)


@pytest.fixture
def small(tmp_path: Path) -> SimpleNamespace:
    """A provider with four offerings: folders `facts`, `target` and `curated`; `change(table, line, column, value)`."""
    facts, target, curated = tmp_path / "facts", tmp_path / "pricing", tmp_path / "curated"
    for folder, tables in ((facts, FACTS), (target, MAINTAINED), (curated, CURATED)):
        for name, text in tables.items():
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)

    def change(path: Path, line: int, column: str, value: str) -> None:
        rows = list(csv.reader(StringIO(path.read_text())))
        rows[line - 1][rows[0].index(column)] = value
        out = StringIO()
        csv.writer(out, lineterminator="\n").writerows(rows)
        path.write_text(out.getvalue())

    return SimpleNamespace(facts=facts, target=target, curated=curated, change=change)
