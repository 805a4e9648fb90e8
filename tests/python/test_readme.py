"""The Python examples of the READMEs run as they stand."""

import re
from pathlib import Path

import fuselet as fl

ROOT = Path(__file__).resolve().parents[2]


def run_example(readme):
    """The names that the README's examples define, run one after the other."""
    names = {"fl": fl}
    for example in re.findall(r"```python\n(.*?)```", (ROOT / readme).read_text(), re.DOTALL):
        exec(compile(example, readme, "exec"), names)
    return names


def test_the_examples_of_the_front_page_train(capsys):
    names = run_example("README.md")
    # The second goes on compiled.
    assert "100 compiled calls, 0 eager, 1 compilations\n  first call" in capsys.readouterr().out
    loss = fl.nn.functional.cross_entropy(names["model"](names["x"]), names["target"])
    # One fixed batch of one class: from about log(10) towards 0.
    assert loss.item() < 0.7


def test_the_example_of_a_recording_replays(capsys):
    names = run_example("frontend/python/README.md")
    assert "adam_step" in capsys.readouterr().out
    assert names["optimizer"].state_dict()["state"][0]["step"] == 2
