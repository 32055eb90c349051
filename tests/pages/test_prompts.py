"""The Prompts page on an empty, a small and a large store: reading a diff, deciding, approving, shipping."""

from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from combee_core.playbook import Playbook
from combee_core.store.runs import Runs
from combee_core.workspace import Workspace
from tests.pages.opened import bring, chat_record, html_of, learn, open_page, primary_buttons
from tests.pages.shelved import NEW, OLD, bullet, candidate, shelve, shelve_run

PAGE = "prompts.py"


@pytest.fixture
def shop(workspace: Workspace, tmp_path: Path) -> Workspace:
    """Version 1 approved; version 2 rewords b-1, removes b-2, adds b-4 and b-5."""
    candidate(workspace, bring(workspace, tmp_path, *map(chat_record, range(3))))
    return workspace


def button(at: AppTest, label: str):
    return next(each for each in at.button if each.label == label)


def decide(at: AppTest, bullet_id: str, choice: str, version: str = "shop@2") -> AppTest:
    """Decide one change, which redraws its row and the bar alone, and give the whole page again."""
    at.segmented_control(key=f"prompts_choice:{version}:{bullet_id}").set_value(choice).run()
    assert not at.exception
    return at.run()


def decisions(workspace: Workspace, version: str = "shop@2") -> dict[str, str]:
    return {name: made.choice for name, made in workspace.review.decisions(workspace.version(version)).items()}


def shown(workspace: Workspace, version: str, format: str = "markdown") -> str:
    """What is shown of an export: a code block leaves out the line end of the last line."""
    return workspace.export(version, format).removesuffix("\n")


def accept_rest(at: AppTest) -> AppTest:
    return button(at, "Accept all remaining").click().run()


def approve(at: AppTest, name: str = "Ana", note: str = "") -> AppTest:
    at.text_input(key="prompts_reviewer").set_value(name)
    at.text_input(key="prompts_note").set_value(note)
    return button(at, "Approve").click().run()


# What there is


def test_an_empty_store_says_so_in_one_sentence_and_leads_to_learn(workspace: Workspace):
    at = open_page(PAGE)
    assert not at.exception
    assert [each.value for each in at.markdown] == [
        "No prompt yet: a learning run writes the first version from your traces."
    ]
    assert primary_buttons(at) == ["Learn a first version"]


def test_one_prompt_opens_at_once_several_are_listed(shop: Workspace):
    assert open_page(PAGE).title[0].value == "shop"
    shelve(shop, OLD, prompt="claims")
    at = open_page(PAGE)
    assert at.title[0].value == "Prompts"
    assert "@2 waits for review" in html_of(at)
    at = at.button(key="prompts_open:claims").click().run()
    assert at.title[0].value == "claims"
    assert at.query_params["prompt"] == "claims"
    at = button(at, "All prompts").click().run()
    assert at.title[0].value == "Prompts"


def test_a_prompt_learnt_only_to_compare_strategies_says_so_and_waits_for_nobody(shop: Workspace):
    run = Runs(shop._database).create("claims-naive", {"compared_for": "claims"}, [], None)
    shelve(shop, OLD, prompt="claims-naive", run=run)
    html = html_of(open_page(PAGE))
    assert html.count("waits for review") == 1
    assert html.index("@2 waits for review") < html.index("learnt to compare strategies")
    tables = open_page().dataframe
    assert list(tables[-1].value["To review"]) == ["", "shop@2"]


def test_the_newest_version_is_open_and_each_version_can_be(shop: Workspace):
    at = open_page(PAGE)
    line = at.segmented_control(key="prompts_version")
    assert line.options == ["@2", "@1 ✓"]
    assert line.value == "shop@2"
    at = line.set_value("shop@1").run()
    assert at.query_params["version"] == "shop@1"
    html = html_of(at)
    assert "approved by Ana" in html
    assert "“the first”" in html


def test_a_version_is_told_by_status_run_size_and_time(shop: Workspace):
    html = html_of(open_page(PAGE))
    assert ">Candidate</span>" in html
    assert 'href="merges?run=run-1"' in html
    assert "4 bullets" in html
    assert f"{shop.versions('shop')[0]['created_at']:%b %Y, %H:%M}" in html


