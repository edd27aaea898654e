"""Every kind of finding that this tool itself can make: what it is and what to do. Kinds are stable words; viewers show
these texts beside a finding. A subject's own scenarios may use kinds of theirs, which get a general text.

tests/reports/finding_kinds_test.py compares the table with the sources.
"""

from __future__ import annotations

import dataclasses


@dataclasses.dataclass(frozen=True)
class Kind:
    """One kind: a name for a list, what has happened in a sentence or two, and what to do about it."""

    title: str
    description: str
    help: str


_REPLAY = "The commands under the finding take it again, fault for fault."
_ORDER = "The order of steps that leads to it is in the finding; its commands take it again."

KINDS = {
    # The shim's ledger.
    "over-release": Kind(
        "Reference released too often",
        "More references to a user object were released than there were. The driver answers that with success, and the "
        "object's resources may already have been given up while somebody still uses them.",
        "Find the release that has no retain of its own: each cuUserObjectRetain, and each reference that a graph took "
        f"over, may be given up once. {_REPLAY}",
    ),
    "leak": Kind(
        "Something was never released",
        "At the end something is alive that nobody can release any more: a graph that lost its last handle, a user "
        "object with references that no one holds, or memory that a leak check found.",
        "Follow the owner named in the message to where its last reference should have been given up; look at the path "
        f"that an injected failure takes first. {_REPLAY}",
    ),
    "double-destroy": Kind(
        "Handle destroyed twice",
        "A handle was given to its destroy call again after it had been destroyed. The driver may have reused the "
        "handle, and then something else dies.",
        "Let exactly one owner destroy the handle, and clear it where it moves on. " + _REPLAY,
    ),
    "use-after-destroy": Kind(
        "Handle used after it was destroyed",
        "A call got a handle that had been destroyed and that the driver had not given out again.",
        "Keep whatever owns the handle alive for as long as the call can come. " + _REPLAY,
    ),
    "driver-call-in-callback": Kind(
        "Driver called inside a callback",
        "A driver call was made inside the destructor of a user object or inside a host function. CUDA forbids it; it "
        "can deadlock, and answers CUDA_ERROR_NOT_PERMITTED at best.",
        "Let the callback queue the work only, and do it later on a thread where calls are allowed. " + _REPLAY,
    ),
    # What checks say, in scenarios and in the fuzzer.
    "contract": Kind(
        "A promise was broken",
        "A check of what the subject promises did not hold; the message says which.",
        f"Read the check at the place that the finding names, and what was injected before it. {_REPLAY}",
    ),
    # How a case ended.
    "crash": Kind(
        "The process crashed",
        "The case was ended by a signal, such as SIGSEGV or SIGABRT.",
        f"Take it again under a debugger, or with --config=asan for the place of a bad access. {_REPLAY}",
    ),
    "hang": Kind(
        "The case did not end",
        "The case did not end within its time limit. The stack is that of its threads when the time was up.",
        "Look in the stacks for two threads that wait for each other, or for a wait that nobody ends. If the case is "
        f"slow rather than stuck, raise --timeout. {_REPLAY}",
    ),
    "early-exit": Kind(
        "The process ended before the scenario",
        "The process exited with success before the scenario had finished, so that most of it was not checked.",
        f"Find who calls exit, or why the main thread left. {_REPLAY}",
    ),
    "exit-code": Kind(
        "The process failed without a word",
        "The process exited with a code that means failure, and nothing that it wrote says why.",
        f"The end of its output is with the finding; an exception that nobody caught is the usual reason. {_REPLAY}",
    ),
    "leftover-process": Kind(
        "A process was left behind",
        "The case ended and left at least one process of its own running.",
        f"Wait for child processes, or end them, before the scenario ends. {_REPLAY}",
    ),
    "memory-limit": Kind(
        "Memory grew beyond the limit",
        "The processes of the case together held more memory than --rss-limit-mb allows.",
        f"Look for what grows with each step; raise the limit if the need is real. {_REPLAY}",
    ),
    "output-limit": Kind(
        "Output without end",
        "The case wrote so much that it was stopped.",
        f"Look for a loop that reports the same thing again and again. {_REPLAY}",
    ),
    "bad-events": Kind(
        "The events cannot be read",
        "The file in which the case tells what happens holds lines that are no events: something overwrote it, or "
        "memory was damaged.",
        f"Look for writes to descriptors that were closed and reused. {_REPLAY}",
    ),
    "sanitizer": Kind(
        "A sanitizer reported an error",
        "AddressSanitizer, ThreadSanitizer or UndefinedBehaviorSanitizer reported an error; the message sums it up.",
        f"Start at the topmost frame of the stack that is the subject's own. {_REPLAY}",
    ),
    # Orders of threads: the explorer, and runs whose order is controlled.
    "deadlock": Kind(
        "No thread can go on",
        "Every thread waits for another one.",
        f"Follow who holds what the others wait for; take locks in one order. {_ORDER}",
    ),
    "livelock": Kind(
        "Threads go round without progress",
        "Threads repeat the same steps, and no order of steps lets any of them finish.",
        f"Find the state that each round restores. {_ORDER}",
    ),
    "assertion": Kind(
        "A condition of the program does not hold",
        "In one order of steps, a condition that the explored program checks does not hold.",
        f"Read the table of steps up to the check. {_ORDER}",
    ),
    "data-race": Kind(
        "Unordered accesses to plain memory",
        "Two threads access the same plain memory, one of them writes, and nothing orders the two.",
        f"Order them by an acquire that reads from a release, or make the memory atomic. {_ORDER}",
    ),
    "double-free": Kind(
        "Memory freed twice",
        "In one order of steps the same memory is freed twice.",
        f"Let exactly one thread win the right to free it. {_ORDER}",
    ),
    "use-after-free": Kind(
        "Memory used after it was freed",
        "In one order of steps a thread accesses memory that another one has freed.",
        f"Free it only where no thread can hold a pointer to it any more. {_ORDER}",
    ),
    "stranded-work": Kind(
        "Queued work that nobody will do",
        "The threads are done, the queue is not empty, and no wakeup is outstanding: a wakeup was lost.",
        f"Look at the step at which the producer saw a wakeup as outstanding that the consumer had spent. {_ORDER}",
    ),
    "uncaught-exception": Kind(
        "An exception left a thread",
        "In one order of steps an exception leaves a thread of the explored program.",
        f"The message has what the exception says. {_ORDER}",
    ),
    "missed": Kind(
        "A known defect was not found",
        "A specimen has a defect on purpose, and the explorer did not find it: the explorer is at fault, or was given "
        "too little time.",
        "Explore the specimen again with more time; if it is missed again, nothing that the explorer passes counts.",
    ),
}

_OTHER = Kind(
    "A finding of the subject's own kind",
    "A scenario reported a finding of a kind of its own; the message says what it is about.",
    f"Read the scenario at the place that the finding names. {_REPLAY}",
)


def kind_of(word: str) -> Kind:
    """What is known about a kind of finding."""
    return KINDS.get(word, _OTHER)
