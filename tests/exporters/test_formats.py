"""The text of a version in each export format."""

from datetime import UTC, datetime
from typing import Any

import orjson
import pytest

from combee_core.exporters import FORMATS, export
from combee_core.playbook import Bullet, Playbook, parse
from combee_core.store.versions import Version

NOW = datetime(2026, 1, 1, tzinfo=UTC)


def source(trace: str, run: str = "run-1", **more: Any) -> dict[str, Any]:
    entry = {
        "trace": trace,
        "reflection": "i1.r1",
        "node": "i1.final",
        "lesson": "r1-1",
        "via": ["i1.m1.1"],
        "run": run,
    }
    return entry | more


def version(*bullets: Bullet, **fields: Any) -> Version:
    given = {"status": "approved", "approved_by": "Ana", "approved_at": NOW, "run": "run-1", "sources": {}} | fields
    return Version("p", 3, 2, iteration=1, playbook=Playbook(bullets=bullets), next_number=9, created_at=NOW, **given)


def bullet(number: int, content: str, section: str = "RULES", helpful: int = 0, harmful: int = 0) -> Bullet:
    return Bullet(id=f"b-{number}", section=section, content=content, helpful=helpful, harmful=harmful)


def test_markdown_is_what_an_agent_reads_sections_as_headings_and_bullets_as_list_items() -> None:
    text = export(
        version(bullet(1, "amounts are in cents"), bullet(2, "tools fail"), bullet(3, "retry", "TOOLS")), "markdown"
    )
    assert text == "## RULES\n\n- amounts are in cents\n- tools fail\n\n## TOOLS\n\n- retry\n"


@pytest.mark.parametrize("line_end", ["\n", "\r\n", "\r"])
def test_further_lines_of_a_bullet_stay_inside_its_list_item(line_end: str) -> None:
    content = line_end.join(["first", "", "# not a heading", "- not a bullet"])
    assert export(version(bullet(1, content), bullet(2, "next")), "markdown") == (
        "## RULES\n\n- first\n\n  # not a heading\n  - not a bullet\n- next\n"
    )


def test_ace_text_holds_the_very_playbook() -> None:
    made = version(bullet(1, "two\nlines :: \\d+", helpful=3, harmful=1), bullet(2, "🐝", "TOOLS"))
    assert parse(export(made, "ace")) == made.playbook


def test_json_tells_version_status_and_where_each_bullet_comes_from() -> None:
    sources = {"b-1": [source("t-1"), source("t-2"), source("t-2", lesson="r2-1"), source("t-1", run="run-0")]}
    made = version(bullet(1, "cents", helpful=4, harmful=1), sources=sources)
    document = orjson.loads(export(made, "json", {"t-1": True, "t-2": False, "t-9": True}))
    bullets = document.pop("sections")[0]["bullets"]
    assert document == {"prompt": "p", "version": "p@3", "status": "approved", "approved_by": "Ana", "run": "run-1"}
    found = bullets[0].pop("sources")
    support = {"support": 2, "support_success": 1, "support_failure": 1}
    assert bullets == [{"id": "b-1", "content": "cents", "helpful": 4, "harmful": 1} | support]
    assert found[0] == {"trace": "t-1", "reflection": "i1.r1", "node": "i1.final", "lesson": "r1-1", "via": ["i1.m1.1"]}
    assert [entry.get("run") for entry in found] == [None, None, None, "run-0"], "only another run is named"


def test_json_of_a_bullet_without_sources_says_so() -> None:
    document = orjson.loads(export(version(bullet(1, "by hand")), "json"))
    assert (
        document["sections"][0]["bullets"][0] | {"support": 0, "sources": []} == document["sections"][0]["bullets"][0]
    )


def test_json_keeps_sections_apart_and_in_order() -> None:
    document = orjson.loads(export(version(bullet(1, "a", "B"), bullet(2, "b", "A")), "json"))
    assert [section["section"] for section in document["sections"]] == ["B", "A"]


def test_equal_playbooks_give_equal_bytes_whichever_version_they_are() -> None:
    first = version(bullet(1, "a"))
    second = version(bullet(1, "a"), status="candidate", approved_by=None, run="run-7")
    for format in ("markdown", "ace"):
        assert export(first, format) == export(second, format)


@pytest.mark.parametrize("format", FORMATS)
def test_an_empty_playbook_exports_in_every_format(format: str) -> None:
    text = export(version(), format)
    assert text == "" or orjson.loads(text)["sections"] == []
