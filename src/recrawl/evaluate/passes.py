"""The passes that policies make over a corpus: the rules first, then those with a price.

What the rules made, or a budget, says how many visits the policies with a price may make in each draw. Their
prices are found on a sample that fits in memory (on everything, if everything fits), and then they go over
all pieces too. Where the sample misled, the price is found anew.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from recrawl.corpora.opened import Histories
from recrawl.evaluate.ask import Ask
from recrawl.evaluate.contenders import Contender, contender
from recrawl.evaluate.measures import measure
from recrawl.evaluate.pieces import Piece, Population, Tell, each, pieces
from recrawl.evaluate.possible import Possible, mean_possible, possible
from recrawl.evaluate.ranking import ranking
from recrawl.evaluate.sample import every, together
from recrawl.evaluate.sums import N_SLICES, Sums
from recrawl.model import Floats

NEAR = 0.01  # of the visits asked for: so near must those made be
_N_TRIES = 4
Ranked = tuple[float, float]  # ChangeRate and NDCG@k


class Passes:
    """What policies made so far, by name and draw."""

    def __init__(self, corpus: Histories, ask: Ask, tell: Tell) -> None:
        self.corpus, self.ask, self.tell = corpus, ask, tell
        self.made: dict[str, list[Sums]] = {}
        self.ranked: dict[str, list[Ranked]] = {}
        self.contenders = {
            name: contender(
                name, goal=ask.goal, predictor=ask.predictor, min_gap_s=ask.min_gap_s, max_gap_s=ask.max_gap_s
            )
            for name in ask.policies
        }
        self._kept: Piece | None = None  # where one piece holds all, it is read once
        self.sample: Piece | None = None
        self.n_population = np.zeros(ask.n_draws, dtype=np.int64)

    def rules(self) -> None:
        """The first pass. The sample is taken on the way."""
        rules = {name: one for name, one in self.contenders.items() if not one.priced}
        parts: list[Piece] = []
        step = -(-len(self.corpus) // self.ask.n_at_once)
        first_row = 0
        for piece in self._pieces():
            parts.append(every(piece, step, first_row))
            first_row += len(piece.traces)
            self.n_population += [len(window.rows) for window in piece.windows]
            self._add(piece, [(name, one, None) for name, one in rules.items()], "rules")
        self.sample = together(parts) if parts else None

    def priced(self, n_visits: Sequence[int]) -> None:
        """The other passes: one, as a rule."""
        priced = {name: one for name, one in self.contenders.items() if one.priced}
        wanted = {name: np.asarray(n_visits, dtype=np.float64) for name in priced}
        for _ in range(_N_TRIES):
            prices = {name: self._prices(priced[name], wanted[name]) for name in wanted}
            for name in wanted:
                self.made.pop(name, None)
                self.ranked.pop(name, None)
            for piece in self._pieces():
                self._add(piece, [(name, priced[name], prices[name]) for name in wanted], "priced")
            if self._kept is not None:
                return  # the price was found on all of it
            off = {
                name: np.array([sums.n_visits for sums in self.made[name]]) / np.maximum(n_visits, 1)
                for name in wanted
            }
            wanted = {
                name: wanted[name] / np.maximum(off[name], 0.1)
                for name in wanted
                if (abs(off[name] - 1.0) > NEAR).any()
            }
            if not wanted:
                return

    def limits(self, name: str) -> Possible:
        """Of a policy's own visits, on the sample."""

        def of(draw: int) -> Possible:
            some, share = self._sampled(draw)
            n_visits = round(self.made[name][draw].n_visits * share)
            return possible(some, n_visits, self.ask.min_gap_s, self.ask.max_gap_s)

        return mean_possible(list(each(of, self.ask.n_draws, self.ask.n_cores)))

    def _prices(self, one: Contender, n_visits: Floats) -> list[float]:
        def price(draw: int) -> float:
            some, share = self._sampled(draw)
            wanted = max(1, round(n_visits[draw] * share))
            return one.price(some.traces, some.window, wanted) if len(some.traces) else 1.0

        found = []
        for draw, each_price in enumerate(each(price, self.ask.n_draws, self.ask.n_cores)):
            found.append(each_price)
            self.tell((draw + 1) / self.ask.n_draws, f"the price of {one.name}")
        return found

    def _sampled(self, draw: int) -> tuple[Population, float]:
        """The sample's population, and the share of everyone's that it is."""
        assert self.sample is not None  # noqa: S101 - the first pass took it
        some = self.sample.population(draw)
        return some, len(some.traces) / max(int(self.n_population[draw]), 1)

    def _pieces(self) -> Iterator[Piece]:
        if self._kept is not None:
            yield self._kept
            return
        for piece in pieces(self.corpus, self.ask):
            if len(self.corpus) <= self.ask.n_at_once:
                self._kept = piece
            yield piece

    def _add(
        self, piece: Piece, who: Sequence[tuple[str, Contender, Sequence[float] | None]], what: str
    ) -> None:
        alone = self.ask.n_draws == 1  # then the policies share the cores, else the draws do

        def replay(draw: int) -> dict[str, tuple[Sums, Ranked | None]]:
            some = piece.population(draw)

            def sums(i: int) -> tuple[Sums, Ranked | None]:
                _, one, prices = who[i]
                price = None if prices is None else prices[draw]
                visits = one.visits(some.traces, some.window, price=price)
                measured = measure(some.traces, visits, some.window, n_bins=N_SLICES)
                ranked = None
                if self.ask.rank is not None:
                    found = ranking(some.traces, visits, some.window, k=self.ask.rank)
                    ranked = found.change_rate, found.ndcg_mean
                return Sums.of(measured, some.group, piece.n_groups), ranked

            made = each(sums, len(who), self.ask.n_cores if alone else 1)
            return {name: one for (name, _, _), one in zip(who, made, strict=True)}

        for draw, done in enumerate(each(replay, self.ask.n_draws, self.ask.n_cores)):
            for name, (sums, ranked) in done.items():
                if ranked is not None:
                    self.ranked.setdefault(name, []).append(ranked)
                held = self.made.setdefault(name, [])
                if draw < len(held):
                    held[draw] = held[draw].plus(sums)
                else:
                    held.append(sums)
            share = (draw + 1) / self.ask.n_draws * len(piece.traces) / max(len(self.corpus), 1)
            self.tell(piece.share + share, f"{what}: draw {draw + 1} of {self.ask.n_draws}")
