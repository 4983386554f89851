"""The paper's findings, checked against figures that agree with them and figures that do not."""

from __future__ import annotations

from math import nan

from recrawl.evaluate.bands import ALL, BANDS
from recrawl.evaluate.findings import FAST, SLOW, STRATEGIES, Caught, findings
from recrawl.evaluate.report.figures import Finding

# recall and precision as the paper describes them
PAPER = {
    "fix": (0.50, 0.40),
    "dyn": (0.51, 0.39),
    "window": (0.30, 0.60),
    "state-1": (0.55, 0.35),
    "state-2": (0.56, 0.34),
    "gold": (0.53, 0.38),
    "week": (0.80, 0.10),
}


def caught(recall: float, precision: float, *, resources: int = 50, late: float = 0.5) -> Caught:
    return Caught(resources=resources, changes=900, recall=recall, precision=precision, early=0.4, late=late)


def results(**other: Caught) -> dict[tuple[str, str], Caught]:
    """All bands as in the paper, but for strategies that are given (with _ for -)."""
    rows = {name: caught(*figures) for name, figures in PAPER.items()}
    rows |= {name.replace("_", "-"): row for name, row in other.items()}
    return {(band, name): rows[name] for band in (ALL, *(b.name for b in BANDS)) for name in STRATEGIES}


def claimed(found: list[Finding], words: str) -> Finding:
    (one,) = [finding for finding in found if words in finding.claim]
    return one


def test_figures_like_the_papers_agree_with_it() -> None:
    rows = results()
    rows[SLOW, "window"] = caught(0.52, 0.37)  # close to gold, on slow documents
    for name in ("fix", "dyn", "state-1", "state-2"):
        rows[SLOW, name] = caught(0.7, 0.2)
    found = findings(rows)
    assert len(found) == 8
    assert [finding.holds for finding in found] == [True] * 8, found


def test_each_finding_fails_on_figures_that_contradict_it() -> None:
    contradictions = {
        "Over all resources, week": results(fix=caught(0.9, 0.4)),
        "less often than weekly": results(dyn=caught(0.5, 0.05)),
        "window trades recall": results(state_1=caught(0.2, 0.35)),
        "less precision than fix and dyn": results(fix=caught(0.58, 0.4)),
        "improves over time": results(fix=caught(0.5, 0.4, late=0.3)),
        "every 2 to 7 days": results(state_2=caught(0.56, 0.2)),
        "window is close to gold": results(window=caught(0.3, 0.6)),
        "less precision than gold": results(fix=caught(0.1, 0.1)),
    }
    for words, rows in contradictions.items():
        finding = claimed(findings(rows), words)
        assert finding.holds is False, finding


def test_gold_takes_no_part_in_comparisons_since_it_knows_the_future() -> None:
    found = findings(results(gold=caught(0.99, 0.01)))
    assert claimed(found, "Over all resources, week").holds is True


def test_a_band_with_few_resources_leaves_its_findings_open() -> None:
    rows = results()
    for name in STRATEGIES:
        rows[FAST, name] = caught(0.5, 0.5, resources=4)
        del rows[SLOW, name]
    found = findings(rows)
    for words in ("every 2 to 7 days", "window is close to gold", "less precision than gold"):
        finding = claimed(found, words)
        assert finding.holds is None
        assert "Fewer than 5 resources" in finding.sentence


def test_precision_over_time_is_open_where_a_third_has_no_visits() -> None:
    assert claimed(findings(results(dyn=caught(0.5, 0.4, late=nan))), "improves").holds is None


def test_sentences_give_the_figures() -> None:
    finding = claimed(findings(results()), "Over all resources, week")
    assert "week 0.800" in finding.sentence
    assert "recall 0.800 and precision 0.100" in finding.sentence
