"""Where messages go. All of it is secret: most such addresses carry a key."""

from __future__ import annotations

from dataclasses import dataclass, field

from yarl import URL

from recrawl.errors import BadSettingError, ConflictError
from recrawl.notify.signing import key_of

MOST_CHARS = 4_000
_REMEDY = "write it as https://example.org/hook, or as Apprise has it: mailto://…, slack://…, discord://…"


@dataclass(frozen=True, slots=True, kw_only=True)
class Recipient:
    url: str = field(repr=False)
    secret: str = field(default="", repr=False)  # to sign webhooks with; empty: they are not
    allow_private: bool = False

    @property
    def scheme(self) -> str:
        return self.url.partition("://")[0].lower()

    @property
    def webhook(self) -> bool:
        """Whether it is sent as JSON by ourselves; everything else is Apprise's."""
        return self.scheme in ("http", "https")

    @property
    def shown(self) -> str:
        """As much of it as may be seen: of services even what looks like a host may be a key.

        >>> Recipient(url="https://ada:secret@hooks.example/t0ken").shown, Recipient(url="tgram://t0ken/1").shown
        ('webhook to hooks.example', 'tgram')
        """
        return f"webhook to {URL(self.url).host}" if self.webhook else self.scheme


def checked(recipient: Recipient) -> Recipient:
    """The recipient itself, or an error that quotes nothing of it."""
    url = recipient.url
    named = "://" in url and recipient.scheme.isascii() and recipient.scheme.isalnum()
    if not named or not url.isprintable() or " " in url or len(url) > MOST_CHARS:
        raise BadSettingError(f"This is no address that messages can be sent to; {_REMEDY}.")
    if recipient.webhook:
        try:
            host = URL(url).host
        except ValueError:
            host = None
        if not host:
            raise BadSettingError(f"This is no address of a webhook; {_REMEDY}.")
    if recipient.secret:
        if not recipient.webhook:
            raise ConflictError("Only webhooks are signed; leave out --sign for a service.")
        key_of(recipient.secret)
    return recipient
