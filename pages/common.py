"""What every page needs: the door to the workspace."""

import streamlit as st

from combee_core.errors import CombeeError
from combee_core.workspace import Workspace, open_workspace


def get_workspace() -> Workspace:
    """The process's workspace; a page that cannot have it says why in one sentence and stops.

    No Streamlit cache holds it: clearing one would make a second engine beside runs that are under way.
    """
    try:
        return open_workspace()
    except CombeeError as error:
        st.error(str(error))
        st.stop()
