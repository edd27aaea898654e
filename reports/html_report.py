"""report.html: one file for people, which needs no network and keeps nothing back that can be looked at.

The page is put together from the parts in html/ beside this file, from plain HTML with the summary, the findings and
the tables, and from data in JSON, of which the page's scripts draw the timeline, the plots and the table of cases. All
text of a record is escaped on its way in, and the page's own policy lets no other script run and nothing be loaded.

Charts are drawn by Chart.js. The build puts it beside the other parts; where it is not, Debian's place is looked at,
and a page without it has tables in place of the charts and says so.
"""

from __future__ import annotations

import base64
import functools
import hashlib
import string
from pathlib import Path
from typing import Any

from reports import html_sections
from reports.compare import compare
from reports.distinct_findings import DistinctFinding, distinct_findings
from reports.html_data import cases_data, count_timelines, operations_data, timelines_data
from reports.html_findings import MOST_FINDINGS, findings_html, reasons_html
from reports.html_fuzz import others_html, work_html
from reports.html_terms import term, terms_html
from reports.html_text import escape, json_block
from reports.record import Record
from reports.shrunk_sequences import shrunk_of

_PARTS = Path(__file__).absolute().parent / "html"
_MANY = 200  # findings, from which on the browser is told to lay out only those in sight
_SCRIPTS = ("dom.js", "tips.js", "cases.js", "marks.js", "lanes.js", "plots.js", "timeline.js", "page.js")

# The charting library and its licence: where the build puts them, where Debian does.
LIBRARY_PLACES = (
    (_PARTS / "chart.min.js", _PARTS / "chart_licence.txt"),
    (Path("/usr/share/javascript/chart.js/chart.min.js"), Path("/usr/share/doc/libjs-chart.js/copyright")),
)


def render(record: Record, baseline: Record | None = None) -> bytes:
    """The page, in UTF-8. With a baseline it also says what changed since."""
    library, licence = _library()
    script = _script()
    style = _part("page.css")
    hashes = " ".join(_hash(text) for text in (library, script) if text)
    page = string.Template(_part("page.html")).substitute(
        _contents(record, baseline),
        policy=f"default-src 'none'; script-src {hashes}; style-src {_hash(style)}; img-src data:; base-uri 'none'; "
        "form-action 'none'",
        style=style,
        library=f"<script>{library}</script>" if library else "",
        script=script,
        licence=escape(licence, 20_000) if licence else "This page carries no charting library.",
    )
    return page.encode()


def _contents(record: Record, baseline: Record | None) -> dict[str, str]:
    groups = distinct_findings(record)
    difference = compare(baseline, record) if baseline else None
    new = frozenset(difference.new if difference else ())
    timelines, numbers = timelines_data(record)
    data: dict[str, Any] = {
        "cases": cases_data(record, groups, MOST_FINDINGS),
        "timelines": timelines,
        "more_timelines": count_timelines(record) - len(timelines),
        "operations": operations_data(record.operations),
    }
    state, sentence = html_sections.headline(record, groups)
    findings = findings_html(record, groups, new, numbers)
    before, after = _fuzz(record, groups)
    sections = {
        "comparison": html_sections.comparison_html(difference, baseline) if difference and baseline else "",
        "detection": html_sections.detection_html(record.detection) if record.detection else "",
        "operations": html_sections.operations_html(record.operations) if record.operations else "",
    }
    return {
        "title": escape(f"holdfast {record.command}: {sentence}", 200),
        "state": state,
        "headline": escape(sentence, 200),
        "command": escape(f"holdfast {record.command}", 60),
        "started": escape(record.started, 40),
        "took": html_sections.duration(record.duration_ms),
        "summary": html_sections.summary_html(record),
        "finding_count": f"{len(groups):,}",
        "findings": f"{before}{findings}{after}{reasons_html(record)}",
        "driver": escape(record.driver, 40),
        "seed": escape(record.seed, 40),
        "about": html_sections.about_html(record),
        "words": terms_html(),
        "even_steps": term("spacing"),
        "many": ' class="many"' if len(groups) > _MANY else "",
        "timeline_hidden": "" if timelines else "hidden",
        "data": json_block(data),
        **{f"{name}_section": _section(name, body) for name, body in sections.items()},
        **{
            f"{name}_link": f'<li><a href="#{name}">{_TITLES[name]}</a></li>' if body else ""
            for name, body in sections.items()
        },
        "timeline_link": '<li><a href="#timeline">Timeline</a></li>' if timelines else "",
    }


_TITLES = {
    "comparison": "Since the baseline",
    "detection": "Detection matrix",
    "operations": "Fault points",
}


def _fuzz(record: Record, groups: list[DistinctFinding]) -> tuple[str, str]:
    """What comes before the findings of a fuzzer, and the sequences behind them that no finding of the page has."""
    if not record.fuzz:
        return "", ""
    shown = {each for group in groups[:MOST_FINDINGS] for each in shrunk_of(record, group.finding)}
    return work_html(record.fuzz), others_html([each for each in record.fuzz.shrunk if each not in shown])


def _section(name: str, body: str) -> str:
    if not body:
        return ""
    plot = '<div class="plot needs-script" id="operations-plot"></div>' if name == "operations" else ""
    title = f'<h2 id="{name}-title">{_TITLES[name]}</h2>'
    return f'<section id="{name}" aria-labelledby="{name}-title">{title}{plot}{body}</section>'


def _script() -> str:
    """Our scripts as one, in a scope of its own."""
    return '(() => {\n"use strict";\n' + "\n".join(_part(name) for name in _SCRIPTS) + "\n})();\n"


@functools.cache
def _part(name: str) -> str:
    return (_PARTS / name).read_text(encoding="utf-8")


def _library() -> tuple[str, str]:
    """The charting library and its licence, or two empty texts. It comes with its licence or not at all."""
    for code, licence in LIBRARY_PLACES:
        if code.is_file() and licence.is_file():
            # A comment at its end names a file that is not there, which browsers would look for.
            text = code.read_text(encoding="utf-8").partition("\n//# sourceMappingURL=")[0]
            return text.replace("</script", "<\\/script"), licence.read_text(encoding="utf-8")
    return "", ""


def _hash(text: str) -> str:
    """How a content security policy names an inline script or style."""
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"
