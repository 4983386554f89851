"""Parts of speech, coarsely: words of the closed classes are known, of common verbs and adjectives some are,
and the rest goes by its ending and by the word before it. Plain English prose comes out about nine times in
ten as a reader would have it; chat, code and names less often."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable

from recrawl.model import Bags

TAGS = (
    "noun",
    "verb",
    "adjective",
    "adverb",
    "pronoun",
    "determiner",
    "preposition",
    "conjunction",
    "auxiliary",
    "question",
    "number",
    "interjection",
)
_TOKEN = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)?|\d+(?:[.,]\d+)*")

_CLOSED = {
    "adverb": """
        again almost already also always away back even ever far here however indeed instead just later
        maybe much never not now often once only perhaps quite rather really seldom soon still then there
        today together tomorrow too usually very well yesterday yet
        """,
    "pronoun": """
        anybody anyone anything everybody everyone everything he her hers herself him himself i it itself me
        mine myself nobody nothing ours ourselves she somebody someone something theirs them themselves they
        us we you yours yourself
        """,
    "determiner": """
        a all an another any both each either every few his its many most my neither no our several some
        such that the their these this those your
        """,
    "preposition": """
        about above across after against along among around at before behind below beside between beyond by
        down during except for from in inside into near of off on onto out outside over past per through to
        toward towards under until up upon via with within without
        """,
    "conjunction": """
        although and because but if nor or since so than though unless whereas whether while
        """,
    "auxiliary": """
        ain't am are aren't be been being can can't cannot could couldn't did didn't do does doesn't don't
        had hadn't has hasn't have haven't having is isn't may might must ought shall should shouldn't was
        wasn't were weren't will won't would wouldn't
        """,
    "question": "how what when where which who whom whose why",
    "number": "eight eleven five four hundred million nine one seven six ten thousand three twelve two",
    "interjection": "ah hello hey hi hmm lol oh ok okay please sorry thanks wow yeah yep yes",
    "verb": """
        agree ask asked ate became become began begin believe bought break bring broke brought build built
        buy call came choose chose come cost drew eat fall feel fell felt find fix forget forgot found gave
        get give given go goes gone got grew guess happen hear heard held help hope keep kept knew know
        known learn leave left let like liked live look lost made make mean meant meet met move need paid
        pay put ran read run said sang saw say says see seem seen sell send sent show shown sit sold spoke
        stand start stood stop suggest take taken talk taught tell think thought threw told took tried tries
        try turn understand use wait want went wish won work write written wrote
        """,
    "adjective": """
        bad best better big black blue cheap clean cold cool dark different early easy empty fast fine first
        free full good great green hard heavy high hot huge large last late little long loud low new next
        nice old open other own poor quick quiet ready real red rich right round safe same second sharp
        short slow small soft strange strong sure sweet tall third true warm weak white whole wide worse
        worst wrong young
        """,
}
_KNOWN = {word: tag for tag, words in _CLOSED.items() for word in words.split()}
_ENDINGS = (
    ("adverb", ("ly",)),
    ("noun", ("tion", "sion", "ness", "ment", "ity", "ism", "ship", "ance", "ence", "hood", "ings")),
    ("verb", ("ing", "ized", "ised", "ize", "ise", "ify", "ed", "ate")),
    ("adjective", ("ous", "ful", "ive", "able", "ible", "less", "ish", "ical", "ic", "al", "est")),
)
_ADJECTIVAL = dict(_ENDINGS)["adjective"]
_NUMBER = {tag: i for i, tag in enumerate(TAGS)}


def tagged(texts: Iterable[str]) -> Bags:
    """A bag for each text: how many words it has of each part of speech, by its place in `TAGS`."""
    return Bags.of(Counter(_NUMBER[tag] for tag in tags(text)) for text in texts)


def tags(text: str) -> list[str]:
    """The part of speech of each word, in their order."""
    said: list[str] = []
    before = ""
    for word in _TOKEN.findall(text.lower().replace("’", "'")):
        tag = _KNOWN.get(word) or _open(word, before)
        if before in ("determiner", "adjective") and tag == "verb" and not word.endswith(("ing", "ed")):
            tag = "noun"  # the run, a good look
        said.append(tag)
        before = "infinitive" if word == "to" else tag
    return said


def _open(word: str, before: str) -> str:
    """A word of no closed class."""
    if word[0].isdigit():
        return "number"
    if "'" in word:  # they're, he'll; but the dog's
        pronoun = _KNOWN.get(word.split("'")[0]) == "pronoun"
        return "auxiliary" if word.endswith("n't") else "pronoun" if pronoun else "noun"
    if before in ("infinitive", "auxiliary", "pronoun") and not word.endswith("ly"):
        return "adjective" if before == "auxiliary" and word.endswith(_ADJECTIVAL) else "verb"
    if word.endswith("s") and not word.endswith("ss") and _KNOWN.get(word[:-1]) == "verb":
        return "verb" if before in ("noun", "pronoun") else "noun"
    for tag, endings in _ENDINGS:
        if len(word) > 5 and word.endswith(endings):
            return "noun" if before == "determiner" and tag == "verb" and word.endswith("ing") else tag
    return "noun"
