"""What is slow to make is made once."""

from __future__ import annotations

import pytest
from tests.replay.collection import Collection, written


@pytest.fixture(scope="session")
def collection(tmp_path_factory: pytest.TempPathFactory) -> Collection:
    return written(tmp_path_factory.mktemp("collection"))
