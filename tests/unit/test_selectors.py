from __future__ import annotations

import pytest

from recrawl.detect.selectors import Language, checked, read
from recrawl.errors import BadSettingError


@pytest.mark.parametrize(
    ("selector", "language", "expression"),
    [
        ("main > p", Language.CSS, "main > p"),
        ("a:hover", Language.CSS, "a:hover"),
        ("css:$", Language.CSS, "$"),
        ("//p", Language.XPATH, "//p"),
        ("./p", Language.XPATH, "./p"),
        ("(//p)[1]", Language.XPATH, "(//p)[1]"),
        ("xpath: count(//p)", Language.XPATH, "count(//p)"),
        ("$.a", Language.JSON, "$.a"),
        ("column:a:b", Language.COLUMN, "a:b"),
        ("field:updated", Language.FIELD, "updated"),
        ("predicate:<http://e.org/p>", Language.PREDICATE, "<http://e.org/p>"),
    ],
)
def test_a_selector_is_known_by_its_spelling(selector: str, language: Language, expression: str) -> None:
    assert (read(selector).language, read(selector).expression) == (language, expression)


@pytest.mark.parametrize(
    ("selector", "remedy"),
    [
        ("p[", "mend it"),
        ("p::before", "mend it"),
        ("p:is(b", "close it"),
        ("//p[", "mend it"),
        ("xpath:document('x')", "contains()"),
        ("//p[re:test(., 'x')]", "contains()"),
        ("//x:p", "local-name()"),
        ("//p[$n]", "local-name()"),
        ("id('x')", "mend it"),
        ("xpath:id('x')", "contains()"),
        ("", "--ignore .advert"),
        ("css:", "--ignore .advert"),
        ("p" * 1001, "--ignore .advert"),
        ("p\n", ""),
        ("p\x1bq", "leave them out"),
        ("predicate:p", "predicate:<http"),
        ("$.[", ""),
    ],
)
def test_a_selector_that_means_nothing_is_refused_with_the_remedy(selector: str, remedy: str) -> None:
    if selector == "p\n":
        assert checked(selector).expression == "p"  # white space around it is none of its own
        return
    with pytest.raises(BadSettingError) as problem:
        checked(selector)
    assert remedy in str(problem.value)


@pytest.mark.parametrize("selector", ["//a/@href", "xpath:count(//p)", "//p/text()[1]", "//a | //b/@x"])
def test_a_mere_value_cannot_be_ignored(selector: str) -> None:
    checked(selector)
    with pytest.raises(BadSettingError, match="choose the elements"):
        checked(selector, ignoring=True)