@pytest.mark.parametrize(
    ("address", "warning"),
    [
        ({"prompt": "shp"}, "There is no prompt “shp”."),
        ({"version": "shop@9"}, "There is no version shop@9: this is shop@2."),
        ({"version": "shop@2", "against": "shop@x"}, "There is no version shop@x: this is shop@1."),
    ],
)
def test_an_address_of_what_is_not_there_is_answered_in_words(shop: Workspace, address, warning):
    at = open_page(PAGE, **address)
    assert not at.exception
    assert [each.value for each in at.warning] == [warning]


def test_many_versions_are_all_in_the_history_and_the_last_ones_in_the_line(workspace: Workspace):
    for number in range(1, 10):
        shelve(workspace, Playbook(bullets=OLD.bullets[: 1 + number % 3]), parent=number - 1 or None)
    at = open_page(PAGE, version="shop@2")
    assert at.segmented_control(key="prompts_version").options == ["@9", "@8", "@7", "@6", "@5", "@4", "@2"]
    at.session_state["prompts_tab:shop@2:candidate"] = "History"
    at = at.run()
    assert list(at.dataframe[0].value["Version"]) == [f"shop@{number}" for number in range(9, 0, -1)]


# The diff


def test_changes_are_marked_word_by_word_with_their_evidence(shop: Workspace):
    html = html_of(open_page(PAGE))
    assert "2 added · 1 reworded · 1 removed" in html
    assert "Amounts are in <del>euros</del><ins>cents</ins>." in html
    assert "<del>Ask twice.</del>" in html
    assert "Seen in 3 traces, 2 failures" in html
    assert "Lesson 1: cents!" in html
    assert "Deleted for 1 lesson" in html
    assert "No traces on record for this bullet." in html
    trace = shop.traces()[1][0]["id"]
    assert f'href="traces?trace={trace}"' in html
    assert 'href="merges?run=run-1&amp;iteration=1&amp;node=i1.r1"' in html


def test_unchanged_bullets_are_shown_on_request(shop: Workspace):
    at = open_page(PAGE)
    assert "Stay calm." not in html_of(at)
    at = at.toggle(key="prompts_unchanged").set_value(True).run()
    assert "Stay calm." in html_of(at)


def test_text_of_bullets_is_never_html(shop: Workspace):
    html = html_of(open_page(PAGE))
    assert "<script>document" not in html
    assert "&lt;script&gt;document.body.innerHTML = &quot;gone&quot;&lt;/script&gt;" in html


def test_any_two_versions_can_be_compared_and_the_address_says_which(shop: Workspace):
    at = open_page(PAGE)
    at = at.selectbox(key="prompts_against").set_value("empty").run()
    assert at.query_params["against"] == "empty"
    assert "4 added" in html_of(at)
    again = open_page(PAGE, version="shop@1", against="shop@2")
    assert again.selectbox(key="prompts_against").value == "shop@2"
    again.session_state["prompts_tab:shop@1:approved"] = "Changes"
    assert "Amounts are in <del>cents</del><ins>euros</ins>." in html_of(again.run())


def test_changes_against_another_version_are_read_but_not_decided(shop: Workspace):
    at = open_page(PAGE, version="shop@2", against="empty")
    assert [each.key for each in at.segmented_control] == ["prompts_version"]
    assert [each.value for each in at.caption] == ["The changes of shop@2 are decided against shop@1."]
    assert not any(each.label == "Approve" for each in at.button)


def test_a_first_version_is_compared_with_the_empty_playbook(workspace: Workspace):
    shelve(workspace, NEW)
    at = open_page(PAGE)
    assert at.selectbox(key="prompts_against").value == "empty"
    assert "4 added" in html_of(at)
    assert "0 of 4 decided" in html_of(at)


# Deciding


def test_a_choice_is_stored_at_once_and_counted(shop: Workspace):
    at = decide(open_page(PAGE), "b-4", "reject")
    assert decisions(shop) == {"b-4": "reject"}
    at = decide(at, "b-1", "accept")
    assert decisions(shop) == {"b-4": "reject", "b-1": "accept"}
    html = html_of(at)
    assert "2 of 4 decided" in html
    assert "1 rejected" in html
    assert decisions_shown(open_page(PAGE)) == {"b-1": "accept", "b-2": None, "b-4": "reject", "b-5": None}


