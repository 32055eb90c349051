"""The proposals tab of the Prompts page: nothing, three and three hundred of them, answered by one click."""

from collections.abc import Sequence

import pytest
from streamlit.testing.v1 import AppTest

from combee_core.playbook import Playbook
from combee_core.store.runs import NodeRow, Runs
from combee_core.store.versions import Version
from combee_core.workspace import Workspace
from tests.pages.opened import html_of, open_page
from tests.pages.shelved import SCRIPT, bullet, shelve

PAGE = "prompts.py"


def lost(workspace: Workspace, texts: Sequence[str], contradictions: Sequence[tuple[int, int]] = ()) -> Version:
    """A candidate of a run whose merge took up none of these lessons, and reported some pairs as contradictions."""
    runs = Runs(workspace._database)
    run = runs.create("shop", {"retain": "review"}, [f"t-{number}" for number in range(1, len(texts) + 1)], None)
    nodes = [
        NodeRow(f"i1.r{n}", 1, "reflection", 0, n - 1, (), "done", {"lessons": [lesson(n, text)]}, 1.0, trace=f"t-{n}")
        for n, text in enumerate(texts, 1)
    ]
    found = [{"about": "which", "sources": [f"r{a}-1", f"r{b}-1"], "bullets": []} for a, b in contradictions]
    final = {"operations": [], "dropped": [f"r{n}-1" for n in range(1, len(texts) + 1)], "contradictions": found}
    inputs = tuple(node.id for node in nodes)
    runs.add_nodes(run, [*nodes, NodeRow("i1.final", 1, "final", 1, 0, inputs, "done", final, 1.0)])
    runs.set_state(run, "done")
    return shelve(workspace, Playbook(bullets=(bullet(1, "Stay calm."),)), run=run)


def lesson(number: int, text: str) -> dict[str, str]:
    return {"id": f"r{number}-1", "text": text, "section": "RULES", "evidence": f"said at step {number}"}


def opened(workspace: Workspace, version: Version) -> AppTest:
    at = open_page(PAGE, version=version.name)
    number = len(workspace.review.proposals(version))
    at.session_state[f"prompts_tab:{version.name}:candidate"] = f"Proposals ({number:,})"
    return at.run()


def answer(at: AppTest, version: Version, name: str, choice: str) -> AppTest:
    at.segmented_control(key=f"prompts_choice:{version.name}:{name}").set_value(choice).run()
    assert not at.exception
    return at.run()


def test_without_proposals_there_is_no_tab_for_them(workspace: Workspace) -> None:
    version = lost(workspace, [])
    at = open_page(PAGE, version=version.name)
    assert [tab.label for tab in at.tabs] == ["Changes", "Prompt text", "History"]
    assert "proposal" not in html_of(at)


def test_one_click_adds_a_lesson_and_the_approved_version_holds_it(workspace: Workspace) -> None:
    version = lost(workspace, ["Dates are ISO 8601.", f"Never send {SCRIPT} or **bold**."])
    at = opened(workspace, version)
    html = html_of(at)
    assert "Not taken up" in html
    assert "Dates are ISO 8601." in html
    assert SCRIPT not in html
    assert "0 of 2 answered" in html
    at = answer(at, version, "i1.r1-1", "accept")
    assert "1 of 2 answered" in html_of(at)
    workspace.review.accept_rest(version, "Ana")
    approved = workspace.approve(version.name, "Ana")
    assert [each.content for each in approved.playbook.bullets] == ["Stay calm.", "Dates are ISO 8601."]


def test_the_bar_of_the_changes_counts_the_open_proposals_and_does_not_wait_for_them(workspace: Workspace) -> None:
    version = lost(workspace, ["Dates are ISO 8601.", "Ask for the order."])
    workspace.review.accept_rest(version, "Ana")
    at = open_page(PAGE, version=version.name)
    assert "2 open proposals" in html_of(at)
    assert not next(each for each in at.button if each.label == "Approve").disabled


def test_both_sides_of_a_contradiction_stand_beside_each_other(workspace: Workspace) -> None:
    version = lost(workspace, ["To the card.", "As store credit.", "Ask for the order."], [(1, 2)])
    at = opened(workspace, version)
    (control,) = [each for each in at.segmented_control if each.key.endswith("i1.final.c1")]
    assert control.options == ["Keep A", "Keep B", "Keep both"]
    answer(at, version, "i1.final.c1", "2")
    assert workspace.review.answers(version)["i1.final.c1"].choice == "2"
    approved = workspace.approve(version.name, "Ana")
    assert [each.content for each in approved.playbook.bullets] == ["Stay calm.", "As store credit."]


def test_an_edited_lesson_is_added_in_the_reviewers_words(workspace: Workspace) -> None:
    version = lost(workspace, ["Dates are ISO 8601."])
    at = answer(opened(workspace, version), version, "i1.r1-1", "edit")
    at.text_area(key=f"prompts_edit:{version.name}:i1.r1-1").set_value("Dates are ISO 8601, in UTC.")
    next(each for each in at.button if each.label == "Save edit").click().run()
    assert not at.exception
    assert workspace.review.answers(version)["i1.r1-1"].content == "Dates are ISO 8601, in UTC."


@pytest.fixture
def many(workspace: Workspace) -> Version:
    texts = [f"Field number_{n} takes the unit {chr(97 + n % 26) * 6} of table_{n // 7}." for n in range(300)]
    return lost(workspace, texts, [(1, 2), (3, 4)])


def test_three_hundred_come_ten_to_a_page_and_are_found_by_kind_and_by_text(
    workspace: Workspace, many: Version
) -> None:
    at = opened(workspace, many)
    choices = [each for each in at.segmented_control if each.key.startswith("prompts_choice:")]
    assert len(choices) == 10
    at.segmented_control(key=f"prompts_offers_kind:{many.name}").set_value("contradiction").run()
    choices = [each for each in at.segmented_control if each.key.startswith("prompts_choice:")]
    assert [each.key.rsplit(":", 1)[1] for each in choices] == ["i1.final.c1", "i1.final.c2"]
    at.segmented_control(key=f"prompts_offers_kind:{many.name}").set_value(None).run()
    at.text_input(key="prompts_offers_search").set_value("number_123 takes").run()
    choices = [each for each in at.segmented_control if each.key.startswith("prompts_choice:")]
    assert [each.key.rsplit(":", 1)[1] for each in choices] == ["i1.r124-1"]
    at.text_input(key="prompts_offers_search").set_value("nothing like it").run()
    assert not at.exception
    assert [each.value for each in at.caption] == ["None of them matches: search for fewer words."]
