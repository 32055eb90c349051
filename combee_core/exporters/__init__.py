"""Prompt versions as files: what an agent reads (markdown), what a program reads (json), what ACE reads (ace)."""

from combee_core.exporters.formats import FORMATS, export

__all__ = ["FORMATS", "export"]
