"""Header words, months, yes and no in other languages, translated to the English words used for matching: data.

Only words with one meaning in a planning sheet; other headers are reported as unused.
"""

from __future__ import annotations

import re

_MONTHLY = r"(?:pro|je|im) monat|par mois|al mes|por m[eê]s|ao m[eê]s|al mese"
_DAILY = r"(?:pro|je|am) tag|(?<=/)tag|par jour|al d[ií]a|por d[ií]a|ao dia|al giorno"
_WEEKLY = r"(?:pro|je) woche|(?<=/)woche|par semaine|(?:a la|por|à) semana|por semana|alla settimana"
_YEARLY = r"(?:pro|im) jahr|par an|al año|por ano|ao ano|all'anno"

WORDS: tuple[tuple[str, str], ...] = (
    (_MONTHLY, "per month"),
    (_DAILY, "per day"),
    (_WEEKLY, "per week"),
    (_YEARLY, "per year"),
    (r"monatlich\w{0,2}|mensuel(?:le)?s?|mensual(?:es)?|mensa(?:l|is)|mensil[ei]", "monthly"),
    (r"täglich\w{0,2}|quotidien(?:ne)?s?|diari[oa]s?", "daily"),
    (r"jährlich\w{0,2}|annuel(?:le)?s?|anua(?:l|les|is)", "yearly"),
    (r"(?:projekt|projet|proyecto|projeto|progetto)e?s?", "project"),
    (r"anwendung|aplicaci[oó]n|aplica[cç][aã]o|applicazione", "application"),
    (r"charge de travail|carga de traba(?:jo|lho)|carico di lavoro|arbeitslast", "workload"),
    (r"kostenstelle|kostentr[aä]ger|centre de co[uû]ts?|centro de (?:costos?|costes?|custos?)", "cost center"),
    (r"abteilung|d[eé]partement|departamento", "department"),
    (r"équipe|equipe|equipo", "team"),
    (r"verantwortlich(?:e|er)?|responsable|responsável", "owner"),
    (r"(?:type|tipo) d[ei] gpu|gpu typ", "gpu type"),
    (r"anzahl(?: der)?|nombre de|n[uú]mero d[ei]", "number of"),
    (r"menge|stückzahl|quantité|cantidad|quantidade|quantità", "quantity"),
    (r"gpu stunden|heures gpu|horas (?:de )?gpu|ore gpu", "gpu hours"),
    (r"stunden|std|heures|horas", "hours"),
    (r"monate?|mois|m[eê]s|mese", "month"),
    (r"auslastung|utilizaci[oó]n|utiliza[cç][aã]o|utilizzo", "utilisation"),
    (r"bemerkung(?:en)?|anmerkung(?:en)?|kommentare?|commentaires?|comentarios?|comentários?", "notes"),
    (r"remarques?|observaciones|observa[cç][oõ]es|notas", "notes"),
    (r"anbieter|fournisseur|proveedor|fornecedor|provedor|fornitore", "provider"),
    (r"région|región|região|regione", "region"),
    (r"standort", "location"),
    (r"presupuesto|orçamento", "budget"),
    (r"wachstum|croissance|crecimiento|crescimento|crescita", "growth"),
    (r"bedarf", "demand"),
    (r"einheit|unidad|unidade", "unit"),
    (r"knoten|nœuds|nodos", "nodes"),
    (r"startdatum|beginn|(?:date de )?début|(?:fecha de )?inicio|(?:data de )?início|inizio", "start"),
    (r"enddatum|ende|date de fin|fecha de fin|data de fim", "end"),
    (r"preise?|prix|precio|preço|prezzo", "price"),
    (r"kosten|coûts?|costo|coste|custo", "cost"),
)
_FOREIGN_WORD = re.compile(r"(?<!\w)(?:" + "|".join(f"({pattern})" for pattern, _ in WORDS) + r")(?!\w)")
_ENGLISH_WORDS = [english for _, english in WORDS]

MONTHS: dict[str, tuple[str, ...]] = {
    "jan": ("januar", "janv", "janvier", "ene", "enero", "janeiro", "gen", "gennaio"),
    "feb": ("februar", "févr", "fév", "février", "febrero", "fev", "fevereiro", "febbraio"),
    "mar": ("mär", "mrz", "märz", "mars", "marzo", "março"),
    "apr": ("avr", "avril", "abr", "abril", "aprile"),
    "may": ("mai", "mayo", "maio", "mag", "maggio"),
    "jun": ("juni", "juin", "junio", "junho", "giu", "giugno"),
    "jul": ("juli", "juil", "juillet", "julio", "julho", "lug", "luglio"),
    "aug": ("août", "aout", "ago", "agosto"),
    "sep": ("septembre", "septiembre", "set", "setembro", "settembre"),
    "oct": ("okt", "oktober", "octobre", "octubre", "out", "outubro", "ott", "ottobre"),
    "nov": ("novembre", "noviembre", "novembro"),
    "dec": ("dez", "dezember", "déc", "décembre", "dic", "diciembre", "dezembro", "dicembre"),
}
_ENGLISH = {word: english for english, words in MONTHS.items() for word in words}
_MONTH = re.compile(r"(?<![^\W\d_])(?:" + "|".join(sorted(_ENGLISH, key=len, reverse=True)) + r")(?![^\W\d_])")

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
    return _MONTH.sub(lambda match: _ENGLISH[match.group()], text)
