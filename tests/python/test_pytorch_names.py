"""The list of PyTorch's names: every listed name is here or refused with the nearest thing, and the table says so."""

from pathlib import Path

import pytest

import fuselet as fl
from fuselet import pytorch_names

TABLE = Path(__file__).resolve().parents[2] / "docs/guides/pytorch_names.md"


@pytest.mark.parametrize("namespace", pytorch_names.NAMES)
def test_every_name_is_here_or_refused(namespace):
    owner = pytorch_names.find(namespace)
    names = pytorch_names.NAMES[namespace][1].split()
    assert len(names) == len(set(names)) > 10 and names == sorted(names)
    gone = pytorch_names.missing(namespace)
    for name in gone:
        with pytest.raises(NotImplementedError, match=f"{namespace}.{name} is not in this package; (the nearest is: .|there |nothing is needed)"):
            getattr(owner, name)
        assert not hasattr(owner, name)
    assert len(gone) < len(names) / 2
    with pytest.raises(AttributeError) as error:
        owner.no_such_name
    assert not isinstance(error.value, NotImplementedError)


def test_absent_names_on_instances():
    for name in pytorch_names.missing("torch.Tensor"):
        with pytest.raises(NotImplementedError, match=f"torch.Tensor.{name}"):
            getattr(fl.ones(1), name)


def test_hints_are_for_absent_names_alone():
    gone = {name for namespace in pytorch_names.NAMES for name in pytorch_names.missing(namespace)}
    assert sorted(set(pytorch_names.NEAREST) - gone) == []


def test_the_table_is_up_to_date():
    assert TABLE.read_text() == pytorch_names.markdown(), "run ./dev python docs/write_pytorch_names.py"
