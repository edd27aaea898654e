"""Keeps what was run on a real driver: copies the report and writes a short page beside it.

    tools/keep_results.py REPORT.json CONFORMANCE.jsonl SELFTEST.json

REPORT.json is of `holdfast run --driver=real`, CONFORMANCE.jsonl of `driver_conformance --json`, SELFTEST.json of
`holdfast selftest --driver=real --report=json:...`, all three from one machine. The files go to docs/results, named by
date, device and driver version; the driver's own version, which CUDA does not tell, is read from the library's file
name. Places on the machine that ran it are left out.
"""

import json
import re
import sys
from collections import Counter
from pathlib import Path
from typing import Any

RESULTS = Path(__file__).parent.parent / "docs" / "results"


def facts(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]


def table_of(cases: list[dict[str, Any]]) -> list[str]:
    lines = ["| scenario | variant | verdict | faults fired | ms |", "|---|---|---|---:|---:|"]
    for case in cases:
        verdict = case["verdict"] + (f" ({case['reason']})" if case.get("reason") else "")
        row = (case["scenario"], case["variant"], verdict, len(case["faults"]), round(case["duration_ms"]))
        lines.append("| " + " | ".join(str(cell) for cell in row) + " |")
    return lines


def page(report: dict[str, Any], conformance: list[dict[str, Any]], selftest: dict[str, Any], version: str) -> str:
    summary = report["summary"]
    outcomes = Counter(fact["verdict"] for fact in conformance)
    missed = [cell for cell in selftest["detection"] if not cell["caught"]]
    lines = [
        f"# {report['device']}, driver {version}, {report['started'][:10]}",
        "",
        f"- driver: {version} (CUDA {report['driver_version'] // 1000}.{report['driver_version'] % 1000 // 10}),"
        f" interpreter {report['interpreter']}",
        f"- `holdfast run --driver=real --seed={report['seed']}`: "
        + ", ".join(f"{count} {name}" for name, count in summary.items()),
        "- `driver_conformance`: " + ", ".join(f"{count} {outcome}" for outcome, count in sorted(outcomes.items())),
        f"- `holdfast selftest --driver=real`: {len(selftest['detection']) - len(missed)} of "
        f"{len(selftest['detection'])} claims hold"
        + "".join(f"; missed: {cell['bug']} by {cell['scenario']}" for cell in missed),
        "",
        *table_of(report["cases"]),
        "",
    ]
    return "\n".join(lines)


def main() -> int:
    report_path, conformance_path, selftest_path = (Path(argument) for argument in sys.argv[1:])
    report = json.loads(report_path.read_text(encoding="utf-8"))
    selftest = json.loads(selftest_path.read_text(encoding="utf-8"))
    found = re.search(r"\.so\.(\d+\.[\d.]+)$", report["driver_library"])
    version = found.group(1) if found else "unknown"
    device = re.sub(r"[^a-z0-9]+", "-", report["device"].lower()).strip("-")
    stem = RESULTS / f"{report['started'][:10]}-{device}-{version}"
    RESULTS.mkdir(parents=True, exist_ok=True)
    without_places = {**report, "driver_library": Path(report["driver_library"]).name}
    without_places["options"] = {name: value for name, value in report["options"].items() if name != "report"}
    Path(f"{stem}.json").write_text(json.dumps(without_places, separators=(",", ":")) + "\n", encoding="utf-8")
    text = page(report, facts(conformance_path), selftest, version)
    Path(f"{stem}.md").write_text(text, encoding="utf-8")
    print(f"{stem.name}.json and .md in docs/results")
    return 0


if __name__ == "__main__":
    sys.exit(main())
