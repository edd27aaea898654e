"""Which of a fuzzer's sequences belong to a finding."""

from __future__ import annotations

from reports.record import Finding, Record, Shrunk


def shrunk_of(record: Record, finding: Finding) -> list[Shrunk]:
    """Those that its commands name, or that say the same: what was shrunk may have other numbers in its message."""
    shrunk = record.fuzz.shrunk if record.fuzz else ()
    said = (finding.kind, finding.message)
    return [
        each
        for each in shrunk
        if (each.kind, each.message) == said or any(each.fingerprint in command for command in finding.reproduce)
    ]
