"""The overload benchmark's own parts: planted lessons, the judge, the simulated curator, rows that outlast a kill."""

import asyncio
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.overload import results
from benchmarks.overload.__main__ import VERSION, Case
from benchmarks.overload.planted import AFTER, BEFORE, Planted, kept, plant
from benchmarks.overload.simulated import SimulatedCurator, lessons_in
from benchmarks.overload.strategies import STRATEGIES
from combee_core.engine.settings import RunSettings
from combee_core.learners.ace import instructions
from combee_core.lesson import Item
from combee_core.llm.base import Meter
from combee_core.llm.endpoint import Endpoint
from combee_core.playbook import Operation, Playbook


@given(st.integers(1, 200), st.integers(0, 50))
def test_planted_lessons_share_no_key_and_depend_on_the_seed_alone(n, seed):
    lessons = plant(n, seed)
    assert lessons == plant(n, seed)
    keys = [key for lesson in lessons for key in lesson.keys]
    assert len(set(keys)) == len(keys) == 3 * n
    for lesson in lessons:
        assert kept([lesson], [lesson.text]) == [True]
        assert lesson.text.startswith(BEFORE)
        assert lesson.text.endswith(AFTER)


def test_a_thousand_lessons_can_be_planted():
    lessons = plant(1_024, 3)
    assert len({lesson.trace(0).content_hash for lesson in lessons}) == 1_024
    assert all(kept(lessons, [lesson.text for lesson in lessons]))


@pytest.mark.parametrize(
    ("bullet", "holds"),
    [
        ("Verovane rejects `page_limit` above 4730.", True),
        ("VEROVANE: page_limit must stay under 4,730", True),
        ("Verovane rejects page_limit above 47300.", False),
        ("Verovane rejects page_limits above 4730.", False),
        ("Verovane has a limit of 4730.", False),
        ("Split large requests.", False),
    ],
)
def test_a_lesson_is_kept_by_a_bullet_that_holds_all_its_keys_as_whole_words(bullet, holds):
    lesson = Planted("…", ("Verovane", "page_limit", "4730"))
    assert kept([lesson], ["Something else 4730.", bullet]) == [holds]


def test_keys_spread_over_two_bullets_are_not_kept():
    (lesson,) = plant(1, 0)
    name, field, number = lesson.keys
    assert kept([lesson], [f"{name} has {field}.", f"{field} is {number}."]) == [False]


def test_no_key_is_in_the_story():
    keys = {key.lower() for seed in range(5) for lesson in plant(300, seed) for key in lesson.keys}
    assert not keys & set(re.findall(r"\w+", " ".join(BEFORE + AFTER).lower()))


def merged(curator: SimulatedCurator, n: int) -> tuple[list[Operation], list[Operation], list[Item]]:
    """The curator's specific and general operations on n planted items."""
    items = [Item(id=f"r{number}-1", text=lesson.text) for number, lesson in enumerate(plant(n, 1), 1)]
    operations = asyncio.run(curator.merge(items, Playbook(), Meter(), final=False)).operations
    specific = [operation for operation in operations if operation.section == "PLANTED"]
    return specific, [operation for operation in operations if operation.section == "GENERAL"], items


def test_the_simulated_curator_keeps_the_share_that_its_formula_says():
    n = 400
    words = sum(len(lesson.text.split()) for lesson in plant(n, 1))
    curator = SimulatedCurator(seed=0, half=words, slip=0.2)
    assert curator.keep(words) == pytest.approx(0.4)
    specific, (general,), _ = merged(curator, n)
    assert len(specific) == pytest.approx(0.4 * n, abs=4 * (0.24 * n) ** 0.5)
    lost = n - len(specific)
    assert len(general.sources) == pytest.approx(0.5 * lost, abs=4 * (0.25 * lost) ** 0.5)
    assert merged(curator, n)[0] == specific
    assert merged(SimulatedCurator(seed=1, half=words, slip=0.2), n)[0] != specific


