"""Signatures of webhooks, by which their receivers know that they are ours and new.

As Standard Webhooks has it: the id, the time of sending and the body, joined by dots, under HMAC-SHA256.
There are libraries for many languages that check it.
"""

from __future__ import annotations

import binascii
import hashlib
import hmac
from base64 import b64decode, b64encode
from collections.abc import Mapping

from recrawl.errors import BadSettingError

PREFIX = "whsec_"  # what follows it is the key in Base64; a secret without it is the key itself
LEAST_BYTES = 16


def key_of(secret: str) -> bytes:
    try:
        key = (
            b64decode(secret.removeprefix(PREFIX), validate=True)
            if secret.startswith(PREFIX)
            else secret.encode()
        )
    except (binascii.Error, ValueError):
        key = b""
    if len(key) < LEAST_BYTES:  # without quoting it
        raise BadSettingError(
            f"The secret to sign with must have {LEAST_BYTES} bytes or more, plain or as {PREFIX} and "
            f"Base64; `openssl rand -base64 24` makes a good one, to be written after {PREFIX}."
        )
    return key


def signed(secret: str, message_id: str, at: float, body: bytes) -> Mapping[str, str]:
    """The headers that say who sends what when; without a secret, no signature among them."""
    stamp = str(int(at))
    headers = {"webhook-id": message_id, "webhook-timestamp": stamp, "Idempotency-Key": message_id}
    if secret:
        whole = b".".join([message_id.encode(), stamp.encode(), body])
        digest = hmac.new(key_of(secret), whole, hashlib.sha256).digest()
        headers["webhook-signature"] = f"v1,{b64encode(digest).decode('ascii')}"
    return headers
