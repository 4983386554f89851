"""The API does what its description says, whatever is sent."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from tests.web.conftest import Served

N_EXAMPLES = 12


def test_the_description_is_whole(year: Served) -> None:
    with year.client() as client:
        document = client.get("/api/v1/openapi.json").json()
    assert document["openapi"].startswith("3.1")
    for path, methods in document["paths"].items():
        for method, about in methods.items():
            assert about.get("summary"), (method, path)
            assert "401" in about["responses"], (method, path)
            assert "error" in str(document["components"]["schemas"]["Problem"])
    assert document["security"] == [{"token": []}]


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_nothing_that_is_sent_breaks_it(year_copy: Served) -> None:
    import schemathesis

    schema: Any = schemathesis.openapi.from_url(
        f"{year_copy.base}/api/v1/openapi.json", headers={"Authorization": f"Bearer {year_copy.token}"}
    )
    operations = [found.ok() for found in schema.get_all_operations()]
    assert len(operations) >= 20
    for operation in operations:

        @settings(
            max_examples=N_EXAMPLES,
            deadline=None,
            derandomize=True,
            database=None,
            phases=[Phase.explicit, Phase.generate],
            suppress_health_check=list(HealthCheck),
        )
        @given(case=operation.as_strategy())
        def holds(case: Any) -> None:
            case.call_and_validate(headers={"Authorization": f"Bearer {year_copy.token}"})

        holds()
