"""When things change: seeded processes that draw event times.

`events(start_at, end_at, rng)` gives one resource's sorted times in `(start_at, end_at]`; `draw` gives those
of many resources at once, as columns. Most processes are stationary: what lies in one window has the same
law whether or not the time before it was drawn, so a long life can be drawn window by window. Those that
begin with a birth, or draw something once per resource, say so: one call is a whole life of theirs.
"""

from recrawl.simulate.processes.bursts import Bred, Bursty
from recrawl.simulate.processes.clocks import Clocked, Daily, Periodic, Weekly, week_of, working_hours
from recrawl.simulate.processes.columns import Drawn, Law, Process, Rated
from recrawl.simulate.processes.lives import Ageing, Drifting, Dying, Switching
from recrawl.simulate.processes.steady import Given, Mixed, Never, Poisson

__all__ = [
    "Ageing",
    "Bred",
    "Bursty",
    "Clocked",
    "Daily",
    "Drawn",
    "Drifting",
    "Dying",
    "Given",
    "Law",
    "Mixed",
    "Never",
    "Periodic",
    "Poisson",
    "Process",
    "Rated",
    "Switching",
    "Weekly",
    "week_of",
    "working_hours",
]
