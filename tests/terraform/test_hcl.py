"""Text that becomes Terraform: nothing in it is ever code."""

from __future__ import annotations

import base64
import json
import re
import shutil
import subprocess
import unicodedata
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from planner.reports.terraform.provisioning.hcl import (
    HclBlock,
    RawExpression,
    format_document,
    format_expression,
    quote_string,
    read_required_providers,
    read_variables,
)

HOSTILE = st.text(st.sampled_from('a"\\$%{}~\n\r\t#/*é😀\x00\x1b\u2028\u202e\ud800'), max_size=30) | st.text(
    max_size=200
)
ESCAPE = re.compile(r'\\(?:u([0-9a-f]{4})|U([0-9a-f]{8})|(["\\nrt]))|(\$\$\{|%%\{)')
PLAIN = {"n": "\n", "r": "\r", "t": "\t", '"': '"', "\\": "\\"}


def read(quoted: str) -> str:
    """The string that a quoted literal without templates means: the rules of HCL's native syntax, read anew."""
    inside = quoted[1:-1]
    rest = ESCAPE.sub(" ", inside)
    assert '"' not in rest
    assert "\\" not in rest
    assert not re.search(r"\$\{|%\{", rest), "a template is alive"
    return ESCAPE.sub(lambda m: m[4][1:] if m[4] else PLAIN[m[3]] if m[3] else chr(int(m[1] or m[2], 16)), inside)


@given(HOSTILE)
def test_a_quoted_text_reads_back_as_itself(text: str) -> None:
    quoted = quote_string(text)
    assert quoted.isprintable()
    assert read(quoted) == re.sub("[\ud800-\udfff]", "\ufffd", text)


def test_terraform_itself_reads_the_same(tmp_path: Path) -> None:
    if shutil.which("terraform") is None:
        pytest.skip("terraform is not on PATH")
    texts = [
        'a"b\\c', "${file(\"/etc/passwd\")}", "%{ if true }x%{ endif }", "$${x} $$${y} $$$${z}", "%%{x} %%%{y}",
        "$ { % {", "line\nline\r\n\ttab", "\x00\x07\x1b[31m\x7f", "é😀\u2028\u202e", "\\u0024{x}", "\\", "$", "${",
        "%{", "x" * 200, "",
        "~} <<EOT\nEOT", "# // /* */", "${~", "é", "\ud800",
    ]  # fmt: skip
    line = f"base64encode(jsonencode({format_expression(texts)}))\n"
    done = subprocess.run(
        ["terraform", "console"], input=line, cwd=tmp_path, capture_output=True, text=True, check=True
    )
    back = json.loads(base64.b64decode(re.findall(r'"([A-Za-z0-9+/=]+)"', done.stdout)[-1]))
    assert back == [unicodedata.normalize("NFC", re.sub("[\ud800-\udfff]", "\ufffd", text)) for text in texts]


def test_values_are_written_on_one_line() -> None:
    value = {"plain": [1, 2.5, True, None], "needs-quotes": {}, "raw": RawExpression("var.x")}
    assert format_expression(value) == '{ plain = [1, 2.5, true, null], "needs-quotes" = {}, raw = var.x }'


def test_blocks_are_laid_out_as_terraform_fmt_wants_them() -> None:
    inner = HclBlock("inner", (("a", 1), ("long", "x")))
    block = HclBlock('kind "label"', (("name", "n"), ("left_out", None), ("b", []), inner, HclBlock("features", ())))
    assert format_document([block, HclBlock("empty", ())], "two\nlines") == (
        '# two\n# lines\n\nkind "label" {\n  name = "n"\n  b    = []\n\n'
        '  inner {\n    a    = 1\n    long = "x"\n  }\n\n  features {}\n}\n\nempty {}\n'
    )


def test_what_a_module_declares_is_read() -> None:
    text = 'variable "a" {\n  description = "One \\"a\\"."\n  type = list(object({\n    x = string\n  }))\n}\n\n'
    text += (
        'variable "b" {\n  description = "Two."\n  type        = string\n  default     = null\n\n  check {\n  }\n}\n'
    )
    found = read_variables(text)
    assert (found["a"].type, found["a"].required) == ("list(object({ x = string }))", True)
    assert found["a"].description == 'One "a".'
    assert (found["b"].type, found["b"].required) == ("string", False)
    pins = 'terraform {\n  required_providers {\n    x-y = {\n      source  = "h/x"\n      version = "~> 1.0"\n    }\n'
    assert read_required_providers(pins) == {"x-y": ("h/x", "~> 1.0")}
