"""A program with programs to explore, of which each does what its name says. The arguments that it was given for one
are left in the folder that SCRIPTED_EXPLORER names.
"""

from __future__ import annotations

import json
import os
import signal
import sys
from pathlib import Path
from typing import Any

NOTHING = {
    "executions": 12,
    "blocked": 1,
    "inconsistent": 0,
    "faulty": 0,
    "is_complete": True,
    "is_out_of_time": False,
    "duration_ms": 1.5,
    "spurious_failures_max": 0,
    "table": "#1 x = 1\n#2 x is 1\n",
    "failure": None,
}
FAILURE = {
    "verdict": "stranded-work",
    "is_fault": True,
    "text": "queue.cc:7: nobody comes",
    "schedule": "x1:a2b.1#0000000a",
    "switches": 1,
    "faults": 0,
}
PROGRAMS: dict[str, dict[str, Any]] = {
    "passes": NOTHING,
    "strands": NOTHING | {"failure": FAILURE},
    "winds": NOTHING | {"failure": FAILURE | {"schedule": f"x1:{'ab' * 300}#0000000a"}},
    "specimen.found": NOTHING | {"failure": FAILURE},
    "specimen.missed": NOTHING,
    "too-long": NOTHING | {"is_complete": False, "is_out_of_time": True},
    "cannot": NOTHING | {"failure": FAILURE | {"verdict": "too-many-threads", "is_fault": False}},
    "crashes": {},
    "mumbles": {},
}


def main() -> int:
    if sys.argv[1:] == ["--list"]:
        listed = [
            {"name": name, "summary": f"about {name}", "expected": "stranded-work" if "specimen" in name else None}
            for name in PROGRAMS
        ]
        print(json.dumps(listed))
        return 0
    name = sys.argv[1].removeprefix("--program=")
    Path(os.environ["SCRIPTED_EXPLORER"], name).write_text("\n".join(sys.argv[2:]))
    if "--replay=x1:wrong#1" in sys.argv:
        print("the schedule is wrong", file=sys.stderr)
        return 2
    if name == "crashes":
        print("it was the pointer", file=sys.stderr, flush=True)
        os.kill(os.getpid(), signal.SIGSEGV)
    print("hm" if name == "mumbles" else json.dumps(PROGRAMS[name]))
    return 0


if __name__ == "__main__":
    sys.exit(main())
