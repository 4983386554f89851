"""The vocabulary of recrawl: frozen values and columns. No I/O, no clock.

An instant (`_at`) is a float: seconds since 1970-01-01 UTC, the same in a single value and in a column
of a million. It becomes an aware datetime only where a person or a file format reads it. NaN means
"not known" and stands only where the field says so.
"""

from recrawl.model.bag import BAG_FORMAT, Bag
from recrawl.model.bags import Bags
from recrawl.model.body import Body, digest, pieces
from recrawl.model.classes import TABLE_2, TABLE_4, RateClass
from recrawl.model.columns import (
    Batch,
    Bits,
    Bools,
    Bytes8,
    Floats,
    Ints,
    Looked,
    Plans,
    Prospects,
    Seen,
    recent_bits,
)
from recrawl.model.fetch import FORM_AGAIN, Access, Failure, Fetch, Header, Hop, Outcome, Request
from recrawl.model.kin import KinTable
from recrawl.model.lens import CLEAR, SILENCE, Learned, Lens, Mask, Noise, Part, Suspicion
from recrawl.model.moments import MOST_MOMENTS, unfolded
from recrawl.model.paces import Hosts, Planned, Took
from recrawl.model.packs import WORD_BITS, packed, unpacked
from recrawl.model.post import Leaf, Post, Topic
from recrawl.model.priors import Priors
from recrawl.model.resource import (
    GLOBAL,
    LEAST_WEIGHT,
    MOST_WEIGHT,
    Changes,
    Effective,
    Kind,
    Manner,
    NewResource,
    Resource,
    Scope,
    ScopeKind,
    Settings,
    settled,
)
from recrawl.model.roll import Roll
from recrawl.model.sight import FEATURES, SIGHT_FORMAT, Feature, Hunch, Sight, column
from recrawl.model.signal import Signal, Telling
from recrawl.model.stream import Changer, Due, Failures, HostStanding, Place, Sought, Sums, Which
from recrawl.model.units import DAY_S, HOUR_S
from recrawl.model.verdict import Changed, Snapshot, Verdict
from recrawl.model.visit import (
    ASKED,
    MIN_SHARED_BYTES,
    Adoption,
    Completion,
    Hold,
    Lease,
    Plan,
    Standing,
    Version,
    Visit,
)
from recrawl.model.withdrawal import Erasure, Moved, Replacement

__all__ = [
    "ASKED",
    "BAG_FORMAT",
    "CLEAR",
    "DAY_S",
    "FEATURES",
    "FORM_AGAIN",
    "GLOBAL",
    "HOUR_S",
    "LEAST_WEIGHT",
    "MIN_SHARED_BYTES",
    "MOST_MOMENTS",
    "MOST_WEIGHT",
    "SIGHT_FORMAT",
    "SILENCE",
    "TABLE_2",
    "TABLE_4",
    "WORD_BITS",
    "Access",
    "Adoption",
    "Bag",
    "Bags",
    "Batch",
    "Bits",
    "Body",
    "Bools",
    "Bytes8",
    "Changed",
    "Changer",
    "Changes",
    "Completion",
    "Due",
    "Effective",
    "Erasure",
    "Failure",
    "Failures",
    "Feature",
    "Fetch",
    "Floats",
    "Header",
    "Hold",
    "Hop",
    "HostStanding",
    "Hosts",
    "Hunch",
    "Ints",
    "KinTable",
    "Kind",
    "Leaf",
    "Learned",
    "Lease",
    "Lens",
    "Looked",
    "Manner",
    "Mask",
    "Moved",
    "NewResource",
    "Noise",
    "Outcome",
    "Part",
    "Place",
    "Plan",
    "Planned",
    "Plans",
    "Post",
    "Priors",
    "Prospects",
    "RateClass",
    "Replacement",
    "Request",
    "Resource",
    "Roll",
    "Scope",
    "ScopeKind",
    "Seen",
    "Settings",
    "Sight",
    "Signal",
    "Snapshot",
    "Sought",
    "Standing",
    "Sums",
    "Suspicion",
    "Telling",
    "Took",
    "Topic",
    "Verdict",
    "Version",
    "Visit",
    "Which",
    "column",
    "digest",
    "packed",
    "pieces",
    "recent_bits",
    "settled",
    "unfolded",
    "unpacked",
]
