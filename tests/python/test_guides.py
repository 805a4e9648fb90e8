"""The guides of the reference site say what is true: their Python runs as it stands.

A line `expression  # = text` has the value that prints as the text; `expression  # raises Error: text` raises an Error whose
message contains the text.
"""

import builtins
import re
from pathlib import Path

import pytest

GUIDES = sorted((Path(__file__).resolve().parents[2] / "docs/guides").glob("*.md"))
STATED = re.compile(r"(?P<code>\S.*?)  # (?:= (?P<value>.*)|raises (?P<error>\w+): (?P<text>.*))")


def check(stated, names):
    code = stated["code"]
    if stated["error"]:
        with pytest.raises(getattr(builtins, stated["error"])) as caught:
            eval(code, names)
        assert stated["text"] in str(caught.value), code
    else:
        assert str(eval(code, names)) == stated["value"], code


def pieces(example):
    """Runs of lines to execute, and statements to check, in order."""
    run = []
    for line in example.splitlines():
        stated = STATED.fullmatch(line)
        if stated:
            yield "\n".join(run), stated
            run = []
        else:
            run.append(line)
    yield "\n".join(run), None


@pytest.mark.parametrize("guide", GUIDES, ids=lambda path: path.stem)
def test_what_a_guide_states(guide):
    names = {}
    for example in re.findall(r"```python\n(.*?)```", guide.read_text(), re.DOTALL):
        for code, stated in pieces(example):
            exec(compile(code, guide.name, "exec"), names)
            if stated:
                check(stated, names)