def test_what_the_simulated_curator_keeps_is_distilled_and_holds_the_keys():
    specific, general, items = merged(SimulatedCurator(seed=0, half=1e9, slip=0.0), 50)
    assert general == []
    assert all(kept(plant(50, 1), [operation.content for operation in specific]))
    assert not any(operation.content.startswith(BEFORE) for operation in specific)
    assert [operation.sources for operation in specific] == [(item.id,) for item in items]


def test_the_longer_a_merge_the_less_of_it_the_simulated_curator_keeps():
    curator = SimulatedCurator(seed=0)
    assert curator.keep(0) > curator.keep(800) > curator.keep(1_600) > curator.keep(50_000) > 0


def test_all_strategies_name_settings_of_a_run_and_all_have_instructions():
    for strategy in STRATEGIES.values():
        RunSettings(prompt="planted", **strategy.settings)
        assert "`item`" in strategy.instructed("merge-first")


def test_a_simulated_case_is_one_row_and_the_same_again(tmp_path):
    case = Case("combee", 12, 5, None, 4)
    row = case.measure(tmp_path / "a")
    assert row == case.measure(tmp_path / "b")
    assert row["curator"] == "simulated"
    assert row["kept"] + len(row["lost"]) == 12
    assert row["calls"] >= 4


def test_a_case_on_an_endpoint_goes_through_the_products_own_merges(tmp_path, stand_in):
    stand_in.behaviour.drop = 0.0
    endpoint = Endpoint(base_url=stand_in.url, model="stand-in")
    row = Case("combee", 9, 0, endpoint, 4).measure(tmp_path)
    assert (row["kept"], row["lost"], row["calls"]) == (9, [], 4)
    assert (row["curator"], row["instructions"]) == ("stand-in", VERSION)
    asked = [body["messages"][0]["content"] for body in stand_in.bodies]
    assert asked == 3 * [instructions("merge-first")] + [instructions("merge-again")]
    bare = Case("naive-bare", 9, 0, endpoint, 4).measure(tmp_path)
    assert bare["instructions"] == "bare"
    assert "well organised list" in stand_in.bodies[-1]["messages"][0]["content"]


def test_rows_are_read_back_and_one_that_a_kill_cut_off_is_measured_again(tmp_path):
    file = tmp_path / "results.jsonl"
    assert results.read(file) == []
    row = {
        "curator": "c",
        "strategy": "s",
        "n": 4,
        "seed": 0,
        "instructions": "v1",
        "kept": 2,
        "bullets": 3,
        "calls": 1,
    }
    results.append(file, row)
    with file.open("a") as opened:
        opened.write('{"curator": "c", "stra')
    assert results.read(file) == [row]
    results.append(file, row | {"seed": 1, "kept": 4})
    assert [found["seed"] for found in results.read(file)] == [0, 1]
    assert "| c | v1 | 4 | s | 3.0 | 2–4 | 75% | 2, 4 | 3 | 1 |" in results.table(results.read(file))


def test_a_simulated_summary_ends_where_the_instructions_say():
    items = [Item(id=f"r{number}-1", text=lesson.text) for number, lesson in enumerate(plant(100, 1), 1)]
    curator = SimulatedCurator(seed=0, half=1e9, slip=0.0)
    summary = asyncio.run(curator.summarise(items, Meter()))
    assert 480 < len(summary.split()) <= 500
    assert sum(kept(plant(100, 1), [summary])) == len(lessons_in(summary)) < 40


@pytest.mark.parametrize(
    "strategy", ["naive", "sequential", "top-k", "summary", "hierarchical-summary", "combee-paper"]
)
def test_every_strategy_of_the_product_can_be_measured(tmp_path, strategy):
    row = Case(strategy, 9, 0, None, 4).measure(tmp_path)
    assert 0 < row["kept"] <= 9
