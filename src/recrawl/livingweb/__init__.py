"""A scriptable, living web on loopback whose truth is known."""

from recrawl.livingweb.politeness import Violation, violations
from recrawl.livingweb.script import (
    Document,
    Form,
    Host,
    Noise,
    Query,
    Redirect,
    Robots,
    Script,
    Trouble,
    Validators,
)
from recrawl.livingweb.server import LivingWeb, Served, serve_forever, serving
from recrawl.livingweb.town import town
from recrawl.livingweb.world import Truth

__all__ = [
    "Document",
    "Form",
    "Host",
    "LivingWeb",
    "Noise",
    "Query",
    "Redirect",
    "Robots",
    "Script",
    "Served",
    "Trouble",
    "Truth",
    "Validators",
    "Violation",
    "serve_forever",
    "serving",
    "town",
    "violations",
]
