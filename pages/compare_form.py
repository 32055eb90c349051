"""A comparison that could start: which strategies, over which traces, with what settings, and what each would take."""

from collections.abc import Sequence

import pandas as pd
import streamlit as st

from combee_core.errors import CombeeError
from combee_core.strategies import STRATEGIES
from combee_core.variants import read_variant
from combee_core.workspace import Workspace
from pages import address
from pages.numbers import compact, duration, money
from pages.run_form import Planned, run_form
from pages.run_plan import show_model
from pages.session_key import session_key

ABLATIONS = {
    "combee:copies=1": "combee, one copy",
    "combee:copies=3": "combee, three copies",
    "combee:copies=4": "combee, four copies",
    "combee:shuffle=plain": "combee, plain shuffle",
    "combee:shuffle=none": "combee, no shuffle",
    "combee:groups=1": "combee, one level",
    "combee:groups=4": "combee, four groups",
    "combee:recheck=off:fold-twins=off:retain=off": "combee, nothing asked again, folded or offered",
}
"""Variants to choose from, the paper's ablations first, in words."""

FAILURES = "compare_failures"
"""Session key of what could not be started, said once on the next screen."""


def show_form(workspace: Workspace) -> None:
    """The form on the left, what each strategy would take on the right."""
    form, plan = st.columns(2, gap="large")
    with form:
        names = _strategies(workspace) + _variants()
        planned = run_form(workspace, with_strategy=False)
    with plan:
        _plan(workspace, planned, names)


def _strategies(workspace: Workspace) -> list[str]:
    offline = workspace.endpoint() is None
    chosen = st.pills(
        "Strategies",
        [name for name, strategy in STRATEGIES.items() if not (offline and strategy.needs_model)],
        selection_mode="multi",
        default=["combee", "naive"],
        key="compare_strategies",
        persist_state="session",
        help="Each learns from the same traces, one after the other, as a prompt of its own: NAME-naive and so on.",
    )
    for name in chosen:
        st.caption(f"{name}: {STRATEGIES[name].about}")
    if offline:
        st.caption("Without a language model there are no summaries to compare with: set one in Settings.")
    return list(chosen)


def _variants() -> list[str]:
    """Strategies with settings of their own: some to choose from, others to write."""
    return st.multiselect(
        "Variants",
        ABLATIONS,
        key="compare_variants",
        format_func=_worded,
        accept_new_options=True,
        persist_state="session",
        placeholder="None",
        help="Strategies with settings of their own. Others can be written, with settings called as the options of "
        "`combee learn`: combee:groups=4, or top-k:groups=8:seed=1.",
    )


def _worded(name: str) -> str:
    return ABLATIONS.get(name, name)


def _plan(workspace: Workspace, planned: Planned | None, names: Sequence[str]) -> None:
    able = planned is not None and bool(names)
    if planned is not None and names:
        try:
            _estimates(workspace, planned, names)
        except CombeeError as error:
            st.warning(str(error))
            able = False
        show_model(workspace)
    elif not names:
        st.caption("Choose at least one strategy.")
    st.button(
        "Start comparison",
        type="primary",
        key="compare_start",
        icon=":material/play_arrow:",
        disabled=not able,
        on_click=_start,
        args=(workspace, planned, names, st.session_state.setdefault("compare_form", 0)),
    )


def _estimates(workspace: Workspace, planned: Planned, names: Sequence[str]) -> None:
    """Tree, calls, tokens, cost and time of each strategy, as the Learn page would say them."""
    variants = [read_variant(name) for name in names]
    settings = [variant.of(planned.settings) for variant in variants]
    found = [workspace.estimate(each, planned.which) for each in settings]
    known = planned.settings.endpoint is not None
    columns: dict[str, list[object]] = {
        "Strategy": [variant.words for variant in variants],
        "Iterations": [each.iterations for each in found],
    }
    if known:
        columns |= {
            "Calls": [each.calls for each in found],
            "Tokens": [compact(each.input_tokens + each.output_tokens) for each in found],
            "Cost": [money(each.cost_usd) for each in found],
            "Time": ["unknown" if each.seconds is None else duration(each.seconds) for each in found],
        }
    st.dataframe(
        pd.DataFrame(columns | {"Each iteration": [each.tree for each in found]}),
        hide_index=True,
        alt="What each strategy would take",
    )
    if known and all(each.seconds is not None for each in found):
        st.caption(f"All together about {duration(sum(each.seconds or 0 for each in found))}.")


def _start(workspace: Workspace, planned: Planned, names: Sequence[str], form: int) -> None:
    """Start the comparison once, also when the button was clicked twice."""
    if form != st.session_state["compare_form"]:
        return
    try:
        started = workspace.start_comparison(planned.settings, names, planned.which, session_key())
    except CombeeError as error:
        st.session_state[FAILURES] = [str(error)]
        return
    st.session_state["compare_form"] = form + 1
    st.session_state[FAILURES] = [one.error for one in started if one.error]
    address.move(runs=",".join(one.run for one in started if one.run) or None)
