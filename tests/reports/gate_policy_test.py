"""Policies: what is read and what is refused, and that schema, guide and examples agree with the table of rules.

After a wanted change, `python3 tests/reports/gate_policy_test.py --update` from the root of the tree rewrites the
schema and the rules in docs/gate.md; the difference is then part of the change.
"""

from __future__ import annotations

import json
import re
import sys
import unittest
from pathlib import Path
from typing import Any

TREE = Path(__file__).absolute().parents[2]
sys.path.insert(0, str(TREE))

import jsonschema

from reports.commented_json import load, without_comments
from reports.gate import documentation
from reports.gate.policy import RULES, Policy, read_policy
from reports.gate.rule import GateError

SCHEMA = TREE / "reports" / "gate" / "policy.schema.json"
GUIDE = TREE / "docs" / "gate.md"
LISTED = re.compile(r"(?<=<!-- rules -->\n).*(?=<!-- end of rules -->)", re.DOTALL)

# One that is as small as it can be for each rule.
SMALLEST: dict[str, Any] = {
    "complete": {},
    "driver": {"kind": "model"},
    "sanitizers": {"on": ["address"]},
    "no-errors": {},
    "no-inconclusive": {},
    "all-scenarios-ran": {"scenarios": ["*"]},
    "no-new-findings": {},
    "canary-failed": {},
    "fault-coverage": {"minimums": [{"scenario": "*"}]},
    "seeded-bugs-caught": {},
    "counter-limits": {"limits": [{"counter": "*", "most": 1.5, "noise": 1}]},
    "duration-limits": {"limits": [{"most": 1.5, "noise-ms": 10}]},
}


def policy_of(rules: dict[str, Any], **members: Any) -> Policy:
    return read_policy(json.dumps({"version": 1, "rules": rules, **members}).encode())


def known(fingerprint: str = "0" * 16, reason: str = "why", expires: str = "2027-01-31") -> dict[str, str]:
    return {"fingerprint": fingerprint, "reason": reason, "expires": expires}


