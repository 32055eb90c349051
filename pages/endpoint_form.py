"""The model that runs use: preset, address, name and key, a test of the connection, and the way back to no model.

The key stays in the session and is never stored.
"""

import asyncio
import os
from typing import Any
from urllib.parse import urlsplit

import streamlit as st

from combee_core.llm.check import EndpointCheck, check_endpoint
from combee_core.llm.endpoint import Endpoint
from combee_core.llm.presets import PRESETS
from combee_core.workspace import Workspace
from pages.diff_view import visible
from pages.numbers import counted

API_KEY = "api_key"
"""Session key of the key typed for this session; the environment's OPENAI_API_KEY serves without one."""

_OTHER = "Another address"
_BASE, _MODEL, _TIMEOUT, _ATTEMPTS = "settings_base_url", "settings_model", "settings_timeout", "settings_attempts"
_EMBEDDINGS = "settings_embedding_model"
_KEY, _CHECKED = "settings_key", "settings_checked"
_PRESETS = {preset.name: preset for preset in PRESETS}


def show_endpoint(workspace: Workspace) -> None:
    """Draw the form and do what its buttons say."""
    stored = workspace.endpoint()
    _seed(stored)
    st.html(_in_use(stored))
    base_url, model = _fields()
    with st.expander("Advanced"):
        more = _advanced()
    wanted = _wanted(stored, {"base_url": base_url, "model": model} | more)
    with st.container(horizontal=True):
        use = st.button("Use this model", type="primary", disabled=stored is not None and wanted == stored)
        test = st.button("Test connection")
        if stored is not None and st.button("Use the offline rules engine", type="tertiary"):
            workspace.set_endpoint(None)
            st.rerun()
    if use and wanted is None:
        st.html(f'<div class="cb-why">✕ {visible(_problem(base_url, model))}</div>')
    elif use:
        workspace.set_endpoint(wanted)
        st.rerun()
    if test:
        _test(base_url, model)
    _show_check(base_url, model)


def _seed(stored: Endpoint | None) -> None:
    """Begin with what is stored; what has been typed since stays."""
    endpoint = stored or Endpoint(model="-")
    st.session_state.setdefault(_BASE, endpoint.base_url if stored else "")
    st.session_state.setdefault(_MODEL, endpoint.model if stored else None)
    st.session_state.setdefault(_TIMEOUT, endpoint.timeout_s)
    st.session_state.setdefault(_ATTEMPTS, endpoint.max_attempts)
    st.session_state.setdefault(_EMBEDDINGS, endpoint.embedding_model or "")


def _in_use(stored: Endpoint | None) -> str:
    if stored is None:
        return '<div class="cb-facts"><strong>Offline rules engine</strong><span>no language model in use</span></div>'
    return (
        f'<div class="cb-facts"><strong>{visible(stored.model)}</strong><span>at {visible(stored.base_url)}</span>'
        f"<span>{_key_in_words()}</span></div>"
    )


def _key_in_words() -> str:
    if st.session_state.get(API_KEY):
        return "key typed for this session"
    return "key from OPENAI_API_KEY" if os.environ.get("OPENAI_API_KEY") else "no key"


def _fields() -> tuple[str, str]:
    base_url = (st.session_state[_BASE] or "").strip()
    known = next((preset.name for preset in PRESETS if preset.base_url == base_url.rstrip("/")), None)
    st.session_state["settings_preset"] = known or (_OTHER if base_url else None)
    st.selectbox(
        "Endpoint",
        [*_PRESETS, _OTHER],
        key="settings_preset",
        # A browser that was not yet told of the line above sends nothing for this field, which must mean no choice.
        index=None,
        placeholder="Choose a common endpoint, or type its address below",
        on_change=_take_preset,
    )
    base_url = st.text_input(
        "Base URL",
        key=_BASE,
        placeholder="https://api.openai.com/v1",
        persist_state="session",
        help="Any OpenAI-compatible endpoint; most addresses end in /v1.",
    ).strip()
    model = _model(known)
    from_environment = bool(os.environ.get("OPENAI_API_KEY"))
    st.session_state[_KEY] = st.session_state.get(API_KEY, "")
    st.text_input(
        "API key",
        type="password",
        key=_KEY,
        on_change=_take_key,
        placeholder="from OPENAI_API_KEY" if from_environment else "none",
        help="Kept for this session only, never stored. Without one, OPENAI_API_KEY of the environment is used.",
    )
    return base_url, model


