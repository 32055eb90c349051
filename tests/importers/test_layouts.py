"""Runs that lie in several files: put together by folder, from a folder, an archive or files given together."""

import json
from pathlib import Path
from typing import Any

from combee_core.importers import read_paths
from combee_core.trace import Trace
from tests.importers.reading import lines, read_all


def write(folder: Path, files: dict[str, Any]) -> Path:
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content if isinstance(content, str) else json.dumps(content))
    return folder


def step(number: int, source: str, message: str, **fields: Any) -> dict[str, Any]:
    return {"step_id": number, "source": source, "message": message, **fields}


def trial(reward: object, **fields: Any) -> dict[str, Any]:
    return {
        "task_name": "t",
        "trial_name": "t__abc",
        "trial_uri": "file:///home/me/jobs/t__abc",
        "verifier_result": {"rewards": {"reward": reward}} if reward is not None else None,
        "exception_info": None,
        **fields,
    }


TRAJECTORY = {"schema_version": "ATIF-v1.6", "steps": [step(1, "user", "Do it."), step(2, "agent", "Done.")]}


def only_trace(folder: Path) -> Trace:
    (trace,) = [trace for result in read_all(folder) for trace in result.traces]
    return trace


def test_a_reward_counts_even_with_an_exception(tmp_path: Path) -> None:
    error = {"exception_type": "AgentTimeoutError", "exception_message": "after 60 s"}
    job = write(tmp_path, {
        "job/t__abc/agent/trajectory.json": TRAJECTORY,
        "job/t__abc/result.json": trial(1.0, exception_info=error),
    })  # fmt: skip
    trace = only_trace(job)
    assert (trace.outcome.success, trace.outcome.score) == (True, 1.0)
    assert trace.feedback == "AgentTimeoutError: after 60 s"
    assert "/home/me" not in trace.model_dump_json()


def test_failures_of_the_infrastructure_say_nothing_about_the_agent(tmp_path: Path) -> None:
    error = {"exception_type": "EnvironmentBuildError", "exception_message": "no image"}
    job = write(tmp_path, {
        "t__abc/agent/trajectory.json": TRAJECTORY,
        "t__abc/result.json": trial(None, exception_info=error),
    })  # fmt: skip
    trace = only_trace(job)
    assert trace.outcome.success is None
    assert trace.metadata["infrastructure_failure"] is True


def test_the_reward_may_stand_in_a_file_of_its_own(tmp_path: Path) -> None:
    files = {"t__abc/agent/trajectory.json": TRAJECTORY, "t__abc/verifier/reward.txt": "0.0\n"}
    assert only_trace(write(tmp_path, files)).outcome.success is False


def test_continued_trajectories_are_joined_without_the_copied_steps(tmp_path: Path) -> None:
    copied = step(1, "agent", "Done.", is_copied_context=True)
    job = write(tmp_path, {
        "t__abc/result.json": trial(0.0),
        "t__abc/agent/trajectory.json": {**TRAJECTORY, "continued_trajectory_ref": "trajectory.cont-1.json"},
        "t__abc/agent/trajectory.cont-1.json": {**TRAJECTORY, "steps": [copied, step(2, "agent", "Really done.")]},
    })  # fmt: skip
    assert [message.text for message in only_trace(job).messages] == ["Do it.", "Done.", "Really done."]


def test_a_trial_without_a_trajectory_is_read_from_the_agents_own_log(tmp_path: Path) -> None:
    log = lines(
        {"type": "system", "subtype": "init", "session_id": "s"},
        {"type": "assistant", "session_id": "s", "message": {"id": "m", "role": "assistant", "content": "I did it."}},
    )
    job = write(tmp_path, {"t__abc/agent/claude-code.txt": "installing…\n" + log, "t__abc/result.json": trial(1.0)})
    trace = only_trace(job)
    assert (trace.messages[0].text, trace.outcome.success, trace.source.format) == ("I did it.", True, "harbor")


