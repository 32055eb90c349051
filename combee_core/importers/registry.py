"""The formats that Combee reads, in the order in which they are tried: the first that recognises a record has it."""

from combee_core.importers.base import Importer
from combee_core.importers.formats.ace import Ace
from combee_core.importers.formats.agent_logs import GeminiCli, Hermes
from combee_core.importers.formats.appworld import AppWorldLog
from combee_core.importers.formats.atif import Atif
from combee_core.importers.formats.atof import Atof
from combee_core.importers.formats.claude_code import ClaudeCode
from combee_core.importers.formats.codex import Codex
from combee_core.importers.formats.dspy import DSPyEvaluation
from combee_core.importers.formats.gepa import Gepa
from combee_core.importers.formats.harbor_traces import HarborTraces
from combee_core.importers.formats.inspect import InspectLog
from combee_core.importers.formats.langfuse import Langfuse
from combee_core.importers.formats.langsmith import LangSmith
from combee_core.importers.formats.logged_calls import LoggedCalls
from combee_core.importers.formats.message_lines import MessageLines
from combee_core.importers.formats.mini_swe_agent import MiniSweAgent
from combee_core.importers.formats.mlflow import MLflow
from combee_core.importers.formats.openai_chat import OpenAIChat
from combee_core.importers.formats.openclaw import OpenClaw
from combee_core.importers.formats.openhands import OpenHandsEvents, OpenHandsOutput
from combee_core.importers.formats.opik import Opik
from combee_core.importers.formats.otlp import Otlp, SdkSpans
from combee_core.importers.formats.questions import Questions
from combee_core.importers.formats.responses import AgentsState, BatchOutput, NemoGym
from combee_core.importers.formats.sharegpt import ShareGPT
from combee_core.importers.formats.span_attributes import SpanAttributes
from combee_core.importers.formats.swe_agent import SweAgent
from combee_core.importers.formats.tau2_bench import Tau2Bench
from combee_core.importers.formats.tau_bench import TauBench
from combee_core.importers.formats.terminal_bench import TerminalBench
from combee_core.importers.formats.verifiers import PromptCompletion
from combee_core.importers.formats.weave import Weave

_IN_ORDER: tuple[Importer, ...] = (
    Atif(),
    Otlp(),
    MiniSweAgent(),
    SweAgent(),
    Tau2Bench(),
    TauBench(),
    TerminalBench(),
    InspectLog(),
    NemoGym(),
    AgentsState(),
    Langfuse(),
    Opik(),
    MLflow(),
    LangSmith(),
    Weave(),
    SdkSpans(),
    Codex(),
    ClaudeCode(),
    OpenClaw(),
    OpenHandsOutput(),
    OpenHandsEvents(),
    Atof(),
    AppWorldLog(),
    GeminiCli(),
    Hermes(),
    BatchOutput(),
    LoggedCalls(),
    HarborTraces(),
    ShareGPT(),
    PromptCompletion(),
    OpenAIChat(),
    DSPyEvaluation(),
    Gepa(),
    Ace(),
    Questions(),
    MessageLines(),
    SpanAttributes(),
)

FORMATS: dict[str, Importer] = {importer.name: importer for importer in _IN_ORDER}
