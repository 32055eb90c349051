"""Entry of every page: page settings and navigation. A link to any page passes through here."""

from pathlib import Path

import streamlit as st

HERE = Path(__file__).parent
ICON = str(HERE / "assets" / "combee.svg")

# Before navigation: the icon of the page would become the browser tab's, fetched from a font host.
st.set_page_config(page_title="Combee", page_icon=ICON, layout="wide")
page = st.navigation(
    [
        st.Page("overview.py", title="Overview", icon=":material/hive:", default=True),
        st.Page("traces.py", title="Traces", icon=":material/forum:"),
        st.Page("learn.py", title="Learn", icon=":material/school:"),
        st.Page("merges.py", title="Merges", icon=":material/account_tree:"),
        st.Page("batch_size.py", title="Batch size", icon=":material/speed:"),
        st.Page("compare.py", title="Compare", icon=":material/balance:"),
        st.Page("prompts.py", title="Prompts", icon=":material/rule:"),
        st.Page("settings.py", title="Settings", icon=":material/tune:"),
    ],
    position="top",
)
st.set_page_config(page_title=f"{page.title} · Combee")
st.html(HERE / "app.css")
st.logo(ICON, size="medium")
page.run()
