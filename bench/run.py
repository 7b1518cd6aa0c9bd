"""How fast it is: each figure a ratio of medians inside one run, beside its goal. `make bench`, or:

    python bench/run.py --peers          also installs gpuhunt and SkyPilot into throw-away environments and asks them
                                         the same of the same rows, PuLP and CBC for the same programs
    python bench/run.py portfolios       only the groups named

Absolute times are those of this machine at this moment; read the ratios. Nothing here is a test.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence

from batch import batch
from bills import bills
from catalogues import feed, large
from doors import cold, service, warm
from growth import growth
from load import load
from measure import Figure
from overhead import overhead
from portfolios import portfolios
from pulp_cbc import pulp_cbc
from risk import risk
from serving import serving
from shared import shared
from sheets import sheets
from skypilot import skypilot
from uncertainty import uncertainty
from workbook import workbook

Group = Callable[[], Iterator[Figure]]
GROUPS: tuple[Group, ...] = (
    cold, warm, large, feed, service, risk, bills, sheets, workbook, overhead, portfolios, growth, uncertainty,
    serving, load, batch, shared,
)  # fmt: skip
PEERS: tuple[Group, ...] = (skypilot, pulp_cbc)


def main(arguments: Sequence[str]) -> None:
    out, named = sys.stdout, [argument for argument in arguments if not argument.startswith("--")]
    groups = GROUPS + (PEERS if "--peers" in arguments else ())
    for group in groups:
        if named and group.__name__ not in named:
            continue
        sys.stderr.write(f"{group.__name__} ...\n")
        out.write(f"\n{(group.__doc__ or '').splitlines()[0]}\n")
        for figure in group():
            out.write(f"  {figure.line()}\n")
            out.flush()
    if "--peers" not in arguments:
        goals = "gpuhunt's query (goal >= 40x), SkyPilot's optimize (>= 8x), PuLP and CBC (>= 100x)"
        out.write(f"\nskipped: {goals}; python bench/run.py --peers installs them\n")


if __name__ == "__main__":
    main(sys.argv[1:])