def test_traces_that_lie_beside_the_trials_of_a_job_come_in_as_well(tmp_path: Path) -> None:
    said = {"messages": [{"role": "user", "content": "q"}, {"role": "assistant", "content": "a"}]}
    job = write(tmp_path, {
        "job/t__abc/agent/trajectory.json": TRAJECTORY,
        "job/t__abc/result.json": trial(1.0),
        "job/config.json": {"n_attempts": 1},
        "job/chats.jsonl": said,
    })  # fmt: skip
    found = {result.reading.shown.rpartition("job/")[2]: result for result in read_all(job)}
    assert [trace.task for trace in found["chats.jsonl"].traces] == ["q"]
    assert found["config.json"].reading.skipped == "part of the Harbor job, holds no trace itself"


def test_tau2_simulations_are_joined_with_their_tasks(tmp_path: Path) -> None:
    simulation = {"id": "s1", "task_id": "7", "termination_reason": "max_steps", "messages": [
        {"role": "user", "content": "Help."}, {"role": "assistant", "content": "How?"}]}  # fmt: skip
    head = {"timestamp": "x", "info": {"environment_info": {"policy": "Be kind."}}, "tasks": [{"id": 7, "ticket": "T"}]}
    run = write(tmp_path, {"results.json": head, "simulations/s1.json": simulation})
    trace = only_trace(run)
    assert [message.text for message in trace.messages] == ["Be kind.", "Help.", "How?"]
    assert (trace.outcome.success, trace.metadata["ticket"]) == (False, "T")
    assert trace.feedback == "The conversation ended by max_steps."


def test_openhands_events_of_a_folder_are_one_trace(tmp_path: Path) -> None:
    said = {"kind": "MessageEvent", "id": "1", "timestamp": "t", "source": "user",
            "llm_message": {"role": "user", "content": [{"type": "text", "text": "Fix it."}]}}  # fmt: skip
    done = {**said, "id": "2", "source": "agent", "llm_message": {"role": "assistant", "content": "Fixed."}}
    write(
        tmp_path,
        {"base_state.json": {"agent": {}}, "events/event-00000-a.json": said, "events/event-00001-b.json": done},
    )
    results = read_all(tmp_path)
    assert [len(result.traces) for result in results] == [0, 1, 0]
    assert [message.text for message in results[1].traces[0].messages] == ["Fix it.", "Fixed."]


def test_calls_that_continue_each_other_are_one_trace_even_in_files_of_their_own(tmp_path: Path) -> None:
    said = [{"role": "user", "content": "q"}, {"role": "assistant", "content": "a"}, {"role": "user", "content": "r"}]
    calls = {
        f"call-{number}.json": {"messages": said[:length], "response": {"choices": [{"message": answer}]}}
        for number, (length, answer) in enumerate([(1, said[1]), (3, {"role": "assistant", "content": "b"})])
    }
    trace = only_trace(write(tmp_path / "logs", calls))
    assert [message.text for message in trace.messages] == ["q", "a", "r", "b"]
    assert trace.metadata["calls"] == 2
    chosen = list(read_paths(sorted((tmp_path / "logs").iterdir())))
    assert [len(list(reading)) for reading in chosen] == [1, 1]


def test_files_that_are_given_together_are_joined_as_well(tmp_path: Path) -> None:
    said = {"input": [{"role": "user", "content": "q"}], "output": {"role": "assistant", "content": "a"}}
    observation = {"id": "o", "traceId": "t", "type": "GENERATION", "startTime": "2026-01-01T00:00:00Z", **said}
    score = {"traceId": "t", "name": "correctness", "dataType": "NUMERIC", "value": 1, "comment": "right"}
    write(tmp_path, {"observations.jsonl": lines(observation), "scores.jsonl": lines(score)})
    readings = list(read_paths([tmp_path / "observations.jsonl", tmp_path / "scores.jsonl"]))
    (trace,) = [entry for entry in readings[0] if isinstance(entry, Trace)]
    assert (trace.outcome.success, trace.feedback) == (True, "correctness (1): right")
    assert readings[1].skipped == "table of the same Langfuse project"
