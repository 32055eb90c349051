"""Inspect AI logs: JSON, and `.eval` files, which are zip archives with a header and a file for each sample.

Written by Inspect. Seen: log versions 2 and 3, releases 0.3.41 to 0.3.285; since 0.3.206 members are compressed with
zstd. Long texts stand apart in `attachments`. A sample of several epochs is several traces. Scores "C", "P", "I", "N"
are 1, 0.5, 0 and 0; several scorers are all kept.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from combee_core.importers.base import Context, Record, RecordError, Reject
from combee_core.importers.blob import Blob
from combee_core.importers.messages import read_messages, task_of
from combee_core.importers.outcome import number_of, outcome_of_scores, text_of, verdict_of
from combee_core.importers.runs import Files, Run, join
from combee_core.trace import Message, Outcome, Trace

_GRADES = {"C": 1.0, "I": 0.0, "P": 0.5, "N": 0.0}
_POINTERS = ("attachment://", "tc://")
_KEPT = ("id", "epoch", "metadata", "limit", "model_usage", "total_time")


class InspectLog:
    """Inspect's JSON logs."""

    name = "inspect"
    title = "Inspect logs"
    gathers = False

    def recognise(self, record: object) -> str | None:
        if not isinstance(record, dict) or not isinstance(record.get("eval"), dict):
            return None
        found = next((key for key in ("samples", "plan") if key in record), None)
        found = found or ("status" if "version" in record and "status" in record else None)
        return f'has "eval" and "{found}"' if found else None

    def read(self, records: Sequence[Record], context: Context) -> Iterable[Trace | Reject]:
        for record in records:
            samples = record.value.get("samples")
            if not isinstance(samples, list) or not samples:
                raise RecordError(
                    "The log holds no samples: Inspect was told not to log them, or the run did not get that far."
                )
            yield from _read_samples(((Record(sample, index=number), sample) for number, sample in enumerate(samples)),
                                     record.value["eval"], context)  # fmt: skip


class InspectArchive:
    """Inspect's `.eval` archives."""

    name = "inspect"
    title = InspectLog.title

    def runs(self, files: Files) -> Iterator[Run]:
        for folder in files.folders:
            heads = [join(folder, name) for name in ("header.json", "_journal/start.json")]
            samples = files.in_folder(join(folder, "samples"))
            head = next((path for path in heads if path in files), None)
            if head is not None and samples:
                others = [join(folder, name) for name in ("summaries.json", "reductions.json")]
                others += files.below(join(folder, "_journal"))
                parts = dict.fromkeys([*samples, *heads, *others], "part of the Inspect log")
                yield Run(_archive(files[head], folder), self.name, f"has {head.rpartition('/')[2]} and samples/",
                          _reader(files, head, samples), parts)  # fmt: skip


def _archive(blob: Blob, folder: str) -> Blob:
    """The archive as a whole stands for its members."""
    prefix = blob.member.rpartition("!")[0]
    return Blob(blob.name, blob.open, prefix if folder else "", path=blob.path) if blob.member else blob


def _reader(files: Files, head: str, samples: Sequence[str]) -> Any:
    def read() -> Iterator[Trace | Reject]:
        about = files.json_object(head).get("eval")
        blob = files[head]
        rows = ((Record(None, index=number), files.json_object(path)) for number, path in enumerate(samples))
        yield from _read_samples(
            rows, about if isinstance(about, dict) else {}, Context(blob.name, InspectArchive.name)
        )

    return read


def _read_samples(
    samples: Iterable[tuple[Record, Any]], about: Mapping[str, Any], context: Context
) -> Iterator[Trace | Reject]:
    for record, sample in samples:
        try:
            yield _read_sample(sample if isinstance(sample, dict) else {}, record, about, context)
        except RecordError as error:
            yield context.reject(record, str(error))


def _read_sample(sample: Mapping[str, Any], record: Record, about: Mapping[str, Any], context: Context) -> Trace:
    attachments = sample.get("attachments")
    sample = _with_attachments(sample, attachments) if isinstance(attachments, dict) else sample
    asked, messages = sample.get("input"), sample.get("messages")
    conversation = read_messages(messages if isinstance(messages, list) else [])
    if not conversation:
        conversation = _without_messages(asked, sample.get("output"))
    task = asked if isinstance(asked, str) else task_of(read_messages(asked if isinstance(asked, list) else []))
    if not conversation:
        raise RecordError("The sample holds no messages.")
    kept = {key: sample[key] for key in _KEPT if sample.get(key) not in (None, {}, [])}
    kept |= {key: about[key] for key in ("task", "model") if about.get(key)}
    return Trace(
        task=task or task_of(conversation),
        messages=conversation,
        source=context.source(record),
        outcome=_outcome(sample.get("scores")),
        feedback=_feedback(sample),
        reference=text_of(sample.get("target")),
        metadata=kept,
    )


def _without_messages(asked: object, output: object) -> tuple[Message, ...]:
    choices = output.get("choices") if isinstance(output, dict) else None
    said = [
        choice["message"]
        for choice in choices or []
        if isinstance(choice, dict) and isinstance(choice.get("message"), dict)
    ]
    items = asked if isinstance(asked, list) else [{"role": "user", "content": asked}]
    return read_messages([*items, *said[:1]])


def _with_attachments(value: Any, attachments: Mapping[str, Any]) -> Any:
    """The sample's own fields with long texts put back; events are not used, hence left as they are."""
    if isinstance(value, str):
        pointer = next((pointer for pointer in _POINTERS if value.startswith(pointer)), None)
        return attachments.get(value.removeprefix(pointer), value) if pointer else value
    if isinstance(value, list):
        return [_with_attachments(item, attachments) for item in value]
    if isinstance(value, dict):
        left = ("events", "attachments", "store", "transcript")
        return {key: item if key in left else _with_attachments(item, attachments) for key, item in value.items()}
    return value


def _outcome(scores: object) -> Outcome:
    found: dict[str, float] = {}
    verdict: bool | None = None
    for name, score in scores.items() if isinstance(scores, dict) else ():
        value = score.get("value") if isinstance(score, dict) else score
        for key, item in value.items() if isinstance(value, dict) else (("", value),):
            number = _GRADES.get(item) if isinstance(item, str) and item in _GRADES else number_of(item)
            if number is not None:
                found[f"{name}.{key}" if key else str(name)] = number
            elif verdict is None:
                verdict = verdict_of(item)
    return outcome_of_scores(found, verdict)


def _feedback(sample: Mapping[str, Any]) -> str:
    scores = sample.get("scores")
    said = [
        str(score["explanation"]).strip()
        for score in (scores.values() if isinstance(scores, dict) else ())
        if isinstance(score, dict) and score.get("explanation")
    ]
    error = sample.get("error")
    if isinstance(error, dict) and error.get("message"):
        said.append(str(error["message"]))
    return "\n\n".join(said)