def decisions_shown(at: AppTest) -> dict[str, str | None]:
    controls = (each for each in at.segmented_control if each.label.startswith("Decision on "))
    return {each.label.removeprefix("Decision on "): each.value for each in controls}


def test_approval_waits_until_every_change_is_decided(shop: Workspace):
    at = open_page(PAGE)
    assert button(at, "Approve").disabled
    for name in ("b-1", "b-2", "b-4"):
        at = decide(at, name, "accept")
    assert button(at, "Approve").disabled
    at = decide(at, "b-5", "accept")
    assert not button(at, "Approve").disabled
    assert primary_buttons(at) == ["Approve"]


def test_accept_all_remaining_leaves_a_rejection_alone(shop: Workspace):
    at = accept_rest(decide(open_page(PAGE), "b-4", "reject"))
    assert decisions(shop) == {"b-4": "reject", "b-1": "accept", "b-2": "accept", "b-5": "accept"}
    assert "4 of 4 decided" in html_of(at)
    assert button(at, "Accept all remaining").disabled


def test_an_edit_counts_once_it_is_saved(shop: Workspace):
    at = decide(open_page(PAGE), "b-4", "edit")
    assert decisions(shop) == {}
    editor = at.text_area(key="prompts_edit:shop@2:b-4")
    assert editor.value == "Dates are ISO 8601."
    editor.set_value("Dates are ISO 8601, in UTC.")
    at = button(at, "Save edit").click().run()
    assert decisions(shop) == {"b-4": "edit"}
    html = html_of(at)
    assert "1 of 4 decided" in html
    assert "Dates are ISO 8601<ins>, in UTC</ins>." in html


def test_an_open_edit_is_left_undecided_even_when_the_rest_is_accepted(shop: Workspace):
    at = accept_rest(decide(open_page(PAGE), "b-4", "edit"))
    assert "3 of 4 decided" in html_of(at)
    assert button(at, "Approve").disabled
    at = button(at, "Cancel").click().run()
    assert "4 of 4 decided" in html_of(at)


def test_an_empty_edit_is_answered_in_words_and_stays_open(shop: Workspace):
    at = decide(open_page(PAGE), "b-4", "edit")
    at.text_area(key="prompts_edit:shop@2:b-4").set_value("  ")
    at = button(at, "Save edit").click().run()
    assert [each.value for each in at.error] == [
        "The edit of b-4 is empty: write the bullet's text, or reject the change."
    ]
    assert at.text_area(key="prompts_edit:shop@2:b-4")


def test_a_saved_edit_can_be_opened_again(shop: Workspace):
    shop.review.decide(shop.version("shop@2"), "b-4", "edit", "Ana", "Dates are ISO.")
    at = button(open_page(PAGE), "Change the edit").click().run()
    assert at.text_area(key="prompts_edit:shop@2:b-4").value == "Dates are ISO."
    assert "0 of 4 decided" in html_of(at)


# Approving


def test_approving_everything_approves_the_candidate_itself(shop: Workspace):
    at = approve(accept_rest(open_page(PAGE)), "Ben", "seen with the team")
    approved = shop.version("shop")
    assert (approved.name, approved.approved_by, approved.note) == ("shop@2", "Ben", "seen with the team")
    assert [each.value for each in at.success] == ["shop@2 is approved by Ben."]
    assert shop.preference("reviewer") == "Ben"
    assert at.query_params["version"] == "shop@2"


def test_approving_with_a_rejection_makes_a_new_version_and_says_so(shop: Workspace):
    at = approve(accept_rest(decide(open_page(PAGE), "b-5", "reject")))
    assert [each.value for each in at.success] == [
        "shop@3 is approved by Ana. It is a new version: shop@2 with your decisions put in."
    ]
    assert at.query_params["version"] == "shop@3"
    assert at.code[0].value == shown(shop, "shop")
    assert "Dates are ISO 8601." in at.code[0].value
    assert "Never send" not in at.code[0].value
    assert "from the review of @2" in html_of(at)


