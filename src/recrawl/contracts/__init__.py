"""The plug points. Most have a conformance suite in `recrawl.checks`; built-ins pass it like any other."""

from recrawl.contracts.keeping import Archive, Store
from recrawl.contracts.learning import (
    Accountable,
    Alert,
    Clocked,
    Composed,
    Divisible,
    Forecasts,
    Forgetting,
    Goal,
    Heir,
    Learner,
    Policy,
    Predictor,
    Quote,
    Shared,
    UsualForecasts,
)
from recrawl.contracts.looking import Clock, Detector, Fetcher, Gates, Handler, Premises

__all__ = [
    "Accountable",
    "Alert",
    "Archive",
    "Clock",
    "Clocked",
    "Composed",
    "Detector",
    "Divisible",
    "Fetcher",
    "Forecasts",
    "Forgetting",
    "Gates",
    "Goal",
    "Handler",
    "Heir",
    "Learner",
    "Policy",
    "Predictor",
    "Premises",
    "Quote",
    "Shared",
    "Store",
    "UsualForecasts",
]
