"""What is known of how long visits take, as columns: of visits, of hosts, and of what is due when."""

from __future__ import annotations

from dataclasses import dataclass

from recrawl.model.columns import Bools, Floats, Ints, _Columns


@dataclass(frozen=True, slots=True, kw_only=True)
class Took(_Columns):
    """Visits that were made here, in the order of their ends."""

    id: Ints  # the resource's
    group: Ints  # the host's number
    at: Floats  # when it ended
    due_at: Floats  # when it had been planned for; NaN: not known
    took_s: Floats
    troubled: Bools  # the host was in trouble: it did not answer, or with 429 or 5xx
    changed: Bools  # it found a change


@dataclass(frozen=True, slots=True, kw_only=True)
class Hosts:
    """Every host that was ever watched, a row each."""

    id: Ints
    name: tuple[str, ...]
    rest_s: Floats  # how long it was left alone after the last visit; NaN: never visited
    gate_at: Floats  # it is left alone until then; -inf: it never had a gate
    n_failures: Ints  # in a row: how often the host itself was in trouble


@dataclass(frozen=True, slots=True, kw_only=True)
class Planned(_Columns):
    """All that are not paused and have a plan, each host's in the order of their turns."""

    id: Ints
    group: Ints
    due_at: Floats
    n_failures: Ints  # in a row
    fresh: Bools  # visited before, and never found changed: its first change is often looked at twice
