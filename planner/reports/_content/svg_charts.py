"""Charts as static SVG: lines, and stacked bars with lines over them. Knows no plan."""

from __future__ import annotations

import math
from collections.abc import Sequence
from html import escape
from itertools import accumulate, pairwise

from pricing.frozen_values import dataclass
from pricing.plain_text import plain_text

WIDTH, HEIGHT = 760, 300
LEFT, RIGHT, TOP, BOTTOM = 78, 14, 34, 62
"""Margins: amounts are left, months and the legend below."""
TICKS = 5
LABELS_MAX = 13
SCALES = ((1e9, "billion "), (1e6, "million "))
"""Large amounts are drawn in these, from ten of them on."""
FONT = 'font-family="system-ui, sans-serif" font-size="11"'


@dataclass(frozen=True, slots=True)
class ChartSeries:
    """One value for each place along the axis; None where the line has a gap."""

    name: str
    values: tuple[float | None, ...]
    colour: str
    width: float = 2.0


def draw_chart(
    title: str, unit: str, labels: Sequence[str], *, lines: Sequence[ChartSeries] = (), bars: Sequence[ChartSeries] = ()
) -> str:
    """The SVG of lines and of bars that stand on one another, over `labels`; amounts are in `unit`."""
    tops = [sum(value or 0.0 for value in column) for column in zip(*(bar.values for bar in bars), strict=True)]
    known = [value for line in lines for value in line.values if value is not None]
    ticks = choose_ticks(min([0.0, *known]), max([0.0, *known, *tops]))
    frame = _Frame(len(labels), ticks[0], ticks[-1])
    scale, word = next((each for each in SCALES if max(ticks[-1], -ticks[0]) >= 10 * each[0]), (1.0, ""))
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" role="img" {FONT}>',
        f"<title>{_escape_text(title)}</title>",
        f'<text x="{LEFT}" y="16" font-size="13" font-weight="bold">{_escape_text(f"{title}, {word}{unit}")}</text>',
        *(_grid_line(frame, tick, scale) for tick in ticks),
        *_label_texts(frame, labels),
        *_bar_parts(frame, bars),
        *(_line_part(frame, line) for line in lines),
        *_legend_parts([*bars, *lines]),
        "</svg>",
    ]
    return "\n".join(parts)


def choose_ticks(least: float, most: float) -> list[float]:
    """About TICKS round amounts from at or below the least to at or above the most.

    >>> choose_ticks(0, 334_059)
    [0.0, 100000.0, 200000.0, 300000.0, 400000.0]
    >>> choose_ticks(-458, 1082)
    [-500.0, 0.0, 500.0, 1000.0, 1500.0]
    """
    span = (most - least) or 1.0
    power = 10.0 ** math.floor(math.log10(span / TICKS))
    step = next(times * power for times in (1, 2, 5, 10) if span <= times * power * TICKS)
    first, last = math.floor(least / step), math.ceil(most / step)
    return [number * step for number in range(first, max(last, first + 1) + 1)]


@dataclass(frozen=True, slots=True)
class _Frame:
    """Where a place and an amount are drawn."""

    places: int
    least: float
    most: float

    @property
    def slot(self) -> float:
        return (WIDTH - LEFT - RIGHT) / max(1, self.places)

    def across(self, place: int) -> float:
        """The middle of a place."""
        return LEFT + (place + 0.5) * self.slot

    def upward(self, amount: float) -> float:
        return TOP + (HEIGHT - TOP - BOTTOM) * (self.most - amount) / (self.most - self.least)


def _grid_line(frame: _Frame, tick: float, scale: float) -> str:
    y, colour = frame.upward(tick), "#888" if tick == 0 else "#ddd"
    amount = f"{tick / scale:,.0f}" if frame.most >= 10 else f"{tick:,.2f}"
    return (
        f'<line x1="{LEFT}" y1="{y:.1f}" x2="{WIDTH - RIGHT}" y2="{y:.1f}" stroke="{colour}"/>'
        f'<text x="{LEFT - 6}" y="{y + 4:.1f}" text-anchor="end">{amount}</text>'
    )


def _label_texts(frame: _Frame, labels: Sequence[str]) -> list[str]:
    every, y = math.ceil(len(labels) / LABELS_MAX), HEIGHT - BOTTOM + 16
    return [
        f'<text x="{frame.across(place):.1f}" y="{y}" text-anchor="middle">{_escape_text(label)}</text>'
        for place, label in enumerate(labels)
        if place % every == 0
    ]


def _bar_parts(frame: _Frame, bars: Sequence[ChartSeries]) -> list[str]:
    parts, wide = [], 0.7 * frame.slot
    for place in range(frame.places if bars else 0):
        ends = accumulate((bar.values[place] or 0.0 for bar in bars), initial=0.0)
        for bar, (low, high) in zip(bars, pairwise(ends), strict=True):
            x, y = frame.across(place) - wide / 2, frame.upward(high)
            size = f'width="{wide:.1f}" height="{frame.upward(low) - y:.1f}"'
            if high > low:
                parts.append(f'<rect x="{x:.1f}" y="{y:.1f}" {size} fill="{bar.colour}"/>')
    return parts


def _line_part(frame: _Frame, line: ChartSeries) -> str:
    points = " ".join(
        f"{frame.across(place):.1f},{frame.upward(value):.1f}"
        for place, value in enumerate(line.values)
        if value is not None
    )
    return f'<polyline points="{points}" fill="none" stroke="{line.colour}" stroke-width="{line.width}"/>'


def _legend_parts(series_list: Sequence[ChartSeries]) -> list[str]:
    parts, x = [], float(LEFT)
    for series in series_list:
        parts.append(f'<rect x="{x:.0f}" y="{HEIGHT - 26}" width="12" height="12" fill="{series.colour}"/>')
        parts.append(f'<text x="{x + 17:.0f}" y="{HEIGHT - 16}">{_escape_text(series.name)}</text>')
        x += 36 + 6.2 * len(series.name)
    return parts


def _escape_text(text: str) -> str:
    return escape(plain_text(text))
