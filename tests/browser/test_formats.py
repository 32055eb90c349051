"""Files of three kinds in a real browser: a Harbor job as a zip, a Langfuse export, and a table that nobody knows."""

import io
import json
import re
import zipfile

from playwright.sync_api import Page, expect

from tests.browser.test_traces import atif, open_row, upload

TABLE = (
    b"what was wanted,what came out,stars out of 5,remark\nA rye loaf,A rye loaf,5,Crisp\nA cake,A bun,1,Not a cake\n"
)


def harbor_job() -> bytes:
    """A job of one trial: its trajectory, and its outcome in the trial's result beside it."""
    trial = {
        "task_name": "count-loaves",
        "trial_name": "count-loaves__a1",
        "config": {},
        "verifier_result": {"rewards": {"reward": 1.0}},
    }
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("job/result.json", json.dumps({"n_total_trials": 1, "stats": {}}))
        archive.writestr("job/count-loaves__a1/result.json", json.dumps(trial))
        archive.writestr("job/count-loaves__a1/agent/trajectory.json", atif("Count the loaves in the oven"))
    return packed.getvalue()


def langfuse_export() -> bytes:
    """A trace with its score, as Langfuse's download of one trace gives it."""
    call = {
        "id": "o1",
        "traceId": "t",
        "type": "GENERATION",
        "startTime": "2026-01-01T00:00:01Z",
        "input": [{"role": "user", "content": "How many rolls were sold?"}],
        "output": {"role": "assistant", "content": "84 rolls."},
    }
    score = {"name": "correctness", "value": 0, "dataType": "NUMERIC", "comment": "Subtract what came back."}
    trace = {
        "id": "t",
        "projectId": "p",
        "name": "baker",
        "timestamp": "2026-01-01T00:00:00Z",
        "input": "How many rolls were sold?",
        "output": "84 rolls.",
        "scores": [score],
    }
    return json.dumps({"trace": trace, "observations": [call]}).encode()


def find(page: Page, text: str) -> None:
    """Search for a text that one trace has, and open that trace."""
    search = page.get_by_role("searchbox", name="Text")
    search.fill(text)
    search.press("Enter")
    expect(page.get_by_role("button", name="Learn from 1 trace")).to_be_visible()
    expect(page.get_by_text("1–1 of 1.")).to_be_visible()
    expect(page.get_by_test_id("stApp")).to_have_attribute("data-test-script-state", "notRunning")
    open_row(page, 0)


def test_a_harbor_job_goes_in_as_a_zip_with_its_outcome_from_the_trial(page: Page, app_url: str):
    upload(page, app_url, ("job.zip", harbor_job()))
    receipt = page.locator(".st-key-traces_receipts")
    expect(receipt).to_contain_text("1 new trace from 1 file")
    expect(receipt.locator("summary")).to_have_text("2 files that hold no traces")
    find(page, "loaves in the oven")
    expect(page.locator(".cb-task")).to_have_text("Count the loaves in the oven")
    expect(page.locator(".cb-chip.cb-success")).to_have_text("✓ success · 1")


def test_a_langfuse_export_goes_in_with_its_score_and_comment(page: Page, app_url: str):
    upload(page, app_url, ("trace.json", langfuse_export()))
    expect(page.locator(".cb-receipts")).to_contain_text("Read as langfuse")
    find(page, "rolls were sold")
    expect(page.get_by_text("Subtract what came back.")).to_be_visible()
    expect(page.locator(".cb-chip.cb-failure")).to_be_visible()


def test_a_table_that_nobody_knows_is_mapped_in_the_browser_and_its_traces_are_found(page: Page, app_url: str):
    upload(page, app_url, ("bakery.csv", TABLE))
    form = page.get_by_test_id("stExpander").filter(has_text="Say what the columns mean")
    expect(form).to_contain_text("a table with 4 columns")
    answer = form.get_by_role("combobox", name="Answer")
    answer.click()
    page.get_by_role("option", name="what came out").click()
    expect(form.get_by_test_id("stDataFrame").locator("canvas").first).to_be_visible()
    form.get_by_role("button", name="Import with these columns").click()
    expect(page.locator(".st-key-traces_receipts")).to_contain_text("2 new traces from 1 file")
    page.get_by_role("button", name="Put away").click()
    expect(page.locator(".st-key-traces_receipts")).to_have_count(0)
    find(page, "A bun")
    expect(page.locator(".cb-task")).to_have_text("A cake")
    expect(page.get_by_text("Not a cake")).to_be_visible()
    page.get_by_text("Show the source line").click()
    expect(page.get_by_test_id("stCode").last).to_contain_text("A cake,A bun,1,Not a cake")


def test_rows_are_chosen_by_their_ticks_deleted_and_brought_back(page: Page, app_url: str):
    upload(page, app_url, ("trace.json", langfuse_export()), ("job.zip", harbor_job()))
    table = page.get_by_test_id("stDataFrame")
    expect(table.locator("canvas").first).to_be_visible()
    table.click(position={"x": 15, "y": 35 + 17})
    page.get_by_role("button", name="Delete 1", exact=True).click()
    expect(page.get_by_text("1 trace deleted.")).to_be_visible()
    page.get_by_role("button", name="Undo").click()
    expect(page.get_by_text("1 trace deleted.")).to_have_count(0)
    expect(page.get_by_role("button", name=re.compile(r"Delete all \d+"))).to_be_visible()
