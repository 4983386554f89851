"""What is asked of the experiment."""

from __future__ import annotations

from dataclasses import dataclass

from recrawl.errors import BadSettingError
from recrawl.learn.threads.models import MODELS

_MOST_VISITS = 100.0  # per post


@dataclass(frozen=True, slots=True, kw_only=True)
class Ask:
    least: int = 100  # posts of a thread
    most: int = 1_000
    train: float = 0.75  # of a thread's posts
    budgets: tuple[float, ...] = (0.25, 0.5, 1.0, 2.0, 4.0, 8.0)  # visits per post
    seed: int = 1
    board: str | None = None  # None: all of them
    models: tuple[str, ...] = MODELS  # of the paper


def asked(
    *,
    posts: str,
    train: float,
    budgets: str,
    seed: int,
    board: str | None = None,
    models: str | None = None,
) -> Ask:
    """From words.

    >>> asked(posts="20-50", train=0.5, budgets="2,1", seed=3, models="mean,fixed")
    Ask(least=20, most=50, train=0.5, budgets=(1.0, 2.0), seed=3, board=None, models=('fixed', 'mean'))
    """
    least, _, most = posts.partition("-")
    if not (least.isdecimal() and most.isdecimal() and 8 <= int(least) <= int(most)):
        raise BadSettingError(f"--posts {posts} is no range of 8 posts or more; write it as 100-1000.")
    if not 0.25 <= train <= 0.9:
        raise BadSettingError(f"--train {train:g} leaves too little; choose a share from 0.25 to 0.9.")
    try:
        found = sorted({float(word) for word in budgets.split(",")})
    except ValueError:
        found = []
    if not found or not all(0.0 < one <= _MOST_VISITS for one in found):
        raise BadSettingError(f"--budgets {budgets} are no visits per post; write them as 0.5,1,2.")
    return Ask(
        least=int(least),
        most=int(most),
        train=train,
        budgets=tuple(found),
        seed=seed,
        board=board,
        models=MODELS if models is None else _named(models),
    )


def _named(words: str) -> tuple[str, ...]:
    """In the order of the tables."""
    wanted = words.split(",")
    unknown = [name for name in wanted if name not in MODELS]
    if unknown:
        raise BadSettingError(
            f"--models: there is none named {unknown[0]}; take some of {', '.join(MODELS)}."
        )
    if set(wanted) == {"fixed"}:
        raise BadSettingError("--models fixed predicts no gaps; name another one beside it, such as mean.")
    return tuple(name for name in MODELS if name in wanted)
