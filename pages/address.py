"""Where the reader is: in the address, so that a link can be sent, and in the session, as menus drop the address."""

import streamlit as st

_REMEMBERED = "place"
_BENEATH = {"run": ("iteration", "node"), "iteration": ("node",)}
"""What loses its meaning when a name changes its value."""


def read(*names: str) -> dict[str, str]:
    """The values of these names; an address that holds none of them goes on where the reader was."""
    place = {name: st.query_params[name] for name in names if name in st.query_params}
    remembered = st.session_state.get(_REMEMBERED, {})
    if not place:
        place = {name: remembered[name] for name in names if name in remembered}
    elif "run" in names and place.get("run") != remembered.get("run"):
        remembered = {}
    st.session_state[_REMEMBERED] = remembered | place
    for name, value in place.items():
        if st.query_params.get(name) != value:
            st.query_params[name] = value
    return place


def remembered(name: str) -> str | None:
    """The value that a name had when the address last held one."""
    value: str | None = st.session_state.get(_REMEMBERED, {}).get(name)
    return value


def forget(name: str) -> None:
    """Have the next page begin without it, and without whatever has its meaning from it; this address stays."""
    for gone in (name, *_BENEATH.get(name, ())):
        st.session_state.setdefault(_REMEMBERED, {}).pop(gone, None)


def move(**values: str | None) -> None:
    """Set some names, or forget those that are None, with whatever has its meaning from them."""
    for name, value in values.items():
        forget(name)
        for gone in (name, *_BENEATH.get(name, ())):
            st.query_params.pop(gone, None)
        if value is not None:
            st.query_params[name] = value
            st.session_state[_REMEMBERED][name] = value
