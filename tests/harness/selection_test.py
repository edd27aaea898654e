"""Names, seeds and shards: the filter's grammar, the forms of a seed, and what a case's seed depends on."""

from __future__ import annotations

import json
import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).absolute().parents[2]))

from harness.cli.cases import expand, select, shard, shuffled
from harness.cli.catalogue import Scenario, Variant, list_all_scenarios
from harness.cli.name_filter import has_positive_part, parse_filter
from harness.cli.problems import HarnessError, NothingSelected
from harness.cli.seed import format_seed, mix, parse_seed

NAMES = [
    ("A2.exec-outlives-node", "inline"),
    ("A2.exec-outlives-node", "thread"),
    ("A3.clone-keeps", "inline"),
    ("B1.plain", "inline"),
]


def _scenario(name: str, *variants: str, suites: tuple[str, ...] = ("default",)) -> Scenario:
    return Scenario(name, "", (), (), suites, tuple(map(Variant, variants)), (), ("model",), 20.0, "", 0)


class FilterTest(unittest.TestCase):
    def selected(self, text: str) -> list[int]:
        selects = parse_filter(text, NAMES)
        return [index for index, name in enumerate(NAMES) if selects(*name)]

    def test_a_name_selects_all_its_variants(self) -> None:
        self.assertEqual([0, 1], self.selected("A2.exec-outlives-node"))

    def test_a_full_name_selects_one(self) -> None:
        self.assertEqual([1], self.selected("A2.exec-outlives-node/thread"))

    def test_globs_are_joined_by_colons(self) -> None:
        self.assertEqual([0, 1, 3], self.selected("A2*:B?.plain"))

    def test_a_question_mark_is_exactly_one_character(self) -> None:
        self.assertEqual([3], self.selected("?1.plain"))
        self.assertEqual([], self.selected("B?1.plain"))

    def test_brackets_and_dots_mean_themselves(self) -> None:
        self.assertEqual([], self.selected("[AB]*"))
        self.assertEqual([], self.selected("A2xexec*"))

    def test_a_dash_after_the_positive_part_starts_the_negative_one(self) -> None:
        self.assertEqual([1, 3], self.selected("*-A2*/inline:A3*"))
        self.assertEqual([2], self.selected("A*-A2*"))

    def test_a_dash_at_the_start_leaves_everything_else(self) -> None:
        self.assertEqual([3], self.selected("-A*"))
        self.assertEqual([2, 3], self.selected("-A2.exec-outlives-node"))

    def test_a_dash_after_a_colon_starts_the_negative_part(self) -> None:
        self.assertEqual([0, 1, 2], self.selected("A*:-B*"))

    def test_a_dash_that_can_belong_to_a_name_stays_there(self) -> None:
        self.assertEqual([0, 1], self.selected("*-outlives-*"))
        self.assertEqual([0], self.selected("A2*-*/inline"))
        self.assertEqual([1], self.selected("A2*:-*/inline"))
        self.assertEqual([2], self.selected("A3.clone-keeps:A3*"))

    def test_names_with_dashes_can_be_followed_by_a_negative_part(self) -> None:
        self.assertEqual([0], self.selected("A2.exec-outlives-node-*/thread"))

    def test_only_a_filter_that_names_what_it_wants_has_a_positive_part(self) -> None:
        self.assertTrue(has_positive_part("A*-B*"))
        self.assertFalse(has_positive_part("-B*"))


class SeedTest(unittest.TestCase):
    def test_the_forms_of_a_seed(self) -> None:
        for text, value in (
            ("0x1c0ffee", 0x1C0FFEE),
            ("12", 12),
            ("0XFFFFFFFFFFFFFFFF", (1 << 64) - 1),
            ("da39a3ee5e6b4b0d3255bfef95601890afd80709", 0x95601890AFD80709),
        ):
            self.assertEqual(value, parse_seed(text))

    def test_what_is_no_seed(self) -> None:
        for text in ("", "-1", "0x", "ff", "1.5", "0x10000000000000000", "18446744073709551616", "\uff11"):
            with self.subTest(text=text), self.assertRaises(ValueError):
                parse_seed(text)

    def test_the_printed_form_reads_back(self) -> None:
        for seed in (0, 255, (1 << 64) - 1):
            self.assertEqual(seed, parse_seed(format_seed(seed)))
            self.assertEqual(18, len(format_seed(seed)))

    def test_mixing_depends_on_every_part_and_on_where_one_ends(self) -> None:
        mixed = [mix(1, "ab", "c"), mix(1, "a", "bc"), mix(2, "ab", "c"), mix(1, "ab", "c", 0), mix(1, "ab", "c", 1)]
        self.assertEqual(len(mixed), len(set(mixed)))

    def test_mixing_gives_the_same_everywhere(self) -> None:
        # Printed seeds live in bug reports: a change here makes all of them worthless.
        self.assertEqual(0xDBEE21A4A81CCED2, mix(0x1C0FFEE, "A2.exec-outlives-node", "inline", 0))


