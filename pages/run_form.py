"""What a learning run is to do, as a form: every widget keeps its value when the reader leaves the page."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import streamlit as st
from pydantic import ValidationError

from combee_core.engine.dealing import fixed_size
from combee_core.engine.settings import RunSettings, what_is_wrong
from combee_core.llm.endpoint import Endpoint
from combee_core.scan import Shuffle
from combee_core.store.traces import TraceFilter
from combee_core.strategies import STRATEGIES, StrategyName
from combee_core.workspace import Workspace

FIRST_NAME = "my-agent"
RUN_DEFAULTS = "run_defaults"
"""Name of the preference that holds the values with which the form begins; Settings changes it."""
SHUFFLES: dict[str, Shuffle] = {"Apart": "apart", "Plain": "plain", "None": "none"}

_ANY = {"format": "Any format", "outcome": "Any outcome", "tag": "Any tag"}
_CHOSEN = "learn_chosen"

LEFT_OUT: dict[str, dict[str, Any]] = {
    "Ask, then review": {"recheck": True, "retain": "review", "fold_twins": True},
    "Ask, then carry": {"recheck": True, "retain": "carry", "fold_twins": True},
    "Ask, then drop": {"recheck": True, "retain": "off", "fold_twins": True},
    "As in the paper": {"recheck": False, "retain": "off", "fold_twins": False},
}


@dataclass(frozen=True)
class Planned:
    """A run that could start: its settings, the traces it learns from and how many there are."""

    settings: RunSettings
    which: TraceFilter
    traces: int


def run_form(workspace: Workspace, with_strategy: bool = True) -> Planned | None:
    """Draw the form; None, with a sentence beneath the field, while the prompt's name cannot be used.

    Without `with_strategy` there is no field for it: whoever asks knows it already.
    """
    prompt = _prompt(workspace)
    base = _base(workspace, prompt)
    which, traces = _traces(workspace)
    defaults = _defaults(workspace)
    size, parallel, copies = st.columns(3)
    endpoint = workspace.endpoint()
    values: dict[str, Any] = {"prompt": prompt, "base": base}
    with size:
        values["batch"] = _batch(defaults)
    with parallel:
        values["parallel"] = _number("Parallel", defaults.parallel, 1, 4_096, "Calls in flight at most, at any time.")
    with copies:
        help_ = "Each reflection goes to this many groups, so that a good lesson gets more than one chance."
        values["copies"] = _number("Copies", defaults.copies, 1, 16, help_)
    with st.expander("Advanced", key="learn_advanced"):
        values |= _strategy() if with_strategy else {}
        values |= _advanced(defaults)
        values["endpoint"] = _with_embeddings(endpoint)
    try:
        return Planned(RunSettings(**values), which, traces)
    except ValidationError as error:
        name = (
            "This cannot be a prompt's name: start with a letter or a digit, then letters, digits, dots, dashes and "
            "underscores, 100 at most."
        )
        st.error(name if error.errors()[0]["loc"] == ("prompt",) else what_is_wrong(error))
        return None


def _defaults(workspace: Workspace) -> RunSettings:
    """The values with which the form begins."""
    return RunSettings(prompt=FIRST_NAME, **(workspace.preference(RUN_DEFAULTS) or {}))


def _prompt(workspace: Workspace) -> str:
    """An existing prompt or a new name; at first the one that learnt last."""
    known = [row["prompt"] for row in workspace.prompts()]
    latest = next((row["settings"].get("compared_for") or row["prompt"] for row in workspace.runs()), FIRST_NAME)
    names = list(dict.fromkeys([*known, latest]))
    if (typed := st.session_state.setdefault("learn_prompt", latest)) not in names:
        names.append(typed)
    chosen = st.selectbox(
        "Prompt",
        names,
        key="learn_prompt",
        accept_new_options=True,
        persist_state="session",
        help="The prompt that learns. Type a name to begin a new one.",
    )
    return (chosen or "").strip()


def _base(workspace: Workspace, prompt: str) -> str | None:
    """The version to start from; None leaves the choice to the workspace: the latest approved one, else empty."""
    row = next((row for row in workspace.prompts() if row["prompt"] == prompt), None)
    if row is None:
        st.selectbox(
            "Start from", ["An empty playbook"], disabled=True, help="A new prompt has no version to start from."
        )
        return None
    first = (
        f"{prompt}@{row['approved']}, the latest approved" if row["approved"] else "An empty playbook: none is approved"
    )
    versions = [f"{prompt}@{each['version']}" for each in workspace.versions(prompt)]
    chosen = st.selectbox(
        "Start from",
        [first, *versions],
        key=f"learn_base:{prompt}:{row['approved']}",
        persist_state="session",
        help="The version whose bullets the run goes on from. It makes a new version and leaves this one as it is.",
    )
    return None if chosen == first else chosen


def plan_from(which: TraceFilter) -> None:
    """Fill the form in with traces that were chosen elsewhere: all, those of a filter, or some by hand."""
    state = st.session_state
    state[_CHOSEN] = tuple(which.ids)
    state["learn_traces"] = "Chosen" if which.ids else "Some" if which != TraceFilter() else "All"
    state["learn_format"] = which.format or _ANY["format"]
    state["learn_outcome"] = (which.outcome or _ANY["outcome"]).capitalize()
    state["learn_tag"] = which.tag or _ANY["tag"]
    state["learn_text"] = which.text
    state["learn_min_score"], state["learn_max_score"] = which.min_score, which.max_score


def _traces(workspace: Workspace) -> tuple[TraceFilter, int]:
    """Which traces to learn from, and how many those are."""
    chosen = st.session_state.get(_CHOSEN, ())
    every = st.segmented_control(
        "Traces",
        ("All", "Some", "Chosen") if chosen else ("All", "Some"),
        default="All",
        key="learn_traces",
        required=True,
        persist_state="session",
        help="Learn from every trace, from those that match some filters, or from those chosen on the Traces page.",
    )
    which = TraceFilter()
    if every == "Some":
        which = _filtered(workspace)
    elif every == "Chosen":
        which = TraceFilter(ids=chosen)
    number, _ = workspace.traces(which, limit=0)
    st.caption(f"{number:,} of {workspace.trace_counts()['total']:,} traces")
    return which, number


def _filtered(workspace: Workspace) -> TraceFilter:
    """The filters that the Traces page has, in two rows."""
    formats = [_ANY["format"], *workspace.trace_formats()]
    tags = [_ANY["tag"], *(row["tag"] for row in workspace.tags())]
    outcomes = {_ANY["outcome"]: None, "Success": "success", "Failure": "failure", "Unknown": "unknown"}
    by_format, by_outcome, by_text = st.columns(3)
    by_tag, least, most = st.columns(3)
    with by_format:
        format_ = _quiet_select("Format", formats, "learn_format")
    with by_outcome:
        outcome = _quiet_select("Outcome", list(outcomes), "learn_outcome")
    with by_text:
        text = st.text_input(
            "Text",
            key="learn_text",
            type="search",
            live=True,
            placeholder="Any text",
            label_visibility="collapsed",
            persist_state="session",
        )
    with by_tag:
        tag = _quiet_select("Tag", tags, "learn_tag")
    with least:
        min_score = _quiet_score("Score from", "learn_min_score")
    with most:
        max_score = _quiet_score("Score to", "learn_max_score")
    return TraceFilter(
        format=None if format_ == _ANY["format"] else format_,
        outcome=outcomes[outcome],
        text=(text or "").strip(),
        tag=None if tag == _ANY["tag"] else tag,
        min_score=min_score,
        max_score=max_score,
    )


def _strategy() -> dict[str, StrategyName]:
    """How the reflections of a batch become one update."""
    chosen = st.selectbox(
        "Strategy",
        list(STRATEGIES),
        key=_key("Strategy"),
        format_func=lambda name: f"{name} – {STRATEGIES[name].about}",
        persist_state="session",
        help="How reflections become one update: the paper's method, or a baseline that it is measured against.",
    )
    return {"strategy": chosen}


def _advanced(defaults: RunSettings) -> dict[str, Any]:
    """The tree in detail, what becomes of lessons that a merge leaves out, and budgets."""
    values: dict[str, Any] = {}
    groups, fan_in, epochs, seed = st.columns(4)
    with groups:
        help_ = "Merges side by side before the final one. Automatic: the square root of the batch size."
        values["groups"] = _optional("Groups", "auto", help_)
    with fan_in:
        help_ = (
            "Inputs of a merge above the groups at most; more make a further level. Automatic: the square root of the "
            "batch size, times the copies."
        )
        values["fan_in"] = _optional("Fan-in", "auto", help_, least=2)
    with epochs:
        values["epochs"] = _number("Epochs", defaults.epochs, 1, 100, "How often the run goes through all traces.")
    with seed:
        help_ = "Decides which trace meets which: the same seed gives the same tree."
        values["seed"] = _number("Seed", defaults.seed, 0, 2**31, help_)
    help_ = (
        "Apart puts copies of a reflection into different groups, plain leaves that to chance, none keeps the order."
    )
    values["shuffle"] = SHUFFLES[_choice("Shuffle", list(SHUFFLES), help_)]
    help_ = (
        "What happens to lessons that a merge does not cite: it is asked again for them, and what it leaves out even "
        "then is offered in the review, carried on as it is, or listed as dropped. As in the paper: not asked again."
    )
    values |= LEFT_OUT[_choice("Lessons left out", list(LEFT_OUT), help_)]
    values |= _flow()
    support, size, _ = st.columns(3)
    with support:
        help_ = "New bullets with fewer traces behind them are held back: the review offers them."
        values["min_support"] = _optional("Fewest traces a bullet", "1", help_)
    with size:
        help_ = "Beyond this size the review proposes the least supported bullets for removal."
        values["playbook_tokens"] = _optional("Tokens of the prompt", "no limit", help_, least=100)
    calls, tokens, cost = st.columns(3)
    with calls:
        values["max_calls"] = _optional("Most calls", "no limit", "The run stops before it passes this budget.")
    with tokens:
        help_ = "In and out; the run stops before it passes this budget."
        values["max_tokens"] = _optional("Most tokens", "no limit", help_)
    with cost:
        help_ = "US dollars; it cannot hold for a model whose price is unknown."
        values["max_cost"] = _optional("Most cost", "no limit", help_, least=0.01)
    minutes, requests, tokens = st.columns(3)
    with minutes:
        values["max_minutes"] = _optional("Most minutes", "no limit", "The run stops when it has worked for so long.")
    with requests:
        help_ = "What the endpoint allows: calls wait so that no minute holds more requests, retries too."
        values["rpm"] = _optional("Requests a minute", "no cap", help_)
    with tokens:
        help_ = "What the endpoint allows, in and out: calls wait so that no minute holds more tokens."
        values["tpm"] = _optional("Tokens a minute", "no cap", help_, least=1_000)
    return values


def _with_embeddings(endpoint: Endpoint | None) -> Endpoint | None:
    """The endpoint with the model for embeddings that this run is to use; no field where there is no endpoint."""
    if endpoint is None:
        return None
    chosen = st.text_input(
        "Embedding model",
        value=endpoint.embedding_model or "",
        key=f"{_key('Embedding model')}:{endpoint.embedding_model or ''}",
        placeholder="none: near-duplicates are found by their wording",
        persist_state="session",
        help="A model of the endpoint by which the review finds bullets that mean the same; one more call a run.",
    )
    return endpoint.model_copy(update={"embedding_model": (chosen or "").strip() or None})


def _flow() -> dict[str, Any]:
    """What bounds the calls of a run, and what may overlap or be left for later."""
    values: dict[str, Any] = {}
    budget, hedge, quorum = st.columns(3)
    with budget:
        help_ = "Tokens of a merge's prompt at most: what is more is merged in parts. Automatic: half the context."
        values["token_budget"] = _optional("Tokens of a merge", "auto", help_, least=100)
    with hedge:
        help_ = "A call that takes longer than so many percent of its kind is asked once more; the first answer counts."
        values["hedge"] = _optional("Hedge after percent", "off", help_, most=99)
    with quorum:
        help_ = "A group merges when so many percent of its reflections are there; late ones join the next batch."
        percent = _optional("Quorum in percent", "all", help_, most=100)
        values["quorum"] = 1.0 if percent is None else percent / 100
    overlap, again = st.columns(2)
    with overlap:
        help_ = "Reflect on the next batch while this one is merged: sooner done, with a playbook one batch older."
        values["staleness"] = int(_switch("Overlap batches", help_))
    with again:
        help_ = "Lessons that were left out join the next batch once."
        values["second_chance"] = _switch("Second chance", help_)
    return values


def _switch(label: str, help_: str) -> bool:
    return st.checkbox(label, key=_key(label), help=help_, persist_state="session")


def use_batch_size(workspace: Workspace, size: int) -> None:
    """Let the form begin with this batch size when it is drawn next."""
    st.session_state[f"{_key('Batch size')}:{fixed_size(_defaults(workspace))}"] = size
    st.session_state[_key("Automatic")] = False


def _batch(defaults: RunSettings) -> int | Literal["auto"]:
    """A number of traces, or automatic."""
    help_ = "Traces in one iteration: one merge tree, one version."
    automatic = st.session_state.get(_key("Automatic"), False)
    size = _number("Batch size", fixed_size(defaults), 1, 100_000, help_, disabled=automatic)
    help_ = (
        "The first iterations try different batch sizes; the rest take the size beyond which a larger batch hardly "
        "saves time. A run on an endpoint that was measured before starts from what was seen there."
    )
    chosen = st.checkbox("Automatic", key=_key("Automatic"), help=help_, persist_state="session")
    return "auto" if chosen else size


def _optional(label: str, without: str, help_: str, least: float = 1, most: float | None = None) -> float | None:
    """A number that may be left open; `without` says what that means."""
    return st.number_input(
        label,
        min_value=least,
        max_value=most,
        value=None,
        step=least,
        key=_key(label),
        placeholder=without,
        persist_state="session",
        help=help_,
    )


def _choice(label: str, options: Sequence[str], help_: str) -> str:
    return st.segmented_control(
        label,
        options,
        default=options[0],
        key=_key(label),
        required=True,
        persist_state="session",
        help=help_,
    )


def _key(label: str) -> str:
    return f"learn_{label.lower().replace(' ', '_')}"


def _number(label: str, default: int, least: int, most: int, help_: str, disabled: bool = False) -> int:
    """A whole number; a default that has changed begins the field anew."""
    return st.number_input(
        label,
        min_value=least,
        max_value=most,
        value=default,
        step=1,
        key=f"{_key(label)}:{default}",
        persist_state="session",
        help=help_,
        disabled=disabled,
    )


def _quiet_score(label: str, key: str) -> float | None:
    return st.number_input(
        label,
        value=None,
        step=0.1,
        format="%g",
        key=key,
        placeholder=label,
        label_visibility="collapsed",
        persist_state="session",
    )


def _quiet_select(label: str, options: Sequence[str], key: str) -> str:
    """The first option where the one chosen before is no more."""
    if key in st.session_state and st.session_state[key] not in options:
        st.session_state[key] = options[0]
    return st.selectbox(label, options, key=key, label_visibility="collapsed", persist_state="session")
