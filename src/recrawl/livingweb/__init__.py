"""A scriptable, living web on loopback whose truth is known."""

from recrawl.livingweb.forum import forum
from recrawl.livingweb.kinds import Disguise, Form, Markup, Noise, Query, Validators
from recrawl.livingweb.politeness import Violation, violations
from recrawl.livingweb.script import Document, Host, Redirect, Robots, Script, Trouble
from recrawl.livingweb.server import LivingWeb, Served, serve_forever, serving
from recrawl.livingweb.town import town
from recrawl.livingweb.world import Truth

__all__ = [
    "Disguise",
    "Document",
    "Form",
    "Host",
    "LivingWeb",
    "Markup",
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
    "forum",
    "serve_forever",
    "serving",
    "town",
    "violations",
]
