"""Every message of the core has words, and no words are left over."""

from __future__ import annotations

import ast
import inspect
import string

from planner.messages import message_texts, text_of, with_texts
from planner.result.message import Message, message


def messages_in(parsed):
    """The code and the parameters of every `message("code", name=...)` in the product, with its place."""
    for path, tree in parsed.items():
        if path.parts[0] != "planner":
            continue
        for node in ast.walk(tree):
            if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "message" and node.args:
                assert isinstance(node.args[0], ast.Constant), f"{path}:{node.lineno}: the code is written out"
                names = {keyword.arg for keyword in node.keywords}
                yield f"{path}:{node.lineno}", node.args[0].value, names


def parameters_of(text):
    if callable(text):
        return set(inspect.signature(text).parameters)
    return {name.partition(".")[0].partition("[")[0] for _, name, _, _ in string.Formatter().parse(text) if name}


def test_every_code_has_a_text_with_its_parameters(parsed):
    texts = message_texts()
    wrong = [
        (place, code, sorted(names))
        for place, code, names in messages_in(parsed)
        if code not in texts or not parameters_of(texts[code]) <= names
    ]
    assert wrong == []


def test_every_text_has_a_code_that_uses_it(parsed):
    assert set(message_texts()) - {code for _, code, _ in messages_in(parsed)} == set()


def test_texts_are_filled_in_wherever_a_message_is(monkeypatch):
    monkeypatch.setattr("planner.messages.message_texts", lambda: {"few": "{count} of {of}", "many": "m".upper})
    told = message("few", count=2, of=3)
    assert text_of(told) == "2 of 3"
    assert with_texts((told, "as it is"))[0].text == "2 of 3"
    assert with_texts((told,))[0] == Message("few", {"count": 2, "of": 3}, "2 of 3")
    unchanged = ("as it is", 3)
    assert with_texts(unchanged) is unchanged


def test_messages_within_a_message_are_put_into_words_too(monkeypatch):
    monkeypatch.setattr(
        "planner.messages.message_texts", lambda: {"outer": lambda why: f"{why[0]} and {why[1]}", "few": "{n} of 3"}
    )
    outer = message("outer", why=(message("few", n=1), message("few", n=2)))
    assert text_of(outer) == "1 of 3 and 2 of 3"
    filled = with_texts((outer,))[0]
    assert filled.text == "1 of 3 and 2 of 3"
    assert [each.text for each in filled.parameters["why"]] == ["1 of 3", "2 of 3"]


def test_messages_within_a_mapping_are_put_into_words_too(monkeypatch):
    monkeypatch.setattr("planner.messages.message_texts", lambda: {"few": "{n} of 3"})
    filled = with_texts(({"first": message("few", n=1), "second": (message("few", n=2),)},))[0]
    assert (filled["first"].text, filled["second"][0].text) == ("1 of 3", "2 of 3")
    unchanged = {"first": 1, "second": ("as it is",)}
    assert with_texts(unchanged) is unchanged


def test_messages_read_back_from_json_are_those_that_were_written():
    from pydantic import TypeAdapter

    written = message(
        "outer", names=("a", "b"), amounts=(1.5, 2.0), why=(message("few", n=1),), one=message("few", n=2), no=None
    )
    adapter = TypeAdapter(Message)
    assert adapter.validate_json(adapter.dump_json(written), strict=True) == written
