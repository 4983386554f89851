"""Names of tests are the same in every process, which is how workers agree on what each runs."""

from typing import Any

LONGEST = 60


def pytest_make_parametrize_id(val: Any, argname: str) -> str | None:
    """Long or unprintable values take the name of their argument: packed bytes hold a clock."""
    if not isinstance(val, str | bytes):
        return None
    text = val if isinstance(val, str) else val.decode("latin-1")
    return None if len(text) <= LONGEST and text.isprintable() else argname