def test_a_candidate_that_was_reviewed_says_what_became_of_it(shop: Workspace):
    shop.review.decide(shop.version("shop@2"), "b-5", "reject", "Ana")
    shop.approve("shop@2", "Ana")
    at = open_page(PAGE, version="shop@2")
    assert [each.value for each in at.caption] == [
        "The review of shop@2 has led to shop@3; approving it once more makes another version."
    ]


def test_an_approval_without_a_name_is_answered_in_words(shop: Workspace):
    at = approve(accept_rest(open_page(PAGE)), "  ")
    assert [each.value for each in at.error] == ["An approval needs the name of who approves: fill it in."]
    assert shop.version("shop").name == "shop@1"


def test_the_name_is_remembered(shop: Workspace):
    shop.set_preference("reviewer", "Ana")
    assert open_page(PAGE).text_input(key="prompts_reviewer").value == "Ana"


def test_a_click_on_what_another_tab_has_approved_is_answered_in_words(shop: Workspace):
    at = open_page(PAGE)
    shop.approve("shop@2", "Ben")
    at = at.segmented_control(key="prompts_choice:shop@2:b-4").set_value("reject").run()
    assert [each.value for each in at.error] == ["shop@2 was approved already, by Ben: it cannot change any more."]
    assert decisions(shop) == {}


# Shipping


def test_an_approved_version_opens_with_its_text_downloads_and_the_way_agents_read_it(shop: Workspace):
    shop.approve("shop@2", "Ana")
    at = open_page(PAGE)
    assert at.code[0].value == shown(shop, "shop@2")
    assert at.code[1].value == "combee export shop"
    assert [each.label for each in at.download_button] == ["Markdown", "JSON", "ACE text"]
    for format in ("json", "ace"):
        at = at.segmented_control(key="prompts_format").set_value(format).run()
        assert at.code[0].value == shown(shop, "shop@2", format)


def test_the_text_of_a_candidate_says_what_the_name_stands_for(shop: Workspace):
    at = open_page(PAGE)
    at.session_state["prompts_tab:shop@2:candidate"] = "Prompt text"
    at = at.run()
    assert "shop alone stands for shop@1." in html_of(at)
    assert at.code[1].value == "combee export shop@2"


# Whole runs, and large ones


def test_the_version_of_a_whole_run_shows_the_lessons_behind_its_bullets(workspace: Workspace, tmp_path: Path):
    bring(workspace, tmp_path, *map(chat_record, range(8)))
    learn(workspace)
    html = html_of(open_page(PAGE))
    assert "Always multiply euros by 100" in html
    assert "Seen in 5 traces, 5 failures" in html
    assert "final merge</a>" in html


def large(workspace: Workspace) -> None:
    """500 bullets, of which 100 are reworded and 100 added."""
    old = Playbook(bullets=tuple(bullet(n, f"Rule {n} is good.", f"SECTION {n % 4}") for n in range(400)))
    new = [
        item.model_copy(update={"content": f"Rule {n} is better."}) if n < 100 else item
        for n, item in enumerate(old.bullets)
    ]
    new += [bullet(n, f"Rule {n} is new.", f"SECTION {n % 4}") for n in range(400, 500)]
    shelve(workspace, old)
    shelve(workspace, Playbook(bullets=tuple(new)), parent=1, run=shelve_run(workspace, 1, {}))


def test_two_hundred_changes_come_25_a_page(workspace: Workspace):
    large(workspace)
    at = open_page(PAGE)
    assert len(decisions_shown(at)) == 25
    assert "0 of 200 decided" in html_of(at)
    assert "left on pages 1, 2, 3…" in html_of(at)
    first = set(decisions_shown(at))
    at = at.pagination[0].set_value(8).run()
    assert len(decisions_shown(at)) == 25
    assert not first & set(decisions_shown(at))


def test_a_decision_on_a_late_page_is_kept_when_the_rest_is_accepted(workspace: Workspace):
    large(workspace)
    at = open_page(PAGE).pagination[0].set_value(8).run()
    assert list(decisions_shown(at))[-1] == "b-499"
    at = approve(accept_rest(decide(at, "b-499", "reject")))
    assert at.query_params["version"] == "shop@3"
    approved = workspace.version("shop").playbook
    assert len(approved) == 499
    assert approved.get("b-499") is None