def _take_key() -> None:
    st.session_state[API_KEY] = st.session_state[_KEY].strip()


def _take_preset() -> None:
    chosen = st.session_state["settings_preset"]
    if chosen is None:
        return
    preset = _PRESETS.get(chosen)
    st.session_state[_BASE] = preset.base_url if preset else ""
    st.session_state[_MODEL] = preset.models[0] if preset and preset.models else None


def _model(known: str | None) -> str:
    checked = st.session_state.get(_CHECKED)
    listed = checked[1].models if checked and checked[0][0] == st.session_state[_BASE] else ()
    examples = _PRESETS[known].models if known else ()
    typed = st.session_state[_MODEL]
    chosen = st.selectbox(
        "Model",
        list(dict.fromkeys([*([typed] if typed else []), *examples, *listed])),
        key=_MODEL,
        index=None,
        accept_new_options=True,
        placeholder="Type a name, or test the connection to list them",
        persist_state="session",
    )
    return (chosen or "").strip()


def _advanced() -> dict[str, Any]:
    """What few need to set, by the names that an endpoint has for it."""
    left, right = st.columns(2)
    timeout = left.number_input(
        "Time-out in seconds", min_value=1.0, max_value=3600.0, step=10.0, key=_TIMEOUT, persist_state="session",
        help="How long one request may take.",
    )  # fmt: skip
    attempts = right.number_input(
        "Attempts", min_value=1, max_value=20, step=1, key=_ATTEMPTS, persist_state="session",
        help="How often a request is sent while it fails for reasons that pass: rate limits, overload, a lost line.",
    )  # fmt: skip
    embeddings = st.text_input(
        "Embedding model", key=_EMBEDDINGS, placeholder="none: near-duplicates are found by their wording",
        persist_state="session", help="A model of this endpoint by which the review finds bullets that mean the same.",
    )  # fmt: skip
    return {"timeout_s": timeout, "max_attempts": attempts, "embedding_model": embeddings.strip() or None}


def _wanted(stored: Endpoint | None, fields: dict[str, Any]) -> Endpoint | None:
    """The endpoint that the fields describe, with what they do not show taken from the stored one; None if unusable."""
    if _problem(fields["base_url"], fields["model"]):
        return None
    return (stored or Endpoint(model=fields["model"])).model_copy(update=fields)


def _problem(base_url: str, model: str) -> str:
    address = urlsplit(base_url)
    if address.scheme not in ("http", "https") or not address.hostname:
        return f"{base_url or 'Nothing'} is no address: a base URL starts with http:// or https://."
    return "" if model else "No model is named: type its name, or test the connection and choose one from the list."


def _test(base_url: str, model: str) -> None:
    key = st.session_state.get(API_KEY) or os.environ.get("OPENAI_API_KEY")
    with st.spinner(f"Asking {urlsplit(base_url).hostname or 'the endpoint'}…"):
        found = asyncio.run(check_endpoint(base_url, key, model or None))
    st.session_state[_CHECKED] = ((base_url, model), found)
    if found.models and not model:
        st.rerun()


def _show_check(base_url: str, model: str) -> None:
    """The result of the last test, while it is about what the fields say."""
    checked: tuple[tuple[str, str], EndpointCheck] | None = st.session_state.get(_CHECKED)
    if checked is None or checked[0] != (base_url, model):
        return
    found = checked[1]
    st.html(f'<div class="cb-why" role="status">{"✓" if found.ok else "✕"} {visible(found.message)}</div>')
    if found.models:
        with st.expander(counted(len(found.models), "model")):
            st.code("\n".join(found.models), language=None, height=200 if len(found.models) > 8 else "content")
