"""One tensor, one object: identity, attributes and subclasses through C++, and the garbage collector."""

import copy
import gc
import pickle
import threading
import weakref

import pytest

import fuselet as fl
from fuselet import nn


def tape_holds(p):
    """A loss whose tape holds p."""
    return (p * p).sum()


def test_the_same_tensor_is_the_same_object():
    x = fl.ones(2, requires_grad=True)
    (x * 2).sum().backward()
    assert x.grad is x.grad
    y = fl.ones(3)
    assert y.add_(1) is y
    assert y.contiguous() is y


def test_attributes_survive_while_only_cpp_holds_the_tensor():
    x = fl.ones(2, requires_grad=True)
    (x * 3).sum().backward()
    x.grad.tag = "kept"
    gc.collect()
    assert x.grad.tag == "kept"


def test_subclass_survives_while_only_cpp_holds_it():
    x = fl.ones(2, requires_grad=True)
    x.grad = nn.Parameter(fl.full((2,), 5.0))
    gc.collect()
    assert type(x.grad) is nn.Parameter
    assert x.grad.tolist() == [5.0, 5.0]


def test_parameter_held_by_the_tape_alone_gets_its_gradient_and_keeps_its_tag():
    p = nn.Parameter(fl.tensor([3.0]))
    p.tag = 1
    seen = []
    p.register_hook(lambda g: seen.append(g.item()))
    ref = weakref.ref(p)
    loss = tape_holds(p)
    del p
    gc.collect()
    assert ref() is not None and ref().tag == 1
    loss.backward()
    assert seen == [6.0]
    assert ref().grad.tolist() == [6.0]
    del loss
    gc.collect()
    assert ref() is None


def test_object_taken_from_a_weak_reference_outlives_the_tape():
    p = nn.Parameter(fl.tensor([3.0]))
    p.tag = "here"
    ref, loss = weakref.ref(p), None
    loss = tape_holds(p)
    del p
    again = ref()
    del loss
    gc.collect()
    assert again.tag == "here" and again.tolist() == [3.0]
    assert (again * 2).tolist() == [6.0]


def test_cycles_are_collected():
    p = nn.Parameter(fl.ones(3))
    p.me = p
    ref = weakref.ref(p)
    del p
    gc.collect()
    assert ref() is None


def test_a_hook_that_refers_to_its_own_leaf_is_collected():
    p = nn.Parameter(fl.ones(3))
    p.register_hook(lambda g: p.shape and None)
    ref = weakref.ref(p)
    del p
    gc.collect()
    assert ref() is None


def test_a_cycle_whose_tensor_cpp_holds_is_not_taken_apart():
    class Owner:
        pass

    p, owner = nn.Parameter(fl.ones(2)), Owner()
    p.owner, owner.p, owner.name = owner, p, "alive"
    loss = tape_holds(p)
    ref = weakref.ref(p)
    del p, owner
    gc.collect()
    assert ref().owner.name == "alive"
    del loss
    gc.collect()
    assert ref() is None


def test_del_and_slots_of_subclasses():
    gone = []

    class Noted(fl.Tensor):
        __slots__ = ("note",)

        def __del__(self):
            gone.append(self.note)

    t = fl._C._make_subclass(Noted, fl.ones(1), False)
    t.note = "n"
    del t
    assert gone == ["n"]


def test_threads_wrap_and_drop_the_same_tensors():
    x = fl.ones(4, requires_grad=True)
    (x * 2).sum().backward()
    x.grad.tag = 0
    failures = []

    def work():
        for _ in range(2000):
            g = x.grad
            if g.tag != 0 or g.shape != (4,):
                failures.append(g)
            del g

    threads = [threading.Thread(target=work) for _ in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert not failures


def test_hash_is_by_identity_and_equality_elementwise():
    a, b = fl.ones(2), fl.ones(2)
    assert len({a, b, a}) == 2
    assert (a == b).tolist() == [True, True]
    assert a != None  # noqa: E711


def test_deepcopy_and_pickle_keep_class_values_and_attributes():
    p = nn.Parameter(fl.tensor([1.5, -2.0]))
    p.tag = [1]
    for q in (copy.deepcopy(p), pickle.loads(pickle.dumps(p))):
        assert type(q) is nn.Parameter and q.requires_grad and q.tolist() == [1.5, -2.0]
        assert q.tag == [1] and q.data_ptr() != p.data_ptr()
    half = fl.tensor([1.0, -2.5], dtype=fl.bfloat16)
    assert pickle.loads(pickle.dumps(half)).tolist() == [1.0, -2.5]


def test_a_loop_holds_memory_flat():
    import resource

    x = fl.ones(16)
    for _ in range(20000):
        y = x + x
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    for _ in range(100000):
        y = x + x
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 2048
    assert y.sum().item() == 32


def test_a_shallow_copy_has_the_same_memory():
    p = nn.Parameter(fl.tensor([1.5, -2.0]))
    p.tag = [1]
    q = copy.copy(p)
    assert type(q) is nn.Parameter and q is not p and q.tag is p.tag and q.data_ptr() == p.data_ptr() and q.requires_grad
    with pytest.raises(RuntimeError, match="only leaves"):
        copy.copy(p * 2)


def test_tensors_of_one_memory_share_a_memory_in_a_deep_copy():
    x = fl.arange(6.0)
    held = {"x": x, "tail": x[4:], "turned": x.reshape(2, 3).t(), "parameter": nn.Parameter(x[:2]), "wide": x[1:2].expand(3)}
    copied = copy.deepcopy(held)
    for name, t in held.items():
        assert copied[name].tolist() == t.tolist() and copied[name].stride() == t.stride() and not copied[name]._shares_memory(t)
    with fl.no_grad():
        copied["parameter"].fill_(9.0)
        copied["tail"].fill_(7.0)
    assert copied["x"].tolist() == [9, 9, 2, 3, 7, 7] and copied["turned"].tolist() == [[9, 3], [9, 7], [2, 7]]
    assert copied["wide"].tolist() == [9, 9, 9] and x.tolist() == [0, 1, 2, 3, 4, 5]
    copied["parameter"].sum().backward()
    assert copied["parameter"].grad.tolist() == [1, 1] and copied["parameter"].is_leaf
    assert copy.deepcopy(x)._shares_memory(copied["x"]) is False and copy.deepcopy(fl.zeros(0, 3)).shape == (0, 3)
