"""The numbers of a comparison as a table: one row a run, what the figures above it were drawn from."""

from collections.abc import Sequence
from itertools import groupby

import pandas as pd
import streamlit as st

from combee_core.store.database import Row
from pages.compare_figure import per_cent, share_kept
from pages.numbers import duration, money
from pages.trace_table import CLICKABLE


def show_table(rows: Sequence[Row]) -> None:
    """Draw it; choosing a row opens the run."""
    chosen = st.dataframe(
        comparison_frame(rows),
        key="compare_table",
        on_select="rerun",
        selection_mode=CLICKABLE,
        column_config={"In one bullet": st.column_config.NumberColumn(format="%.1f")},
        hide_index=True,
        alt="What each run made of the traces and what it took; choose one to open it",
    )
    if chosen.selection.cells:
        st.switch_page("learn.py", query_params={"run": rows[chosen.selection.cells[0][0]]["run"]})


def comparison_frame(rows: Sequence[Row]) -> pd.DataFrame:
    """One row a run."""
    found = [row["specificity"] for row in rows]
    return pd.DataFrame(
        {
            "Strategy": [row["label"] for row in rows],
            "Run": [row["run"] for row in rows],
            "Version": [row["version"] or "" for row in rows],
            "Bullets": [row["bullets"] for row in rows],
            "Tokens": [row["prompt_tokens"] for row in rows],
            "Lessons": [row["lessons"] for row in rows],
            "Kept": [row["kept"] for row in rows],
            "Held back": [row["held"] for row in rows],
            "Dropped": [row["dropped"] for row in rows],
            "Traces": [f"{row['traces_covered']:,} of {row['traces']:,}" for row in rows],
            "Numbers": [per_cent(each["numbers"]["share"]) for each in found],
            "Identifiers": [per_cent(each["identifiers"]["share"]) for each in found],
            "Names": [per_cent(each["entities"]["share"]) for each in found],
            "In one bullet": [each["per_bullet"] for each in found],
            "Calls": [row["calls"] for row in rows],
            "Tokens in": [row["input_tokens"] for row in rows],
            "Tokens out": [row["output_tokens"] for row in rows],
            "Cost": [money(row["cost_usd"]) for row in rows],
            "Time": [duration(row["wall_s"]) for row in rows],
            "Batch sizes": [batch_sizes(row["batch_sizes"]) for row in rows],
        }
    )


def batch_sizes(sizes: Sequence[int]) -> str:
    """3 × 32, 7."""
    runs = [(size, len(list(same))) for size, same in groupby(sizes)]
    return ", ".join(f"{size:,}" if times == 1 else f"{times:,} × {size:,}" for size, times in runs)


def headline(rows: Sequence[Row]) -> str:
    """What stands out, in one sentence: who kept most of what is specific, and who least."""
    known = [row for row in rows if share_kept(row) is not None]
    if not known:
        return "The lessons named no numbers, identifiers or names that could have been kept."
    ranked = sorted(known, key=lambda row: -(share_kept(row) or 0))
    best, worst = ranked[0], ranked[-1]
    terms = f"{best['specificity']['all']['in_lessons']:,} numbers, identifiers and names"
    if len(ranked) > 1 and per_cent(share_kept(best)) == per_cent(share_kept(worst)):
        return f"All kept {per_cent(share_kept(best))} of the numbers, identifiers and names in their lessons."
    said = f"{best['label']} kept {per_cent(share_kept(best))} of the {terms} in its lessons"
    return f"{said}." if worst is best else f"{said}, {worst['label']} {per_cent(share_kept(worst))}."
