"""Accelerators: one canonical name each, their specifications, and the names that others write.

Reads `data/accelerators.csv` (made by the import command) and `data/aliases.csv` (maintained by hand). Knows no price
and no instance type. A written name is matched without regard to case, spaces, dashes, underscores and a vendor in
front; no further guess is made: a name that is not listed is unknown.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import fields
from functools import cache, cached_property
from pathlib import Path

from pricing.csv_tables import TableRow, find_nearest_names, read_rows
from pricing.errors import InvalidSnapshot, UnknownName
from pricing.frozen_values import dataclass

DATA = Path(__file__).parent / "data"
VENDORS = ("nvidia", "tesla", "geforce", "amd", "instinct", "intel", "habana", "google", "cloud", "aws", "gpu")
"""Words before a name that do not change its meaning."""

SXM_NUMBER = re.compile(r"SXM\d")
"""The form of a module with its generation, as in V100-32GB-SXM3."""
SLICE_PLACEHOLDER = "{n}"
"""The place of the number in an alias for TPU slices: v3-{n}, ct5lp-hightpu-{n}t."""


@dataclass(frozen=True, slots=True)
class Accelerator:
    """One accelerator as this project counts it (a die for K80 and M60 names ending in -die, a chip for TPUs).

    Rates are dense peaks in TFLOPS, `memory_bandwidth_gbs` in GB/s; None is unknown, never zero. `counted_as` is
    the unit of a count: device, die, board, module, chip or socket.
    """

    name: str
    """Name used by this project."""
    model: str
    """Product name."""
    vendor: str
    """Vendor."""
    architecture: str
    """Architecture, such as Hopper."""
    release_year: int | None
    """Year of release; null: unknown."""
    memory_gib: float | None
    """Memory in GiB; null: unknown."""
    memory_bandwidth_gbs: float | None
    """Memory bandwidth in GB/s; null: unknown."""
    cores: float | None
    """Shader or tensor cores as the vendor counts them; null: unknown."""
    fp32_tflops: float | None
    """Dense peak at FP32 in TFLOPS; null: unknown."""
    tf32_tflops: float | None
    """Dense peak at TF32 in TFLOPS; null: unknown."""
    fp16_tflops: float | None
    """Dense peak at FP16 or BF16 in TFLOPS; null: unknown."""
    fp8_tflops: float | None
    """Dense peak at FP8 in TFLOPS; null: unknown."""
    fp4_tflops: float | None
    """Dense peak at FP4 in TFLOPS; null: unknown."""
    tdp_w: float | None
    """Thermal design power in W; null: unknown."""
    interconnect_gbs: float | None
    """Bandwidth between accelerators of a node in GB/s; null: unknown."""
    ecc: bool | None
    """Whether its memory corrects errors; null: unknown."""
    device_class: str
    """Class: datacenter, workstation or consumer."""
    counted_as: str
    """Unit of a count: device, die, board, module, chip or socket."""
    list_price: float | None
    """List price at release in USD; null: unknown."""
    list_price_year: int | None
    """Year of the list price; null: unknown."""
    source: str
    """Source of the figures."""
    notes: str
    """Remarks."""


@dataclass(frozen=True, slots=True)
class Alias:
    """`written` is how `used_by` (aws, azure, gcp, skypilot, dstack, nvidia-smi, short ...) writes `name`.

    A TPU slice has {n} in place of the number; `units_per_chip` gives its unit: 2 cores or 1 chip.
    """

    written: str
    name: str
    used_by: str
    units_per_chip: int | None = None
    source: str = ""


class AcceleratorNames:
    """All accelerators and all that is written for them; a faulty table raises InvalidSnapshot with every fault."""

    def __init__(self, accelerators: Iterable[Accelerator], aliases: Iterable[Alias]) -> None:
        self.by_name = {a.name: a for a in sorted(accelerators, key=lambda a: a.name)}
        self.aliases = tuple(aliases)
        self._usable = tuple(a for a in self.aliases if a.name in self.by_name)

    @classmethod
    def read(cls, accelerators_csv: Iterable[Path], aliases_csv: Iterable[Path]) -> AcceleratorNames:
        """From the tables of a catalogue: the shared ones and those that providers have of their own."""
        faults: list[str] = []
        accelerators = [
            parse_accelerator(row) for path in accelerators_csv for row in read_rows(path, ACCELERATOR_COLUMNS, faults)
        ]
        aliases = [parse_alias(row) for path in aliases_csv for row in read_rows(path, ALIAS_COLUMNS, faults)]
        names = cls([a for a in accelerators if a], [a for a in aliases if a])
        faults += names.faults()
        if faults:
            raise InvalidSnapshot(tuple(faults))
        return names

    def faults(self) -> list[str]:
        """Aliases that name no accelerator, and spellings that would mean two."""
        problems = [
            f"aliases.csv: {a.written!r} names {a.name!r}, unknown" for a in self.aliases if a.name not in self.by_name
        ]
        meant: dict[str, str] = {normalize_name(name): name for name in self.by_name}
        for alias in self.aliases:
            other = meant.setdefault(normalize_name(alias.written), alias.name)
            if other != alias.name:
                problems.append(f"aliases.csv: {alias.written!r} would mean both {other} and {alias.name}")
        return problems

    @cached_property
    def _names_by_spelling(self) -> dict[str, str]:
        known = {normalize_name(a.written): a.name for a in self._usable if a.units_per_chip is None}
        return known | {normalize_name(name): name for name in self.by_name}

    @cached_property
    def _accelerators_by_model(self) -> dict[str, tuple[Accelerator, ...]]:
        models: dict[str, list[Accelerator]] = {}
        for accelerator in self.by_name.values():
            models.setdefault(accelerator.model, []).append(accelerator)
        return {normalize_name(model): tuple(members) for model, members in models.items()}

    @cached_property
    def _tpu_slice_aliases(self) -> list[tuple[str, str, Alias]]:
        """The text before and after the number, for every alias of slices."""
        split = [
            (normalize_name(a.written).partition(SLICE_PLACEHOLDER), a)
            for a in self._usable
            if a.units_per_chip is not None
        ]
        return [(before, after, alias) for (before, _, after), alias in split]

    def resolve(self, written: str) -> Accelerator:
        """See the function of the same name."""
        name = self._names_by_spelling.get(normalize_name(written))
        if name is not None:
            return self.by_name[name]
        members = self._accelerators_by_model.get(normalize_name(written), ())
        if len(members) == 1 and members[0].counted_as not in {"die", "board"}:
            return members[0]
        try:
            return self.tpu_slice(written)[0]
        except UnknownName:
            raise self.unknown(written) from None

    def match(self, written: str) -> tuple[Accelerator, ...]:
        """See the function of the same name."""
        members = self._accelerators_by_model.get(normalize_name(written))
        return members or self.forms(written)

    def forms(self, written: str) -> tuple[Accelerator, ...]:
        """The accelerator that `written` means and, unless it names the form, those that differ from it in the number
        of their SXM form alone: V100-32GB is the SXM2 of cloud nodes and the SXM3 of a DGX-2."""
        meant = self.resolve(written)
        if SXM_NUMBER.search(written.upper()):
            return (meant,)
        form = SXM_NUMBER.sub("SXM", meant.name)
        others = (a for a in self.siblings(meant) if form != meant.name and SXM_NUMBER.sub("SXM", a.name) == form)
        return (meant, *others)

    def siblings(self, accelerator: Accelerator) -> tuple[Accelerator, ...]:
        """See the function of the same name."""
        return tuple(
            a for a in self._accelerators_by_model[normalize_name(accelerator.model)] if a.name != accelerator.name
        )

    def tpu_slice(self, written: str) -> tuple[Accelerator, int]:
        """See the function of the same name."""
        key = normalize_name(written)
        for before, after, alias in self._tpu_slice_aliases:
            number = key.removeprefix(before).removesuffix(after)
            if f"{before}{number}{after}" == key and re.fullmatch("[0-9]{1,6}", number) and alias.units_per_chip:
                chips, rest = divmod(int(number), alias.units_per_chip)
                if chips and not rest:
                    return self.by_name[alias.name], chips
        raise UnknownName(
            "TPU slice", written, find_nearest_names(written, [alias.written for *_, alias in self._tpu_slice_aliases])
        )

    def unknown(self, written: str) -> UnknownName:
        """The error for a name that is not here, with the nearest that are."""
        spelled = {a.written: a.name for a in self._usable if a.units_per_chip is None}
        for members in self._accelerators_by_model.values():
            spelled[members[0].model] = members[0].model if len(members) > 1 else members[0].name
        spelled |= {name: name for name in self.by_name}
        close = find_nearest_names(written, spelled, count=8)
        return UnknownName("accelerator", written, tuple(dict.fromkeys(spelled[c] for c in close))[:5])


def normalize_name(written: str) -> str:
    """A name without case, separators and leading vendor: two spellings are the same if these are equal.

    Between two digits a separator stays: A100-80GB is A100 80GB, but neither v3-8-8 nor A10 0 is run together.
    """
    words = [w for w in re.split(r"[\s_\-/,()]+", written.casefold()) if w]
    while len(words) > 1 and words[0] in VENDORS:
        words.pop(0)
    return re.sub(r"(?<=\d) (?=[\d{])|( )", lambda match: "" if match[1] else "-", " ".join(words))


@cache
def embedded_names() -> AcceleratorNames:
    """The names that are shipped."""
    return AcceleratorNames.read([DATA / "accelerators.csv"], [DATA / "aliases.csv"])


def resolve(written: str) -> Accelerator:
    """The one accelerator that `written` means: a canonical name, an alias or a TPU slice, case and separators aside.

    A bare model (H100, A100) has the meaning that clouds and SkyPilot give it; `siblings` gives the other variants.
    Raises UnknownName with the nearest names; never guesses.
    """
    return embedded_names().resolve(written)


def match(written: str) -> tuple[Accelerator, ...]:
    """All accelerators that `written` covers, for filters: one name or alias, or every variant of a bare model (H100).

    Raises UnknownName.
    """
    return embedded_names().match(written)


def siblings(accelerator: Accelerator) -> tuple[Accelerator, ...]:
    """The other variants of the same model, by name."""
    return embedded_names().siblings(accelerator)


def tpu_slice(written: str) -> tuple[Accelerator, int]:
    """The chip that a slice name means and how many chips: v3-8 is 4 (it counts cores), v5e-8 is 8 (it counts chips).

    Raises UnknownName for anything else, an odd number of cores included.
    """
    return embedded_names().tpu_slice(written)


def accelerators() -> tuple[Accelerator, ...]:
    """Every canonical accelerator, by name."""
    return tuple(embedded_names().by_name.values())


def aliases() -> tuple[Alias, ...]:
    """Everything that others write, as listed."""
    return embedded_names().aliases


def parse_accelerator(row: TableRow) -> Accelerator | None:
    """One row of accelerators.csv; None after its faults were noted."""
    return row.build(
        Accelerator,
        name=row.text("name"),
        model=row.text("model"),
        vendor=row.text("vendor"),
        architecture=row.text("architecture", empty=True),
        **{key: row.whole(key) for key in ("release_year", "list_price_year")},
        **{key: row.number(key) for key in _NUMBERS},
        ecc={"yes": True, "no": False, "": None}.get(row.text("ecc", empty=True)),
        device_class=row.text("device_class"),
        counted_as=row.text("counted_as"),
        source=row.text("source"),
        notes=row.text("notes", empty=True),
    )


def parse_alias(row: TableRow) -> Alias | None:
    """One row of aliases.csv; None after its faults were noted."""
    units = row.whole("units_per_chip")
    if (units is not None) != (SLICE_PLACEHOLDER in row.text("written")):
        row.fault(f"units_per_chip goes with {SLICE_PLACEHOLDER} in the written name")
    return row.build(
        Alias,
        written=row.text("written"),
        name=row.text("name"),
        used_by=row.text("used_by"),
        units_per_chip=units,
        source=row.text("source", empty=True),
    )


ACCELERATOR_COLUMNS = tuple(f.name for f in fields(Accelerator))
ALIAS_COLUMNS = tuple(f.name for f in fields(Alias))
_NUMBERS = tuple(f.name for f in fields(Accelerator) if f.type == "float | None")
