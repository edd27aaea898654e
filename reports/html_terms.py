"""What the page's words, signs and abbreviations mean: the one table, shown at the end of the page. A word elsewhere is
a link to its entry; the page's script shows the entry beside the word, by pointer and by keyboard.
"""

from __future__ import annotations

from html import escape

_GROUPS: dict[str, dict[str, tuple[str, str]]] = {
    "Verdicts": {
        "passed": ("passed", "Everything that the case checks held."),
        "failed": ("failed", "There is a finding: a contract was broken, or the case crashed, hung or leaked."),
        "error": ("error", "The harness itself had trouble, so the case says nothing about the subject."),
        "inconclusive": ("inconclusive", "A fault cut the case short, or one that had to act did not act."),
        "skipped": ("skipped", "Something that the case needs is not on this machine, such as a second GPU."),
        "not-run": ("not run", "Chosen, and not begun: the run ended before."),
    },
    "Cases and findings": {
        "case": ("case", "One run of one variant of one scenario, in a process of its own."),
        "scenario": ("scenario", "A program that uses the library in one way and checks what has to hold."),
        "variant": (
            "variant",
            "Under which circumstances the scenario runs, such as when destructors come: inline, inside the call that "
            "gives up the last reference; thread, later and on a thread of the driver; held, when the scenario lets "
            "them; mixed, some of each.",
        ),
        "run": ("run", "The number of the repetition, from 0. Each has a seed of its own."),
        "duration": ("duration", "How long the process of the case took, by the clock."),
        "memory": ("memory", "The most that the processes of the case held at a time."),
        "finding": ("finding", "A broken contract. Equal findings of several cases stand together."),
        "kind": ("kind", "The sort of finding, a word that stays the same from version to version."),
        "cases-with-it": ("cases", "How many cases of the run have it."),
        "fingerprint": (
            "fingerprint",
            "Names the finding from run to run and from machine to machine: made of its kind, the scenario, and its "
            "stack or message without numbers. The gate and comparisons go by it.",
        ),
        "place": ("place", "The line of the scenario that found it."),
        "seed": ("seed", "The number that everything drawn by lot comes from. The same seed draws the same again."),
        "replay-string": (
            "replay string",
            "All that shapes the case, in one line: holdfast replay takes it again on any machine.",
        ),
        "schedule": (
            "schedule",
            "Which thread went on at each step, where the order was controlled (--schedule). x1:a3b2a#5f is three "
            "steps of the first thread, two of the second, one of the first; the digits after # are a check sum.",
        ),
        "minimised": (
            "minimised",
            "What --minimise left of the rules of --fault and --plan, and of the switches from one thread to another.",
        ),
        "artifacts": ("artifacts", "The folder with the case's output, events and plan, inside --artifact-dir."),
        "unsupported": ("unsupported calls", "Driver calls that the model driver answered with NOT_SUPPORTED."),
        "interpreter": ("interpreter", "Which Python ran the case; of a scenario in C++ there is none."),
        "counter": ("counters", "What the case counted while it ran, such as callbacks, drains and wakeups."),
        "output": ("output", "The last lines that the case wrote before it ended."),
        "stack": ("stack", "Where the thread was, the innermost function first."),
    },
    "Faults": {
        "rule": (
            "rule",
            "A fault that was asked for: a site, when (nth=2: at the second call; probability=1/64: at one call in 64, "
            "drawn from the seed), and what happens then.",
        ),
        "origin": (
            "from",
            "Who asked: user, on the command line or in a plan file; scenario, which brings it along; sweep, which "
            "tries all calls in turn.",
        ),
        "fired": ("fired", "How often the rule acted in this case. 0 is no error: the case may have ended before."),
        "site": ("site", "Where a fault can act: a driver call, a destructor, an allocation, Py_AddPendingCall."),
        "ordinal": ("call", "Which call of the site it was, counted on that thread from 1."),
        "action": (
            "action",
            "What happened: return, the call answers the result and does nothing; return-after, it takes effect and "
            "answers the result all the same; deliver, the destructor came at another time or on another thread; "
            "fail, an allocation fails; drop, the call is forgotten.",
        ),
        "result": ("result", "What the call answered. Where nothing is said it succeeded."),
        "plan-digest": ("plan digest", "Stands for all rules: equal plans have equal digests."),
    },
    "Timeline": {
        "thread": (
            "thread",
            "One lane each. main is the first thread; subject-N others of the program; callback-N those on which the "
            "driver calls back.",
        ),
        "call": ("driver call", "From its beginning to its end. One that did not succeed is struck out."),
        "fold": ("folded calls", "Equal calls in a row, drawn as one with their number. Enter unfolds them."),
        "destructor": ("destructor", "The driver calls back: nobody holds the user object any more."),
        "host-function": ("host function", "The driver calls a function that a node of a running graph names."),
        "drain": ("drain", "The queue is worked off: what destructors left there is released now."),
        "context": ("announced stretch", "A stretch that the scenario announced, such as a capture."),
        "pending-call": ("wakeup", "Somebody is asked to drain: a call is given to the interpreter's queue."),
        "release": ("release", "An owner gave its resource back."),
        "step": ("step", "A point that the scenario announced."),
        "fault": ("fault", "A rule of the plan acted."),
        "finding-mark": ("finding", "Here the process noted that the contract is broken."),
        "object": (
            "object N",
            "A CUDA user object, numbered as they were created. It carries the owners of a node's resources.",
        ),
        "references": ("references", "How many references the subject and its graphs hold of the object afterwards."),
        "held": (
            "held",
            "At the end of the record the object still has references. That is red only where the finding is about "
            "the object, or is a leak; any other may be held with good reason.",
        ),
        "queue": ("queue", "How many cleanups, or calls of the interpreter's queue, waited afterwards."),
        "spacing": (
            "even steps",
            "Each beginning and end of a moment takes the same room, so that what takes a microsecond can be seen "
            "beside what takes a millisecond. The figures above are true times.",
        ),
        "latency": (
            "latency",
            "How long things waited: a wakeup for the next drain, a destructor for the next release, and how long "
            "destructors took.",
        ),
        "median": ("median", "Half of the waits were no longer."),
        "percentile": ("95 of 100", "Of a hundred waits, 95 were no longer."),
    },
    "Colours": {
        "red": (
            "red",
            "A broken contract, a fault, a call that failed; of objects, what the finding is about.",
        ),
        "amber": ("amber", "Open: an error of the harness, or inconclusive. In a comparison: more than before."),
        "green": ("green", "Passed, or noticed."),
        "grey": ("grey", "Calls of the driver, and what the scenario announced; of verdicts, skipped."),
        "ochre": ("ochre", "The driver calls back: destructors and host functions."),
        "blue": ("blue", "Wakeups, drains, releases; references and queues. In a comparison: less than before."),
        "outline": ("outline", "Dark: about the same object as the finding or the chosen mark. Blue: the chosen mark."),
    },
    "Comparison": {
        "new": ("new", "A finding that the baseline does not have, by its fingerprint."),
        "gone": ("gone", "A finding that only the baseline has."),
        "still": ("still there", "A finding that both have."),
        "ratio": ("ratio", "The figure now, divided by the one before. The bar is on a scale that ends at fourfold."),
    },
    "Seeded bugs": {
        "seeded-bug": ("seeded bug", "A known defect, put into the library on purpose to see who notices it."),
        "claim": ("claim", "A scenario says that it catches the bug, and was run against it."),
    },
    "Sweep": {
        "operation": ("operation", "What was swept: the calls that it makes failed one after the other."),
        "sites": ("sites", "How many different calls of the operation can fail."),
        "points": ("points", "At how many calls a fault fired: of each site the first, the second, and so on."),
        "before": ("before", "The call failed and did nothing."),
        "after": ("after", "The call took effect and failed all the same."),
        "transient": ("transient", "The fault came once."),
        "persistent": ("persistent", "The call, and all later ones of its site, failed."),
        "allocations": ("allocations", "Points at which memory was refused."),
        "double": ("double", "Points with a second fault, at a site that only the first one leads to."),
        "runs": ("runs", "How many processes it took."),
        "failed-points": ("failed", "Points that led to a finding."),
    },
    "Fuzzer": {
        "sequence": ("sequence", "Operations drawn from the seed, run one after the other, with faults in between."),
        "operations": ("operations", "How many steps: as it was drawn → after it was made short."),
        "faults": ("faults", "How many faults: as it was drawn → after it was made short."),
        "replays": ("replays", "How often a shorter sequence was tried to see whether it still fails."),
        "minimal": ("minimal", "No line can be left out any more: without any of them the finding does not come."),
        "core-seconds": ("core seconds", "The time of all jobs together."),
    },
    "Run": {
        "driver": ("driver", "model: a stand-in that needs no GPU. real: the machine's own."),
        "subject": ("subject", "The program under test; the build is a digest of its bytes."),
        "exit-code": (
            "exit code",
            "0 all met, 1 a finding, 2 usage, 3 the harness failed, 4 nothing ran, 5 inconclusive, 130 or 143 "
            "interrupted.",
        ),
        "option-source": ("from", "Who gave the value: the command line, the environment, or nobody (default)."),
    },
}

_LABELS = {key: label for group in _GROUPS.values() for key, (label, _) in group.items()}


def term(key: str, text: str = "") -> str:
    """The word as a link to its entry. `text` is markup already; without one it is the entry's own word."""
    label = _LABELS[key]
    word = text or escape(label[0].upper() + label[1:])
    return f'<a class="term" data-term="{key}" href="#word-{key}">{word}</a>'


def terms_html() -> str:
    """All entries, by group."""
    groups = []
    for title, entries in _GROUPS.items():
        lines = "".join(
            f'<div id="word-{key}" tabindex="-1"><dt>{escape(label)}</dt><dd>{escape(text)}</dd></div>'
            for key, (label, text) in entries.items()
        )
        groups.append(f'<h3>{title}</h3><dl class="words">{lines}</dl>')
    return "".join(groups)
