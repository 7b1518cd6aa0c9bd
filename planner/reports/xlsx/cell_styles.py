"""How cells look, by name: inputs blue on yellow, negatives red in brackets, zero a dash. Knows no sheet."""

from __future__ import annotations

_MONEY = '#,##0.00_);[Red](#,##0.00);"-"_)'
_INPUT: dict[str, object] = {
    "font_color": "#0000FF",
    "bg_color": "#FFF9E5",
    "num_format": "#,##0.######",
    "border": 4,
    "border_color": "#BFBFBF",
}
_TOP: dict[str, object] = {"valign": "vcenter"}
STYLES: dict[str, dict[str, object]] = {
    "title": {"bold": True, "font_size": 14},
    "note": {"italic": True, "font_color": "#595959"},
    "long_note": {"italic": True, "font_color": "#595959", "text_wrap": True, "valign": "top"},
    "lead": {"bold": True, "font_size": 12, "text_wrap": True, "valign": "top"},
    "header": {
        "bold": True,
        "bg_color": "#1F3864",
        "font_color": "#FFFFFF",
        "text_wrap": True,
        "valign": "vcenter",
        "align": "center",
        "border": 1,
    },
    "block": {"bold": True, "align": "left", "indent": 1, "bg_color": "#D9E2F3"},
    "text": _TOP | {"align": "left", "indent": 1},
    "wrap": _TOP | {"align": "left", "indent": 1, "text_wrap": True},
    "input": _TOP | _INPUT,
    "input_percent": _TOP | _INPUT | {"num_format": "0.0###%"},
    "percent_figure": _TOP | {"num_format": '0.0###%_);[Red](0.0###%);"-"_)'},
    "choice": _TOP | _INPUT | {"num_format": "@", "bold": True},
    "date": _TOP | {"num_format": "yyyy-mm-dd", "align": "left", "indent": 1},
    "money": _TOP | {"num_format": _MONEY},
    "total": _TOP | {"num_format": _MONEY, "bold": True, "top": 1},
    "total_right": _TOP | {"bold": True, "top": 1, "align": "right", "indent": 1},
    "total_text": _TOP | {"bold": True, "top": 1, "align": "left", "indent": 1},
    "count": _TOP | {"num_format": '#,##0_);[Red](#,##0);"-"_)'},
    "figure": _TOP | {"num_format": '#,##0.0###_);[Red](#,##0.0###);"-"_)'},
    "flag": _TOP | {"num_format": "0", "align": "center"},
    "rate": _TOP | {"num_format": "0.000000"},
    "percent": _TOP | {"num_format": '0.0%_);[Red](0.0%);"-"_)'},
    "percent_fine": _TOP | {"num_format": '0.0000%_);[Red](0.0000%);"-"_)'},
    "right": _TOP | {"align": "right", "text_wrap": True, "indent": 1},
    "warn": {"bold": True, "font_color": "#7F6000", "bg_color": "#FFEB9C"},
    "good": {"bold": True, "font_color": "#006100", "bg_color": "#C6EFCE"},
    "bad": {"bold": True, "font_color": "#9C0006", "bg_color": "#FFC7CE"},
}
