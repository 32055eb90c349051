"""Common OpenAI-compatible endpoints, so that nobody has to look up an address."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Preset:
    """One endpoint: `models` are examples of what it serves (empty where that depends on the user)."""

    name: str
    base_url: str
    needs_key: bool
    models: tuple[str, ...] = ()


PRESETS = (
    Preset("OpenAI", "https://api.openai.com/v1", True, ("gpt-4o-mini", "gpt-4.1-mini", "gpt-4.1")),
    Preset("Anthropic", "https://api.anthropic.com/v1", True, ("claude-3-5-haiku-latest", "claude-sonnet-4-5")),
    Preset(
        "Google Gemini",
        "https://generativelanguage.googleapis.com/v1beta/openai",
        True,
        ("gemini-2.5-flash", "gemini-2.5-pro"),
    ),
    Preset("OpenRouter", "https://openrouter.ai/api/v1", True, ("openai/gpt-4o-mini", "qwen/qwen3-32b")),
    Preset("Mistral", "https://api.mistral.ai/v1", True, ("mistral-small-latest", "mistral-large-latest")),
    Preset("DeepSeek", "https://api.deepseek.com/v1", True, ("deepseek-chat", "deepseek-reasoner")),
    Preset("Groq", "https://api.groq.com/openai/v1", True, ("llama-3.3-70b-versatile",)),
    Preset("Together", "https://api.together.xyz/v1", True, ("meta-llama/Llama-3.3-70B-Instruct-Turbo",)),
    Preset("Ollama on this machine", "http://localhost:11434/v1", False),
    Preset("vLLM on this machine", "http://localhost:8000/v1", False),
    Preset("LM Studio on this machine", "http://localhost:1234/v1", False),
    Preset("llama.cpp on this machine", "http://localhost:8080/v1", False),
)
