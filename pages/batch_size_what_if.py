"""Sliders for τ and the candidates: what the controller would choose, and the way to take it into the next run."""

from dataclasses import dataclass

import streamlit as st

from combee_core.batch_size import Fit
from combee_core.batch_size.curve import through
from combee_core.engine.batch_sizes import BatchSizes
from combee_core.workspace import Workspace
from pages import address
from pages.run_form import use_batch_size

TAU_SHARES = (0.002, 0.004, 0.008, 0.012, 0.016, 0.024, 0.032, 0.048, 0.064, 0.1, 0.15, 0.2)


@dataclass(frozen=True)
class WhatIf:
    """The curve through the candidates that were kept, and the share of the steepest saving that is still worth it."""

    curve: Fit
    smallest: int
    tau_share: float

    def offer(self, workspace: Workspace, size: int) -> None:
        """Say what would be chosen, with the button that plans a run with it."""
        with st.container(horizontal=True, vertical_alignment="center"):
            if self.curve.alpha > 0:
                st.markdown(f"The controller would choose **{size:,}**.", width="content")
            else:
                st.markdown(f"Larger batches save no time: **{size:,}**.", width="content")
            if st.button(f"Plan a run with {size:,}", icon=":material/school:", key="batch_size_use"):
                use_batch_size(workspace, size)
                # Learn would show the run that is looked at here, not the form.
                address.forget("run")
                st.switch_page("learn.py")


def ask_what_if(sizes: BatchSizes, curve: Fit) -> WhatIf | None:
    """The two sliders, at first where the run has them; None while fewer than two measured sizes are left."""
    measured = [point.batch_size for point in curve.points]
    shares = sorted({*TAU_SHARES, sizes.settings.tau})
    tau_column, grid_column = st.columns(2)
    with tau_column:
        share = st.select_slider(
            "τ",
            shares,
            value=sizes.settings.tau,
            format_func=lambda value: f"{value:.1%}",
            key=f"batch_size_tau:{sizes.run}",
            help="A batch grows as long as one more trace saves this share of what it saves at the smallest candidate.",
        )
    with grid_column:
        low, high = st.select_slider(
            "Measured sizes that count",
            measured,
            value=(measured[0], measured[-1]),
            key=f"batch_size_grid:{sizes.run}:{len(measured)}",
            help="The smallest is where the saving is steepest; the curve goes through those between the two ends.",
        )
    kept = through([point for point in curve.points if low <= point.batch_size <= high])
    if kept is None:
        st.caption("A curve needs two measured batch sizes: move the ends apart.")
        return None
    untouched = low == measured[0]
    return WhatIf(kept, sizes.grid[0] if untouched else low, share)
