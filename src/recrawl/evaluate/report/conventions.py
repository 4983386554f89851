"""What every report says about how it measured."""

from __future__ import annotations

from recrawl.corpora.about import About
from recrawl.evaluate.ask import Ask
from recrawl.evaluate.measures import Score
from recrawl.model import DAY_S


def facts_of(about: About, ask: Ask, days: float, everyone: Score) -> list[tuple[str, str]]:
    return [
        ("Corpus", about.name),
        ("Resources", f"{everyone.resources:,}"),
        ("Changes", f"{everyone.changes:,}"),
        ("Window", f"{days:,.0f} days"),
        ("Gaps", f"{ask.min_gap_s / DAY_S:g} to {ask.max_gap_s / DAY_S:g} days"),
        ("Draws", f"{ask.n_draws}"),
        ("Seed", f"{ask.seed}"),
    ]


def protocol(grouped_by: str) -> list[str]:
    return [
        "Recall is the changes observed, by the changes that were there: a visit observes one change "
        "however many it finds. Precision is the changes observed, by the visits. Freshness is the "
        "share of time, over all resources, in which the copy held is the live thing.",
        "A window ends at a random moment in the last tenth of the corpus's time. It holds every "
        "resource that had a version before it began, changed in it or not. Each resource has a copy "
        "when the window begins, which is not counted, and is first visited up to a week later, at a "
        "random phase. Figures are means over the draws of windows and phases; counts are rounded.",
        "In brackets is the interval that holds a figure with 95 % confidence: draws and groups of "
        f"resources ({_GROUPS[grouped_by]}) are resampled.",
    ]


_GROUPS = {
    "host": "those of one host go together",
    "batch": "those that mostly change in the same moments go together",
    "resource": "each resource is its own: no hosts or moments group them well",
}
