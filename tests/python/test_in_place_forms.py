"""In-place forms that the operator table does not give: what is written, into what, and gradients."""

import pytest

import fuselet as fl


def test_comparisons_write_their_truth():
    x = fl.tensor([1.0, 2.0, 3.0])
    same = x
    assert x.eq_(2) is same and same.tolist() == [0, 1, 0] and same.dtype is fl.float32
    for name, want in (("ne_", [1, 0, 1]), ("lt_", [1, 0, 0]), ("le_", [1, 1, 0]), ("gt_", [0, 0, 1]), ("ge_", [0, 1, 1]), ("less_", [1, 0, 0]),
                       ("less_equal_", [1, 1, 0]), ("greater_", [0, 0, 1]), ("greater_equal_", [0, 1, 1]), ("not_equal_", [1, 0, 1])):
        assert getattr(fl.tensor([1, 2, 3]), name)(fl.tensor([2, 2, 2])).tolist() == want
    a, b = fl.tensor([True, True, False]), fl.tensor([True, False, False])
    for name, want in (("logical_and_", [1, 0, 0]), ("logical_or_", [1, 1, 0]), ("logical_xor_", [0, 1, 0])):
        assert getattr(a.clone(), name)(b).tolist() == want
    assert a.logical_not_().tolist() == [False, False, True] and fl.tensor([0.0, 5.0]).logical_not_().tolist() == [1, 0]


def test_products_and_functions():
    m, v = fl.tensor([[1.0, 2.0], [3.0, 4.0]]), fl.tensor([1.0, -1.0])
    assert m.clone().addmm_(m, m, beta=2, alpha=1).tolist() == [[9, 14], [21, 30]]
    assert v.clone().addmv_(m, v).tolist() == [0, -2] and m.clone().addr_(v, v).tolist() == [[2, 1], [2, 5]]
    assert m.clone().addbmm_(m.view(1, 2, 2), m.view(1, 2, 2)).tolist() == [[8, 12], [18, 26]]
    assert m.view(1, 2, 2).clone().baddbmm_(m.view(1, 2, 2), m.view(1, 2, 2)).tolist() == [[[8, 12], [18, 26]]]
    assert fl.tensor([180.0]).deg2rad_().item() == pytest.approx(3.14159265, rel=1e-6)
    assert fl.tensor([-2.0, 0.0]).heaviside_(fl.tensor(0.5)).tolist() == [0, 0.5]
    assert fl.tensor([2.0], dtype=fl.float64).float_power_(3).tolist() == [8] and fl.tensor([-3.0]).sgn_().tolist() == [-1]
    assert fl.tensor([1.0, 5.0]).index_reduce_(0, fl.tensor([1]), fl.tensor([2.0]), "amax").tolist() == [1, 5]


def test_diagonals():
    assert fl.zeros(2, 3).fill_diagonal_(5).tolist() == [[5, 0, 0], [0, 5, 0]]
    assert fl.zeros(5, 2).fill_diagonal_(1)[:, 0].tolist() == [1, 0, 0, 0, 0]
    assert fl.zeros(5, 2).fill_diagonal_(1, wrap=True).tolist() == [[1, 0], [0, 1], [0, 0], [1, 0], [0, 1]]
    cube = fl.zeros(3, 3, 3).fill_diagonal_(2)
    assert cube.sum().item() == 6 and all(cube[i, i, i].item() == 2 for i in range(3))
    x = fl.ones(2, 2, requires_grad=True)
    (x * 3).fill_diagonal_(0).sum().backward()
    assert x.grad.tolist() == [[0, 3], [3, 0]]
    with pytest.raises(RuntimeError, match="dimensions of one size"):
        fl.zeros(2, 3, 2).fill_diagonal_(1)


def test_other_shapes_over_the_same_memory():
    x = fl.arange(6).view(1, 2, 3)
    base = x
    assert x.squeeze_() is base and x.shape == (2, 3) and x.unsqueeze_(2).shape == (2, 3, 1)
    assert x.squeeze_(2).transpose_(0, 1).tolist() == [[0, 3], [1, 4], [2, 5]]
    assert x.t_().tolist() == [[0, 1, 2], [3, 4, 5]] and x.swapaxes_(0, 1).swapdims_(0, 1).shape == (2, 3)
    whole = fl.zeros(4)
    part = whole[:2]
    part.unsqueeze_(0).fill_(7)
    assert whole.tolist() == [7, 7, 0, 0]
    for name in ("squeeze_", "t_", "unsqueeze_", "transpose_", "swapaxes_", "swapdims_"):
        leaf = fl.ones(1, 2, requires_grad=True)
        arguments = {"squeeze_": (), "t_": (), "unsqueeze_": (0,)}.get(name, (0, 1))
        with pytest.raises(RuntimeError, match=f"{name}: self requires grad"):
            getattr(leaf, name)(*arguments)
        with fl.no_grad(), pytest.raises(RuntimeError, match=f"{name}: self requires grad"):
            getattr(leaf, name)(*arguments)
        assert leaf.shape == (1, 2)


def test_gradients_and_compiled():
    x, m = fl.tensor([0.5, -0.5], requires_grad=True), fl.tensor([[1.0, 2.0], [3.0, 4.0]])
    y = x * 1
    y.sinc_().sum().backward()
    want = x.detach().requires_grad_()
    want.sinc().sum().backward()
    assert fl.allclose(x.grad, want.grad)
    z = x * 2
    z.gt_(0)
    assert fl.autograd.grad(z.sum(), x, allow_unused=True)[0].tolist() == [0, 0]
    got = fl.compile(lambda m: m.clone().addmm_(m, m).ge_(10.0).fill_diagonal_(3))(m)
    assert got.tolist() == [[3, 1], [1, 3]]


def test_wrong_use():
    with pytest.raises(RuntimeError, match="eq_: the result of shape"):
        fl.ones(1).eq_(fl.ones(3))
    with pytest.raises(RuntimeError, match="float_power_: the result is"):
        fl.tensor([1]).float_power_(2.0)
