"""With FUSELET_TEST_DEVICE=cuda, every test runs with that default device; a test that cannot hold there says so with
`@pytest.mark.host_only("reason")` and is skipped."""

import os

import pytest

DEVICE = os.getenv("FUSELET_TEST_DEVICE", "cpu")


def pytest_configure(config):
    config.addinivalue_line("markers", "host_only(reason): holds in host memory alone")


@pytest.fixture(autouse=True)
def default_device(request):
    import fuselet as fl

    if DEVICE == "cpu":
        yield
        return
    only = request.node.get_closest_marker("host_only")
    if only:
        pytest.skip(f"host memory only: {only.args[0]}")
    with fl.device(DEVICE):
        yield