class PolicyTest(unittest.TestCase):
    def refused(self, data: bytes) -> str:
        with self.assertRaises(GateError) as caught:
            read_policy(data)
        return str(caught.exception)

    def refused_rules(self, rules: dict[str, Any]) -> str:
        return self.refused(json.dumps({"version": 1, "rules": rules}).encode())

    def test_each_rule_of_the_table_is_read(self) -> None:
        self.assertEqual(list(SMALLEST), [rule.name for rule in RULES])
        self.assertEqual(list(SMALLEST), [rule.name for rule, _ in policy_of(SMALLEST).in_force()])

    def test_comments_are_accepted_and_strings_that_look_like_them_stay(self) -> None:
        text = '/* a */ {"version": 1, // b\n "rules": {"all-scenarios-ran": {"scenarios": ["A//*"]}}}'
        self.assertEqual(("A//*",), read_policy(text.encode()).rules["all-scenarios-ran"].scenarios)
        self.assertEqual(text.index('"rules"'), without_comments(text).index('"rules"'))

    def test_what_is_no_policy(self) -> None:
        for data, says in (
            (b"", "empty"),
            (b"\n", "empty"),
            (b"{", "Expecting"),
            (b"[]", "/: it is no object"),
            (b"\xff", "no UTF-8"),
            (b'{"version": 1}', "lacks the member 'rules'"),
            (b'{"version": 2, "rules": {"complete": {}}}', "/version: it is 2"),
            (b'{"version": 1, "rules": {}}', "/rules: it has no rule"),
            (b'{"version": 1, "rules": [1]}', "/rules: it is no object"),
            (b'{"version": 1, "rules": {"complete": {}, "complete": {}}}', "stands twice"),
            (b'{"version": 1, "rules": {"complete": {}}, "plan": "x"}', "/plan"),
            (b'{"version": 1, "rules": {"complete": {}}, "command": "list"}', "/command: it is none of"),
            (b'{"version": 1, "rules": {"complete": {}}, "baseline": ""}', "unknown member 'baseline'"),
            (b"[" * 100_000, "nested too deeply"),
        ):
            with self.subTest(data=data[:60]):
                self.assertIn(says, self.refused(data))

    def test_an_unknown_rule_gets_the_nearest_name(self) -> None:
        self.assertIn("did you mean complete?", self.refused_rules({"compleet": {}}))
        self.assertIn("there are complete, driver", self.refused_rules({"zzz": {}}))

    def test_what_is_wrong_with_a_rule_is_told_with_its_place(self) -> None:
        limit = {"counter": "*", "noise": 0}
        for name, parameters, says in (
            ("complete", {"x": 1}, "/rules/complete: it has the unknown member 'x'"),
            ("complete", [], "/rules/complete: it is no object"),
            ("driver", {}, "/rules/driver: it lacks the member 'kind'"),
            ("driver", {"kind": "cuda"}, "/rules/driver/kind: it is none of model"),
            ("sanitizers", {"on": []}, "/rules/sanitizers/on: it is empty"),
            ("sanitizers", {"on": ["memory"]}, "/rules/sanitizers/on: it is none of address"),
            ("all-scenarios-ran", {}, "/rules/all-scenarios-ran: it asks for nothing"),
            ("fault-coverage", {}, "/rules/fault-coverage: it asks for nothing"),
            ("fault-coverage", {"minimums": [{"scenario": "*", "points": -1}]}, "minimums/0/points: it is -1"),
            ("no-inconclusive", {"allowed": [{"case": "*"}]}, "allowed/0: it lacks the member 'reason'"),
            ("no-inconclusive", {"allowed": [{"case": "*", "reason": " "}]}, "allowed/0/reason: it is ' '"),
            ("no-new-findings", {"known": [known(fingerprint="12")]}, "known/0/fingerprint: it is '12'"),
            ("no-new-findings", {"known": [known(expires="2027-02-30")]}, "the calendar has no such day"),
            ("no-new-findings", {"known": [known(), known()]}, "more than once"),
            ("counter-limits", {"limits": []}, "/rules/counter-limits/limits: it is empty"),
            ("counter-limits", {"limits": [limit]}, "limits/0: it limits nothing"),
            ("counter-limits", {"limits": [{**limit, "least": 1.5}]}, "limits/0/least: it is above 1"),
            ("counter-limits", {"limits": [{**limit, "most": 0.5}]}, "limits/0/most: it is 0.5"),
            ("counter-limits", {"limits": [{**limit, "most": 2}], "runs": 0}, "/rules/counter-limits/runs: it is 0"),
            ("counter-limits", {"limits": [{**limit, "most": 2}], "not-judged": "pass"}, "none of fail, note"),
            ("duration-limits", {"limits": [{"most": "2", "noise-ms": 1}]}, "limits/0/most: it is no number"),
        ):
            with self.subTest(name=name, parameters=parameters):
                self.assertIn(says, self.refused_rules({name: parameters}))

    def test_a_limit_that_could_never_act_is_no_number(self) -> None:
        for number in ("1e999", "NaN", "9" * 400):
            text = (
                f'{{"version": 1, "rules": {{"duration-limits": {{"limits": [{{"most": {number}, "noise-ms": 1}}]}}}}}}'
            )
            self.refused(text.encode())


class AgreementTest(unittest.TestCase):
    def test_the_schema_is_that_of_the_table(self) -> None:
        self.assertEqual(documentation.schema(), SCHEMA.read_text())
        jsonschema.Draft202012Validator.check_schema(json.loads(SCHEMA.read_text()))

    def test_the_guide_lists_the_rules_of_the_table(self) -> None:
        listed = LISTED.search(GUIDE.read_text())
        assert listed
        self.assertEqual(documentation.rules_in_markdown(), listed[0])

    def test_the_examples_are_read_and_meet_the_schema(self) -> None:
        validator = jsonschema.Draft202012Validator(json.loads(SCHEMA.read_text()))
        examples = sorted((TREE / "docs" / "policies").glob("*.json"))
        self.assertIn("pull-request.json", [path.name for path in examples])
        for path in examples:
            with self.subTest(file=path.name):
                validator.validate(load(path.read_bytes()))
                read_policy(path.read_bytes())

    def test_the_smallest_policies_meet_the_schema_and_what_it_refuses_is_refused(self) -> None:
        validator = jsonschema.Draft202012Validator(json.loads(SCHEMA.read_text()))
        validator.validate({"version": 1, "rules": SMALLEST})
        for rules in ({}, {"x": {}}, {"complete": {"x": 1}}, {"driver": {}}, {"sanitizers": {"on": ["x"]}}):
            self.assertFalse(validator.is_valid({"version": 1, "rules": rules}), rules)
            with self.assertRaises(GateError):
                policy_of(rules)


def _update() -> None:
    SCHEMA.write_text(documentation.schema())
    GUIDE.write_text(LISTED.sub(lambda match: documentation.rules_in_markdown(), GUIDE.read_text()))


if __name__ == "__main__":
    if "--update" in sys.argv:
        _update()
    else:
        unittest.main()
