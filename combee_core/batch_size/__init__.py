"""How many traces go into one batch: candidates to try, the curve of epoch times, its plateau, the next choice.

Pure arithmetic on batch sizes and measured delays. Nothing here knows what an iteration does, who measured it or where
measurements are kept. Source: arXiv 2604.04247, dynamic batch size controller.
"""

from combee_core.batch_size.candidates import Grid, candidates, candidates_by_hand
from combee_core.batch_size.controller import Choice, Controller
from combee_core.batch_size.curve import TAU_SHARE, Fit, Measurement, Point, fit, largest_worth, plateau, tau
from combee_core.batch_size.simulation import epoch_seconds, simulate

__all__ = [
    "TAU_SHARE",
    "Choice",
    "Controller",
    "Fit",
    "Grid",
    "Measurement",
    "Point",
    "candidates",
    "candidates_by_hand",
    "epoch_seconds",
    "fit",
    "largest_worth",
    "plateau",
    "simulate",
    "tau",
]
