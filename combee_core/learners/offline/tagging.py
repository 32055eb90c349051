"""Which bullets of the playbook a run bore out, went against, or did not follow; only where the trace shows it."""

import re
from collections.abc import Iterable

from combee_core.learners.offline.grouping import nearest
from combee_core.learners.offline.likeness import SAME, contradict, likeness, wording
from combee_core.learners.offline.observations import Observation
from combee_core.learners.offline.terms import NAME
from combee_core.lesson import Tag
from combee_core.playbook import Playbook
from combee_core.trace import Trace

_NOT = r"\b(?:not|no|never|instead of|rather than|without)\s+(?:\w+\s+){0,2}[`\"“]?"


def tags(trace: Trace, found: Iterable[Observation], playbook: Playbook) -> dict[str, Tag]:
    """Tags by bullet id, for the bullets that the run bears on.

    Helpful: a success that visibly did what the bullet says, or whose feedback says so. Harmful: a failure whose
    feedback says the opposite. Neutral: a failure whose feedback had to repeat the bullet.
    """
    contents = [bullet.content for bullet in playbook.bullets]
    tagged: dict[str, Tag] = {}
    if trace.outcome.success is None or not contents:
        return tagged
    if trace.outcome.success:
        tagged |= {bullet.id: "helpful" for bullet in playbook.bullets if _followed(bullet.content, trace)}
    for seen in found:
        match = nearest(seen.text, contents)
        if match is not None:
            tagged[playbook.bullets[match].id] = "helpful" if trace.outcome.success else "neutral"
        if not trace.outcome.success:
            tagged |= {bullet.id: "harmful" for bullet in playbook.bullets if _opposed(seen.text, bullet.content)}
    return tagged


def _followed(content: str, trace: Trace) -> bool:
    """Whether the agent's calls have all that the bullet names, two names at least, and none that it warns of."""
    names = [term for term, weight in wording(content).weights.items() if weight >= NAME and len(term) > 3]
    warned = [name for name in names if re.search(_NOT + re.escape(name) + r"\b", content, re.IGNORECASE)]
    wanted = [name for name in names if name not in warned]
    done = " ".join(
        f"{call.name} {call.arguments}" for message in trace.messages for call in message.tool_calls
    ).lower()
    return len(wanted) >= 2 and all(name in done for name in wanted) and not any(name in done for name in warned)


def _opposed(text: str, content: str) -> bool:
    one, other = wording(text), wording(content)
    return likeness(one, other) >= SAME and contradict(one, other)
