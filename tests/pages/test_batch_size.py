"""The Batch size page with no run, a fixed size, a run in its trials, and one of many iterations."""

import pytest

from combee_core.batch_size import largest_worth
from combee_core.engine.settings import RunSettings
from combee_core.workspace import Workspace
from tests.pages.opened import html_of, open_page, primary_buttons
from tests.pages.recorded import record

PAGE = "batch_size.py"


AUTO = RunSettings(prompt="agent", batch="auto")


def test_without_a_run_the_page_leads_to_where_one_is_started(workspace: Workspace) -> None:
    at = open_page(PAGE)
    assert not at.exception
    assert primary_buttons(at) == ["Start learning"]


def test_a_fixed_batch_size_has_a_trajectory_and_no_curve(workspace: Workspace) -> None:
    record(workspace, RunSettings(prompt="agent", batch=6), 20)
    at = open_page(PAGE)
    assert not at.exception
    assert any("A fixed batch size" in caption.value for caption in at.caption)
    assert len(at.get("plotly_chart")) == 1
    assert [row["Batch size"] for row in at.dataframe[-1].value.to_dict("records")] == [6, 6, 6, 2]


def test_one_trial_is_no_curve_yet(workspace: Workspace) -> None:
    record(workspace, AUTO, 2_000, most=1)
    at = open_page(PAGE)
    assert not at.exception
    assert any("Two batch sizes" in caption.value for caption in at.caption)
    assert any("Trying batch sizes" in markdown.value for markdown in at.markdown)


@pytest.fixture
def many(workspace: Workspace) -> str:
    return record(workspace, AUTO, 5_000)


def test_many_iterations_show_the_curve_the_plateau_and_what_other_sizes_would_take(
    workspace: Workspace, many: str
) -> None:
    at = open_page(PAGE, run=many)
    assert not at.exception
    sizes = workspace.batch_sizes(many)
    assert len(at.get("plotly_chart")) == 2
    headline = at.markdown[0].value
    last = sizes.choices[-2]
    assert sizes.choices[-1].batch_size < last.batch_size
    assert headline.startswith(f"**{last.batch_size:,}**, {last.why.split(':')[0]}: ")
    page = html_of(at)
    assert f"{sizes.curve.alpha:.2f}" in page
    assert "Epoch, measured" in page
    table = at.dataframe[0].value.to_dict("records")
    assert table[0]["Batch size"] == "1, sequential"
    assert table[-1]["Batch size"] == "as this run chose"
    assert len(at.dataframe[1].value) == len(sizes.choices)


def test_a_plateau_that_moved_after_the_last_choice_is_said(workspace: Workspace) -> None:
    run = record(workspace, AUTO, 2_000, most=6)
    with workspace._database.write() as cursor:
        cursor.execute("update iterations set seconds = seconds * 0.6 where run = ? and iteration = 6", [run])
    sizes = workspace.batch_sizes(run)
    now = largest_worth(sizes.curve, sizes.grid[0], sizes.settings.tau)
    assert sizes.settled.iteration == 6
    assert now != sizes.settled.batch_size
    at = open_page(PAGE, run=run)
    assert any(caption.value.endswith(f"puts the plateau at {now:,}.") for caption in at.caption)


def test_a_larger_tau_chooses_a_smaller_batch_size_and_the_next_run_can_be_planned_with_it(
    workspace: Workspace, many: str
) -> None:
    at = open_page(PAGE, run=many)

    def offered() -> int:
        return int(at.button(key="batch_size_use").label.removeprefix("Plan a run with ").replace(",", ""))

    before = offered()
    at.select_slider(key=f"batch_size_tau:{many}").set_value(0.1).run()
    assert not at.exception
    assert offered() < before
    chosen = offered()
    at.button(key="batch_size_use").click().run()
    assert not at.exception
    at.switch_page("learn.py").run()
    assert at.session_state["learn_batch_size:32"] == chosen


def test_ends_that_leave_one_measured_size_are_told_and_draw_nothing_wrong(workspace: Workspace, many: str) -> None:
    at = open_page(PAGE, run=many)
    slider = next(each for each in at.select_slider if "that count" in each.label)
    first = workspace.batch_sizes(many).curve.points[0].batch_size
    slider.set_range(first, first).run()
    assert not at.exception
    assert any("move the ends apart" in caption.value for caption in at.caption)


def test_an_address_that_names_no_run_says_so(workspace: Workspace, many: str) -> None:
    at = open_page(PAGE, run="run-99")
    assert any("There is no run run-99" in warning.value for warning in at.warning)
