"""The formats that Combee reads, in the order in which they are tried: the first that recognises a record has it."""

from combee_core.importers.ace import Ace
from combee_core.importers.atif import Atif
from combee_core.importers.base import Importer
from combee_core.importers.openai_chat import OpenAIChat

_IN_ORDER: tuple[Importer, ...] = (Atif(), OpenAIChat(), Ace())

FORMATS: dict[str, Importer] = {importer.name: importer for importer in _IN_ORDER}
