"""Three small forums, each in the markup of other software: some threads that hardly rest, some that hardly
wake, a board that lists them, and a feed of it."""

from __future__ import annotations

from recrawl.livingweb.kinds import Form, Markup, Noise, Validators
from recrawl.livingweb.script import Document, Host, Robots, Script
from recrawl.simulate.processes import Bursty, Daily, Poisson, Process

POSTS_PER_PAGE = 10
_HOUR_S = 3_600.0
_PATHS = {
    Markup.PHPBB: ("/", "/topic{n}.html"),
    Markup.XENFORO: ("/", "/threads/{n}/"),
    Markup.DISCOURSE: ("/latest.json", "/t/topic/{n}.json"),
}
_PACES: tuple[Process, ...] = (
    Bursty(6.0, 0.8, 2 * _HOUR_S),
    Poisson(3.0),
    Daily(19.0, jitter_s=2 * _HOUR_S),
    Bursty(0.5, 0.7, 6 * _HOUR_S),
    Poisson(0.05),
)


def forum() -> Script:
    """Views are counted on every page, and whoever is online is; now and then a post is edited or removed."""
    entries = []
    for markup, (board, thread) in _PATHS.items():
        host = f"{markup}.localhost"
        entries += [
            Document(
                host=host,
                path=thread.format(n=n),
                form=Form.THREAD,
                markup=markup,
                process=pace,
                edits=Poisson(0.3),
                removals=Poisson(0.1),
                posts_per_page=POSTS_PER_PAGE,
                noise=Noise.VISIBLE,
                validators=Validators.ETAG if n % 2 else Validators.NONE,
            )
            for n, pace in enumerate(_PACES, start=1)
        ]
        entries += [
            Document(host=host, path=board, form=Form.BOARD, markup=markup, noise=Noise.VISIBLE),
            Document(host=host, path="/atom.xml", form=Form.BOARD_FEED, markup=markup),
        ]
    described = (Host(name="phpbb.localhost", robots=Robots(disallow=("/search", "/private/"))),)
    return Script(tuple(entries), described=described)
