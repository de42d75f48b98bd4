import pytest

from acme_automodel.components.models.sycamore.config import tiny_config


@pytest.fixture
def config():
    return tiny_config(name_or_path="sycamore-small")
