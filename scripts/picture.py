"""Draws docs/freshness.svg: freshness against budget, recrawl beside uniform visits, in the simulator.

The world is the demo's small town, thirty days of it, for three seeds. Run it with `make docs`.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from recrawl.app.demo import START_AT
from recrawl.evaluate.plain import plain_score
from recrawl.evaluate.uniform import uniform_visits
from recrawl.learn.predictors.gamma import GammaFilter
from recrawl.live.virtual import VirtualClock
from recrawl.livingweb import LivingWeb, town
from recrawl.loop import Loop
from recrawl.model import NewResource
from recrawl.remember.memory import MemoryStore
from recrawl.schedule.goals import Fresh
from recrawl.schedule.policies.index import Index
from recrawl.simulate.run import simulate
from recrawl.simulate.worlds import TraceWorld
from recrawl.urls import host_key

DAYS = 30.0
DAY_S = 86_400.0
END_AT = START_AT + DAYS * DAY_S
BUDGETS = (20.0, 30.0, 50.0, 75.0, 110.0, 160.0, 240.0, 360.0)
SEEDS = (1, 2, 3)
WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM = 720, 380, 70, 150, 30, 60


def town_world(seed: int) -> TraceWorld:
    web = LivingWeb(town(200, seed), clock=VirtualClock(START_AT), seed=seed, port=80)
    truth = web.truth(START_AT, END_AT)
    return TraceWorld(
        [NewResource(url=url, host=host_key(url)) for url in web.urls()],
        [truth.changed_at[url] for url in web.urls()],
    )


def freshness(world: TraceWorld, per_day: float, seed: int) -> tuple[float, float]:
    """Ours, and that of uniform visits of the same number."""
    loop = Loop(
        store=MemoryStore(),
        predictor=GammaFilter(),
        policy=Index(Fresh()),
        rule="index:fresh",
        per_day=per_day,
        reprice_every_s=DAY_S / 4,
    )
    seen = simulate(loop, world, start_at=START_AT, end_at=END_AT)
    even = uniform_visits(
        len(world.resources), len(seen), start_at=START_AT, end_at=END_AT, rng=np.random.default_rng(seed)
    )
    return (
        plain_score(world.events, seen.id, seen.at, start_at=START_AT, end_at=END_AT).freshness,
        plain_score(world.events, *even, start_at=START_AT, end_at=END_AT).freshness,
    )


def drawing(ours: list[float], uniform: list[float]) -> str:
    low, high = 0.5, 0.95
    logs = np.log(BUDGETS)

    def x(budget: float) -> float:
        return LEFT + (WIDTH - LEFT - RIGHT) * float((np.log(budget) - logs[0]) / (logs[-1] - logs[0]))

    def y(value: float) -> float:
        return HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * (value - low) / (high - low)

    def line(values: list[float], colour: str, name: str) -> str:
        points = " ".join(f"{x(b):.1f},{y(v):.1f}" for b, v in zip(BUDGETS, values, strict=True))
        dots = "".join(
            f'<circle cx="{x(b):.1f}" cy="{y(v):.1f}" r="3.5" fill="{colour}"/>'
            for b, v in zip(BUDGETS, values, strict=True)
        )
        label = (
            f'<text x="{x(BUDGETS[-1]) + 12:.1f}" y="{y(values[-1]) + 5:.1f}" fill="{colour}">{name}</text>'
        )
        return f'<polyline points="{points}" fill="none" stroke="{colour}" stroke-width="2.5"/>{dots}{label}'

    rows = "".join(
        f'<line x1="{LEFT}" y1="{y(v):.1f}" x2="{WIDTH - RIGHT}" y2="{y(v):.1f}" stroke="#8884"/>'
        f'<text x="{LEFT - 10}" y="{y(v) + 5:.1f}" text-anchor="end">{100 * v:.0f} %</text>'
        for v in np.arange(low, high + 0.01, 0.1)
    )
    columns = "".join(
        f'<text x="{x(b):.1f}" y="{HEIGHT - BOTTOM + 22}" text-anchor="middle">{b:.0f}</text>'
        for b in BUDGETS
    )
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" font-family="sans-serif" '
        'font-size="14" fill="#777"><title>Freshness against budget</title>'
        f"{rows}{columns}{line(uniform, '#b0772b', 'uniform')}{line(ours, '#2f6fb0', 'recrawl')}"
        f'<text x="{LEFT}" y="18">copies equal to the live thing, 200 resources</text>'
        f'<text x="{LEFT + (WIDTH - LEFT - RIGHT) / 2:.0f}" y="{HEIGHT - 12}" text-anchor="middle">'
        "visits a day</text>"
        "</svg>\n"
    )


def main() -> None:
    worlds = {seed: town_world(seed) for seed in SEEDS}
    pairs = [
        np.mean([freshness(worlds[seed], per_day, seed) for seed in SEEDS], axis=0) for per_day in BUDGETS
    ]
    for per_day, (ours, uniform) in zip(BUDGETS, pairs, strict=True):
        print(f"{per_day:5.0f} visits a day: recrawl {ours:.3f}, uniform {uniform:.3f}")
    svg = drawing([float(p[0]) for p in pairs], [float(p[1]) for p in pairs])
    (Path(__file__).parents[1] / "docs" / "freshness.svg").write_text(svg, encoding="utf-8")


if __name__ == "__main__":
    main()
