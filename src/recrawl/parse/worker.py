"""What runs inside a parsing process: `python -m recrawl.parse.worker DESCRIPTOR LIMIT_S MEMORY_BYTES`."""

from __future__ import annotations

import resource
import signal
import sys
from multiprocessing.connection import Connection
from pathlib import Path

from recrawl.parse.pool import ParseFailed


def main(descriptor: int, limit_s: float, memory_bytes: int) -> None:
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    signal.signal(signal.SIGPROF, signal.SIG_DFL)  # whatever the parent made of it: it must end this process
    _allow_memory(memory_bytes)
    with Connection(descriptor) as pipe:
        pipe.send(None)
        while True:
            _allow_cpu(limit_s)
            try:
                function, args, kwargs = pipe.recv()
                result = function(*args, **kwargs)
            except EOFError:
                return
            except MemoryError:
                pipe.send(ParseFailed("memory", f"more than {memory_bytes:,} bytes"))
                return  # half a message may still be in the pipe
            except Exception as problem:  # whatever it met, the caller wants a value
                result = ParseFailed("error", f"{type(problem).__name__}: {problem}"[:200])
            function = args = kwargs = None
            pipe.send(result)


def _allow_memory(memory_bytes: int) -> None:
    """So much on top of what the interpreter itself takes up."""
    pages = Path("/proc/self/statm")
    taken = int(pages.read_text().split()[0]) * resource.getpagesize() if pages.exists() else 0
    limit = taken + memory_bytes
    resource.setrlimit(resource.RLIMIT_AS, (limit, limit))


def _allow_cpu(limit_s: float) -> None:
    """So much CPU time from now on, then SIGPROF: it also ends a worker whose parent was killed meanwhile. A
    limit on the resource would do as well, but only knows whole seconds."""
    signal.setitimer(signal.ITIMER_PROF, limit_s)


if __name__ == "__main__":
    main(int(sys.argv[1]), float(sys.argv[2]), int(sys.argv[3]))
