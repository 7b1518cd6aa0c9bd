"""Header words, months, yes and no in other languages, translated to the English words used for matching."""

from __future__ import annotations

import re
import tomllib
from importlib import resources

_TRANSLATIONS = tomllib.loads(resources.files(__package__).joinpath("languages.toml").read_text(encoding="utf-8"))
_ENGLISH_WORDS = list(_TRANSLATIONS["words"])
_FOREIGN_WORD = re.compile(rf"(?<!\w)(?:{'|'.join(f'({each})' for each in _TRANSLATIONS['words'].values())})(?!\w)")
_ENGLISH_MONTHS = {word: english for english, words in _TRANSLATIONS["months"].items() for word in words}
_FOREIGN_MONTH = re.compile(rf"(?<![^\W\d_])(?:{'|'.join(sorted(_ENGLISH_MONTHS, key=len, reverse=True))})(?![^\W\d_])")

TOTALS = (
    r"summe|gesamt(?:summe)?|zwischensumme|insgesamt|somme|sous-total|total g[eé]n[eé]ral|suma|soma|totale|σ|∑"
    r"|合計|小計"
)
"""Labels of totals rows, in lower case."""
YES = frozenset(
    {"yes", "y", "true", "1", "x", "✓", "✔", "ok", "allowed", "ja", "oui", "sí", "si", "sim", "sì", "j", "☑", "✅", "✔️"}
)
NO = frozenset({"no", "n", "false", "0", "not allowed", "nein", "non", "não", "nao", "☐", "✗", "✘", "❌"})


def translate_words(text: str) -> str:
    """A text in lower case with the known words in English."""
    return _FOREIGN_WORD.sub(lambda match: _ENGLISH_WORDS[(match.lastindex or 1) - 1], text)


def translate_months(text: str) -> str:
    """A text in lower case with names of months in English: "dez 26" -> "dec 26"."""
    return _FOREIGN_MONTH.sub(lambda match: _ENGLISH_MONTHS[match.group()], text)
