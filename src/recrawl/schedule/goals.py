"""What a visit is worth, for each goal.

With C(t) the expected penalty t after a visit, the worth of visiting is U(t) = t C(t) - integral of C
(Olston & Pandey 2008, equation 4). Each goal below is that formula for its own C.
"""

from __future__ import annotations

import numpy as np

from recrawl.contracts import Forecasts
from recrawl.model import Floats


class Fresh:
    """Copies equal to the live thing: C = 1 - S, the probability of being stale."""

    name = "fresh"

    def worth(self, forecasts: Forecasts, t_s: Floats) -> Floats:
        return forecasts.survival_integral(t_s) - t_s * forecasts.survival(t_s)


class FreshHarmonic:
    """Counts how many changes behind too: C = expected harmonic number of the changes missed.

    `t - integral of S` is exact where changes are Poisson given the rate, known or not.
    """

    name = "fresh-harmonic"

    def worth(self, forecasts: Forecasts, t_s: Floats) -> Floats:
        return t_s - forecasts.survival_integral(t_s)


class Capture:
    """Most changes caught per visit: maximises f (1 - S(1/f)) over the frequency f."""

    name = "capture"

    def worth(self, forecasts: Forecasts, t_s: Floats) -> Floats:
        return 1.0 - forecasts.survival(t_s) + t_s * forecasts.survival_slope(t_s)


class Prompt:
    """Least delay from each event to the visit that finds it: C = M, the changes waiting."""

    name = "prompt"

    def worth(self, forecasts: Forecasts, t_s: Floats) -> Floats:
        return np.asarray(t_s * forecasts.n_expected(t_s) - forecasts.n_expected_integral(t_s))
