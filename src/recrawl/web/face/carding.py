"""The report card on pages: shares in percent there, as everywhere on pages."""

from __future__ import annotations

from recrawl.evaluate.card import words as card_words
from recrawl.evaluate.card.figures import Card
from recrawl.schedule.reason import percent

_MEASURES = {"fresh": "freshness", "fresh-harmonic": "freshness", "capture": "recall"}


def words(card: Card) -> list[tuple[str, str]]:
    """The card in lines, each with its name."""
    own = {"forecasts": foretold, "against": compared}
    return [(name, own[name](card) if name in own else text) for name, text in card_words.words(card)]


def compared(card: Card) -> str:
    """How it went, beside uniform visits and the best there could be."""
    goal = card.rule.partition(":")[2]
    if not card.rivals or goal == "prompt":  # no share in it
        return card_words.compared(card)
    name = _MEASURES.get(goal, "freshness")
    ours, even, best = (percent(getattr(rival, name)) for rival in card.rivals)
    return f"{name} {ours}; uniform visits {even}, the best that known rates allow {best}"


def foretold(card: Card) -> str:
    """Whether forecasts came true."""
    good = card.calibration
    if good is None:
        return card_words.foretold(card)
    return (
        f"{card_words.verdict(good)}: {percent(good.forecast)} said, {percent(good.happened)} "
        f"({percent(good.least)} to {percent(good.most)}) happened; {percent(good.error)} off in the mean; "
        f"Brier {good.brier:.3f} ({good.brier_of_share:.3f} by the share alone), log-loss {good.log_loss:.3f}"
    )