class CasesTest(unittest.TestCase):
    def test_a_seed_depends_on_no_other_case(self) -> None:
        both = [(scenario, scenario.variants[0]) for scenario in (_scenario("A1.a", "only"), _scenario("A2.b", "only"))]
        alone = expand(both[1:], 7, 0, 1)
        self.assertEqual(alone[0].seed, expand(both, 7, 0, 1)[1].seed)

    def test_first_runs_come_before_second_runs(self) -> None:
        scenario = _scenario("A1.a", "inline", "thread")
        cases = expand([(scenario, variant) for variant in scenario.variants], 7, 0, 2)
        self.assertEqual(
            [("inline", 0), ("thread", 0), ("inline", 1), ("thread", 1)],
            [(case.variant.name, case.run) for case in cases],
        )

    def test_shuffling_loses_nothing(self) -> None:
        scenario = _scenario("A1.a", "only")
        cases = expand([(scenario, scenario.variants[0])], 7, 0, 20)
        self.assertNotEqual(cases, shuffled(cases))
        self.assertEqual(sorted(case.run for case in cases), sorted(case.run for case in shuffled(cases)))

    def test_a_shard_does_not_depend_on_the_other_scenarios(self) -> None:
        pairs = [(scenario, scenario.variants[0]) for scenario in (_scenario(f"A{n}.a", "only") for n in range(20))]
        whole = [pair[0].name for pair in shard(pairs, 1, 3)]
        self.assertEqual([name for name in whole if name != "A0.a"], [pair[0].name for pair in shard(pairs[1:], 1, 3)])

    def test_a_suite_outweighs_a_glob_of_the_same_text(self) -> None:
        scenarios = [_scenario("stress", "only"), _scenario("S1.a", "only", suites=("stress",))]
        self.assertEqual(["S1.a"], [pair[0].name for pair in select(scenarios, ["stress"], None)])

    def test_a_word_that_selects_nothing_is_named_even_beside_one_that_does(self) -> None:
        with self.assertRaisesRegex(NothingSelected, "'B9'"):
            select([_scenario("A1.a", "only")], ["A1*", "B9"], None)

    def test_a_negative_filter_alone_stays_in_the_default_suite(self) -> None:
        scenarios = [
            _scenario("A1.a", "only"),
            _scenario("A2.b", "only"),
            _scenario("S1.c", "only", suites=("stress",)),
        ]
        self.assertEqual(["A1.a"], [pair[0].name for pair in select(scenarios, [], "-A2*")])


class CatalogueTest(unittest.TestCase):
    """Several programs that have the same scenarios, each for its interpreter."""

    def setUp(self) -> None:
        self.folder = Path(self.enterContext(tempfile.TemporaryDirectory()))

    def program(self, interpreter: str, summary: str = "", variant: str = "") -> Path:
        entry = {"scenario": "A8.a", "summary": summary, "interpreter": interpreter}
        entry["variants"] = [{"name": variant or interpreter}]  # type: ignore[assignment]
        path = self.folder / f"runner_{interpreter}"
        path.write_text(f"#!/bin/sh\necho '{json.dumps(entry)}'\n")
        path.chmod(0o755)
        return path

    def test_one_scenario_has_the_variants_of_all_programs(self) -> None:
        programs = [self.program("cp310"), self.program("cp312")]
        (scenario,) = list_all_scenarios(programs, {})
        self.assertEqual(["cp310", "cp312"], [variant.name for variant in scenario.variants])
        self.assertEqual(["cp310", "cp312"], [variant.interpreter for variant in scenario.variants])
        cases = expand([(scenario, variant) for variant in scenario.variants], 7, 0, 1)
        self.assertEqual(programs, [case.program for case in cases])

    def test_programs_must_agree(self) -> None:
        with self.assertRaisesRegex(HarnessError, r"says otherwise of A8\.a"):
            list_all_scenarios([self.program("cp310"), self.program("cp312", "another summary")], {})

    def test_a_variant_belongs_to_one_program(self) -> None:
        with self.assertRaisesRegex(HarnessError, "two programs"):
            list_all_scenarios([self.program("cp310", variant="only"), self.program("cp312", variant="only")], {})


if __name__ == "__main__":
    unittest.main()
