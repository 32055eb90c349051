"""Layouts: formats of which one run lies in several files of a folder, one module each where it opens files itself."""

from combee_core.importers.formats.appworld import AppWorldRun
from combee_core.importers.formats.inspect import InspectArchive
from combee_core.importers.formats.openhands import OpenHandsFolder
from combee_core.importers.formats.tau2_bench import Tau2Split
from combee_core.importers.formats.terminal_bench import TerminalBenchRun
from combee_core.importers.layouts.claude_code import ClaudeCodeFolder
from combee_core.importers.layouts.harbor import HarborJob
from combee_core.importers.layouts.langfuse import LangfuseTables
from combee_core.importers.layouts.logged_calls import LoggedCallFiles
from combee_core.importers.layouts.swe_bench import SweBenchReports
from combee_core.importers.runs import Layout

_IN_ORDER: tuple[Layout, ...] = (
    InspectArchive(),
    HarborJob(),
    AppWorldRun(),
    TerminalBenchRun(),
    Tau2Split(),
    OpenHandsFolder(),
    ClaudeCodeFolder(),
    LangfuseTables(),
    SweBenchReports(),
    LoggedCallFiles(),
)

LAYOUTS: dict[str, Layout] = {layout.name: layout for layout in _IN_ORDER}
