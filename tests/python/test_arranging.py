"""Functions that rearrange, pick, sort and contract: beside NumPy, differentiated, compiled, on the device."""

import numpy as np
import pytest

import fuselet as fl
from arranging_cases import CASES, arrays
from cuda_marks import kernel_test

every_case = pytest.mark.parametrize("name", CASES)


@every_case
def test_values_are_numpys(name):
    function, expected, shapes = CASES[name]
    inputs = arrays(shapes)
    got, want = function(*map(fl.tensor, inputs)), expected(*inputs)
    assert tuple(got.shape) == np.shape(want)
    np.testing.assert_array_equal(got.numpy(), want)


@every_case
def test_gradients_are_difference_quotients(name):
    function, _, shapes = CASES[name]
    # Distinct elements, so that no order changes within a difference.
    rng = np.random.default_rng(1)
    inputs = [fl.tensor(rng.permutation(np.prod(s, dtype=int)).reshape(s) / 7.0 + rng.random()).requires_grad_() for s in shapes]
    if function(*inputs).requires_grad:
        fl.autograd.gradcheck(function, inputs)
    else:
        assert not function(*inputs).is_floating_point()


# Several functions a program: a compilation takes longer than all of them.
GROUPS = [list(CASES)[k::6] for k in range(6)]


@pytest.mark.parametrize("group", GROUPS, ids=lambda g: g[0])
def test_compiled_values_are_the_same(group):
    inputs = {name: [fl.tensor(a) for a in arrays(CASES[name][2])] for name in group}
    compiled = fl.compile(lambda given: [CASES[name][0](*given[name]) for name in group])
    for _ in range(2):
        for name, got in zip(group, compiled(inputs)):
            np.testing.assert_array_equal(got.numpy(), CASES[name][0](*inputs[name]).numpy(), err_msg=name)


@kernel_test
@every_case
def test_values_on_the_device(name):
    function, _, shapes = CASES[name]
    inputs = [fl.tensor(a) for a in arrays(shapes)]
    np.testing.assert_array_equal(function(*(x.cuda() for x in inputs)).cpu().numpy(), function(*inputs).numpy())


def test_views_share_memory():
    x = fl.zeros(3, 3)
    x.diagonal().copy_(fl.tensor([1.0, 2.0, 3.0]))
    x.T.diagonal(1).copy_(fl.tensor(5.0))
    assert x.tolist() == [[1, 0, 0], [5, 2, 0], [0, 5, 3]]
    first, second = x.split([1, 2])
    second.zero_()
    assert x.tolist() == [[1, 0, 0], [0, 0, 0], [0, 0, 0]] and first.tolist() == [[1, 0, 0]]


def test_shapes_that_do_not_fit_name_the_function():
    x = fl.zeros(2, 3)
    for call in (lambda: x.split([1, 2]), lambda: x.flip(0, 0), lambda: x.movedim((0, 0), (0, 1)), lambda: x.unfold(1, 4, 1),
                 lambda: x.unflatten(1, (2, -1)), lambda: fl.broadcast_tensors(x, fl.zeros(2)), lambda: fl.einsum("ij,jk", x, x),
                 lambda: fl.einsum("ij->ik", x), lambda: fl.einsum("i", x), lambda: x.topk(4), lambda: fl.tensordot(x, x, 1)):
        with pytest.raises(RuntimeError, match="split|flip|movedim|unfold|unflatten|broadcast|einsum|topk|tensordot"):
            call()


def test_triangle_indices_and_products():
    np.testing.assert_array_equal(fl.tril_indices(3, 4, -1).numpy(), np.stack(np.tril_indices(3, -1, 4)))
    np.testing.assert_array_equal(fl.triu_indices(3, 3).numpy(), np.stack(np.triu_indices(3)))
    assert fl.cartesian_prod(fl.tensor([1, 2]), fl.tensor([3, 4])).tolist() == [[1, 3], [1, 4], [2, 3], [2, 4]]
    assert fl.tensor([True, False]).diag().tolist() == [[True, False], [False, False]]
    assert fl.ones(2, 2, dtype=fl.bool).tril().dtype is fl.bool
    assert [tuple(t.shape) for t in (fl.atleast_1d(fl.tensor(1)), fl.atleast_2d(fl.ones(3)), fl.atleast_3d(fl.ones(3)))] == [
        (1,), (1, 3), (1, 3, 1)]
    assert fl.repeat_interleave(fl.tensor([2, 0, 3])).tolist() == [0, 0, 2, 2, 2]
    assert fl.tensor([[1, 2], [3, 4]]).repeat_interleave(fl.tensor([1, 2]), 0).tolist() == [[1, 2], [3, 4], [3, 4]]


def test_linalg_products_and_diagonals():
    x, y = fl.tensor([[1.0, 2.0, 3.0], [0.0, 1.0, 0.0]]), fl.tensor([4.0, 5.0, 6.0])
    assert fl.linalg.vecdot(x, y).tolist() == [32, 5] and fl.linalg.cross(x, y).tolist() == [[-3, 6, -3], [6, 0, -4]]
    assert fl.linalg.vander(y[:2], 3).tolist() == [[1, 4, 16], [1, 5, 25]]
    assert fl.linalg.diagonal(fl.arange(8).view(2, 2, 2)).tolist() == [[0, 3], [4, 7]]
    assert fl.linalg.multi_dot([y, x.T, x, y]).item() == 32**2 + 5**2
    with pytest.raises(RuntimeError, match="multi_dot"):
        fl.linalg.multi_dot([x])
