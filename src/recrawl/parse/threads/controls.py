"""Words beside posts that nobody has said: buttons, counters, what a member is and has."""

from __future__ import annotations

import re

_MOST_NAME = 40
_WORDS = re.compile(r"[^\W\d_]+")
# What links and buttons say that do something with a post.
_CONTROLS = frozenset(
    _WORDS.findall(
        """
        reply replies quote report like likes liked share permalink link edit delete flag up down parent next
        prev previous hide show more upvote downvote vote votes points point thanks thank top back multiquote
        collapse expand root context save favorite copy print embed source antworten zitieren zitat melden
        teilen gefällt mir bearbeiten répondre citer signaler aimer partager responder citar denunciar
        compartir rispondi cita segnala condividi beantwoorden citeren svara citera odpowiedz cytuj ответить
        цитировать
        """
    )
)
_COUNTED = frozenset(
    _WORDS.findall("point points like likes vote votes reply replies view views comments karma")
)
# What joins a name and a time.
_JOINING = frozenset(
    _WORDS.findall(
        """
        by on at from posted wrote writes said says commented answered asked replied post re von am um schrieb
        sagt sagte antwortete par le dit écrit escribió dijo por el ha scritto schreef skrev napisał написал
        """
    )
)
_LABELS = frozenset(
    re.findall(
        r"[^,\n]+",
        "posts,joined,location,messages,reputation,rank,views,likes,karma,beiträge,registriert,ort,inscription,"
        "mensajes,registrado,status,thanked,reaction score,trophy points",
    )
)


def control(text: str) -> bool:
    """Whether a link's text is nothing but what it does.

    >>> control("Reply"), control("[–]"), control("Ada")
    (True, True, False)
    """
    return all(word in _CONTROLS for word in _WORDS.findall(text.casefold()))


def idle(row: str) -> bool:
    """Whether a line is nothing that anybody said.

    >>> idle("3 points"), idle("Joined: Mar 2014"), idle("commented"), idle("Thanks!")
    (True, True, True, False)
    """
    if len(row) > 100:
        return False
    low = row.casefold()
    words = _WORDS.findall(low)
    label, colon, _ = low.partition(":")
    counter = any(c.isdigit() for c in row) and all(word in _COUNTED for word in words)
    joining = all(word in _JOINING for word in words)
    return counter or joining or (bool(colon) and label.strip() in _LABELS)


def speaker(text: str) -> str:
    """A name without what joins it to what was said.

    >>> speaker("Ada says:"), speaker("by Ada")
    ('Ada', 'Ada')
    """
    words = text.strip(" :,|·»").split()
    while len(words) > 1 and words[-1].casefold() in _JOINING:
        words.pop()
    while len(words) > 1 and words[0].casefold() in _JOINING:
        words.pop(0)
    return " ".join(words)[:_MOST_NAME]
