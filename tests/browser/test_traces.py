"""The Traces page in a real browser: a file goes in, its receipt is there, a trace opens, and its text stays text."""

import json
import re
from pathlib import Path

from playwright.sync_api import Page, expect

from tests.importers.reading import SHARED, needs_shared
from tests.pages.opened import HOSTILE, chat_jsonl, chat_record


def atif(task: str) -> bytes:
    """A Harbor trajectory in the shape that Terminus writes."""
    steps = [
        {"step_id": 1, "source": "user", "message": task},
        {
            "step_id": 2,
            "source": "agent",
            "message": "Looking around.",
            "tool_calls": [{"tool_call_id": "c1", "function_name": "bash", "arguments": {"command": "ls -la /app"}}],
            "observation": {
                "results": [{"source_call_id": "c1", "content": "\n".join(f"file {n}" for n in range(90))}]
            },
        },
        {"step_id": 3, "source": "agent", "message": "All files are listed."},
    ]
    agent = {"name": "terminus", "version": "2.0", "model_name": "some-model"}
    return json.dumps({"schema_version": "ATIF-v1.5", "session_id": "s", "agent": agent, "steps": steps}).encode()


def hostile_record() -> dict[str, object]:
    call = {"id": "c", "type": "function", "function": {"name": "look", "arguments": json.dumps({"q": HOSTILE})}}
    return {
        "messages": [
            {"role": "user", "content": f"Hostile {HOSTILE}"},
            {"role": "assistant", "content": HOSTILE, "reasoning_content": HOSTILE, "tool_calls": [call]},
            {"role": "tool", "tool_call_id": "c", "content": HOSTILE},
        ],
        "feedback": HOSTILE,
        "success": False,
    }


def upload(page: Page, app_url: str, *files: tuple[str, bytes]) -> None:
    page.goto(f"{app_url}/traces")
    page.locator("input[type=file]").set_input_files(
        [{"name": name, "mimeType": "application/octet-stream", "buffer": content} for name, content in files]
    )
    expect(page.locator(".st-key-traces_receipts")).to_be_visible()


def open_row(page: Page, row: int) -> None:
    """Click into a row of the table, which is drawn on a canvas: while the page is being redrawn a click is lost."""
    expect(page.get_by_test_id("stApp")).to_have_attribute("data-test-script-state", "notRunning")
    table = page.get_by_test_id("stDataFrame")
    expect(table).to_have_count(1)
    expect(table.locator("canvas").first).to_be_visible()
    table.click(position={"x": 150, "y": 35 + 35 * row + 17})
    expect(page.get_by_role("heading", name="Conversation")).to_be_visible()


def test_a_harbor_trajectory_goes_in_gets_its_receipt_and_opens_as_a_conversation(page: Page, app_url: str):
    upload(page, app_url, ("trajectory.json", atif("List the files of /app")))
    receipt = page.locator(".cb-receipts")
    expect(receipt).to_contain_text("trajectory.json")
    expect(receipt).to_contain_text("1 new trace")
    expect(receipt).to_contain_text('Read as atif: record 1 has "schema_version" ATIF-v1.5')
    expect(page.get_by_test_id("stFileUploaderFile")).to_have_count(0)
    page.get_by_label("Text").fill("List the files of")
    page.get_by_label("Text").press("Enter")
    expect(page).to_have_url(re.compile(r"text=List"))
    open_row(page, 0)
    expect(page).to_have_url(re.compile(r"trace=t-[0-9a-f]{16}"))
    expect(page.locator(".cb-task")).to_have_text("List the files of /app")
    expect(page.get_by_test_id("stChatMessage")).to_have_count(4)
    expect(page.get_by_text("command: ls -la /app")).to_be_visible()
    expect(page.get_by_text("file 50")).to_have_count(0)
    page.get_by_role("button", name="Show all 90 lines").click()
    expect(page.get_by_text("file 50")).to_be_visible()


def test_back_leads_from_a_trace_to_the_list_and_a_link_to_a_trace_opens_it(page: Page, app_url: str):
    upload(page, app_url, ("chats.jsonl", chat_jsonl(*map(chat_record, range(3)))))
    open_row(page, 0)
    address = page.url
    page.go_back()
    expect(page.get_by_test_id("stDataFrame")).to_have_count(1)
    page.goto(address)
    expect(page.get_by_role("heading", name="Conversation")).to_be_visible()


def test_hostile_text_shows_as_text_and_nothing_is_asked_of_another_host(page: Page, app_url: str):
    """The fixture `page` fails the test on any request to another host."""
    upload(page, app_url, ("hostile.jsonl", chat_jsonl(hostile_record()) + f"{{broken {HOSTILE}\n".encode()))
    page.get_by_label("Text").fill("Hostile")
    page.get_by_label("Text").press("Enter")
    expect(page).to_have_url(re.compile(r"text=Hostile"))
    open_row(page, 0)
    page.get_by_text("Reasoning").click()
    main = page.get_by_test_id("stMain")
    expect(main.get_by_test_id("stChatMessage").nth(1).get_by_text(HOSTILE, exact=True).first).to_be_visible()
    expect(main.locator("img, script[src], iframe, .katex")).to_have_count(0)
    for text in main.locator(".cb-prose").all_inner_texts():
        assert "<script>fetch(" in text
    page.goto(f"{app_url}/traces?view=rejects")
    expect(page.locator(".cb-rejects pre").first).to_contain_text("<img src=")
    expect(page.get_by_test_id("stMain").locator("img")).to_have_count(0)


def test_rejects_are_downloaded_one_a_line_with_their_reason(page: Page, app_url: str):
    upload(page, app_url, ("broken.jsonl", chat_jsonl(chat_record(50)) + b"{broken\n"))
    page.get_by_role("button", name="Show rejects").click()
    expect(page).to_have_url(re.compile(r"view=rejects"))
    with page.expect_download() as download:
        page.get_by_role("button", name="Download 1 reject").click()
    (line,) = download.value.path().read_text().splitlines()
    reject = json.loads(line)
    assert (reject["file"], reject["line"]) == ("broken.jsonl", 2)
    assert "not valid JSON" in reject["reason"]
    assert reject["excerpt"].startswith("{broken")


@needs_shared
def test_a_real_file_of_each_format_goes_in(page: Page, app_url: str):
    files = (
        "openai_chat/tool_calls_reward.jsonl",
        "ace_finance/formula_test.head60.jsonl",
        "harbor_atif/harbor_openhands.json",
    )
    upload(page, app_url, *((Path(name).name, (SHARED / name).read_bytes()) for name in files))
    expect(page.locator(".st-key-traces_receipts")).to_contain_text("73 new traces from 3 files")


def test_a_click_on_a_header_opens_no_trace(page: Page, app_url: str):
    upload(page, app_url, ("more.jsonl", chat_jsonl(*map(chat_record, range(60, 63)))))
    table = page.get_by_test_id("stDataFrame")
    expect(table).to_have_count(1)
    expect(table.locator("canvas").first).to_be_visible()
    table.click(position={"x": 150, "y": 17})
    expect(page.get_by_test_id("stApp")).to_have_attribute("data-test-script-state", "notRunning")
    table.click(position={"x": 150, "y": 17})
    expect(page.get_by_test_id("stApp")).to_have_attribute("data-test-script-state", "notRunning")
    expect(table).to_be_visible()
    assert "trace=" not in page.url
