"""Charts and the page: well-formed, nothing from outside in them, and points where the figures put them."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from xml.etree import ElementTree

import pytest

from planner.reports._content.plan_charts import draw_charts
from planner.reports._content.svg_charts import ChartSeries, draw_chart
from planner.reports.html import render

SVG = "{http://www.w3.org/2000/svg}"


def points(line):
    return [tuple(float(end) for end in pair.split(",")) for pair in line.get("points").split()]


def test_a_line_is_drawn_to_scale():
    """0 to 400 over 204 points of height from y = 34: 100 lies at 34 + 204 x 3/4 = 187. Two places share 668 points of
    width from x = 78: their middles are 245 and 579."""
    drawn = ElementTree.fromstring(draw_chart("t", "USD", ("a", "b"), lines=[ChartSeries("s", (100.0, 400.0), "#000")]))
    (line,) = drawn.iter(f"{SVG}polyline")
    assert points(line) == [(245.0, 187.0), (579.0, 34.0)]


def test_bars_stand_on_one_another():
    """10 and 30 of 40 over 204 points: 51 high from 238 up, then 153."""
    bars = [ChartSeries("low", (10.0,), "#111"), ChartSeries("high", (30.0,), "#222")]
    drawn = ElementTree.fromstring(draw_chart("t", "h", ("a",), bars=bars))
    low, high = [rect for rect in drawn.iter(f"{SVG}rect") if rect.get("width") != "12"]
    assert (float(low.get("y")), float(low.get("height"))) == (187.0, 51.0)
    assert (float(high.get("y")), float(high.get("height"))) == (34.0, 153.0)


def test_large_amounts_are_told_in_millions():
    text = draw_chart("Cash", "IDR", ("a",), lines=[ChartSeries("s", (47_000_000.0,), "#000")])
    assert "Cash, million IDR" in text
    assert ">50<" in text


def test_every_chart_is_xml_of_this_page_alone(plan):
    for chart in draw_charts(plan).values():
        drawn = ElementTree.fromstring(chart)
        assert not re.search(r"(?:href|url\(|<script|<image)", chart)
        assert drawn.get("viewBox") == "0 0 760 300"


def test_cash_of_each_month_is_a_point(small_plan):
    cash = ElementTree.fromstring(draw_charts(small_plan)["cash"])
    solved = [strategy for strategy in small_plan.strategies if strategy.status != "infeasible"]
    assert [len(points(line)) for line in cash.iter(f"{SVG}polyline")] == [small_plan.months] * len(solved)


class _Page(HTMLParser):
    def __init__(self):
        super().__init__()
        self.open, self.seen = [], []

    def handle_starttag(self, tag, attrs):
        self.seen.append((tag, dict(attrs)))
        if tag not in ("meta", "line", "rect", "polyline"):
            self.open.append(tag)

    def handle_endtag(self, tag):
        if tag not in ("meta", "line", "rect", "polyline"):
            assert self.open.pop() == tag


@pytest.mark.one_in(2)
def test_the_page_is_whole_and_loads_nothing(plan):
    page = _Page()
    page.feed(render(plan).decode())
    assert page.open == []
    tags = {tag for tag, _ in page.seen}
    assert not tags & {"script", "link", "img", "iframe", "a", "object"}
    assert not [value for _, attributes in page.seen for name, value in attributes.items() if name in ("src", "href")]


def test_the_page_begins_with_the_first_screen(small_plan):
    text = render(small_plan).decode()
    titles = re.findall(r"<h2[^>]*>([^<]+)</h2>", text)
    assert titles[0] == "Recommendation"
    assert titles[-2:] == ["Charts", "The whole report"]
    assert "<summary>Gaps</summary>" in text


def test_texts_from_outside_are_texts(hostile_plan):
    text = render(hostile_plan).decode()
    assert "<script>alert" not in text
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in text
