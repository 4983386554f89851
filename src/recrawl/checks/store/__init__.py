"""What every store must do. For plug-in authors: run each of `CHECKS` on a function that makes a new one."""

from recrawl.checks.store.adopting import ADOPTING
from recrawl.checks.store.claiming import CLAIMING
from recrawl.checks.store.completing import COMPLETING
from recrawl.checks.store.holding import HOLDING
from recrawl.checks.store.kin import KIN
from recrawl.checks.store.listing import LISTING
from recrawl.checks.store.looking import LOOKING
from recrawl.checks.store.manners import MANNERS
from recrawl.checks.store.moving import MOVING
from recrawl.checks.store.pacing import PACING
from recrawl.checks.store.payloads import PAYLOADS
from recrawl.checks.store.planning import PLANNING
from recrawl.checks.store.recalling import RECALLING
from recrawl.checks.store.receding import RECEDING
from recrawl.checks.store.samples import MakeStore
from recrawl.checks.store.seeing import SEEING
from recrawl.checks.store.streaming import STREAMING
from recrawl.checks.store.telling import TELLING
from recrawl.checks.store.timing import TIMING
from recrawl.checks.store.watching import WATCHING
from recrawl.checks.store.withdrawing import WITHDRAWING
from recrawl.checks.store.wording import WORDING

CHECKS = [
    *WATCHING,
    *MANNERS,
    *MOVING,
    *CLAIMING,
    *HOLDING,
    *COMPLETING,
    *PLANNING,
    *RECEDING,
    *PAYLOADS,
    *RECALLING,
    *PACING,
    *TELLING,
    *TIMING,
    *SEEING,
    *KIN,
    *LISTING,
    *LOOKING,
    *STREAMING,
    *ADOPTING,
    *WITHDRAWING,
    *WORDING,
]

__all__ = ["CHECKS", "MakeStore"]
