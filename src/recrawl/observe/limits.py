"""How far a fetch goes."""

from __future__ import annotations

from dataclasses import dataclass

from recrawl.model import Manner

MIB = 1024 * 1024
MOST_BYTES = 1024 * MIB  # of one body on the wire, whatever is said of a resource


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """How much time and room a fetch may take. Times are on the wall, but for `wait_s`."""

    dns_s: float = 5.0
    connect_s: float = 10.0  # TCP and TLS
    first_byte_s: float = 30.0  # from the request to the end of the headers
    total_s: float = 120.0  # of the network, all hops and robots.txt together
    min_bytes_per_s: float = 1024.0  # of body, over every `rate_window_s`
    rate_window_s: float = 30.0
    wire_bytes: int = 16 * MIB
    body_bytes: int = 64 * MIB  # after decoding
    field_bytes: int = 8190  # of one header
    headers_bytes: int = 64 * 1024  # of all headers together
    n_redirects: int = 10
    wait_s: float = 300.0  # on the clock: how long a fetch may wait for its turn, all hops together

    def wire_bytes_for(self, manner: Manner) -> int:
        return self.wire_bytes if manner.max_bytes is None else min(manner.max_bytes, MOST_BYTES)

    def body_bytes_for(self, manner: Manner) -> int:
        """A resource with a limit of its own may unfold to four times that."""
        return max(self.body_bytes, 0 if manner.max_bytes is None else 4 * self.wire_bytes_for(manner))
