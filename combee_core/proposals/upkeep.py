"""Upkeep of a playbook: bullets that say the same, and bullets beyond the size that was set for it (ACE's refine)."""

from math import ceil

from combee_core.alike import grouped, grouped_by_meaning
from combee_core.engine.upkeep import Vectors
from combee_core.llm.token_ratio import USUAL_CHARS_A_TOKEN
from combee_core.playbook import Bullet
from combee_core.proposals.model import Proposal, Side
from combee_core.store.versions import Version


def bullets_alike(version: Version, vectors: Vectors | None = None) -> list[Proposal]:
    """Near-duplicate bullets, to become one; the one with most traces behind it, then the longest, gives the text.

    They are found by the embeddings of the bullets where there are some, else by wording.
    """
    bullets = version.playbook.bullets
    texts = [bullet.content for bullet in bullets]
    groups = grouped_by_meaning(texts, [vectors[bullet.id] for bullet in bullets]) if vectors else grouped(texts)
    found = []
    for group in groups:
        if len(group) > 1:
            ranked = sorted(
                (bullets[index] for index in group),
                key=lambda bullet: (-version.support(bullet.id), -len(bullet.content)),
            )
            name = "+".join(bullets[index].id for index in group)
            found.append(Proposal(name, "alike", tuple(_side(version, bullet) for bullet in ranked)))
    return found


def bullets_too_many(version: Version, most_tokens: int, chars_a_token: float = USUAL_CHARS_A_TOKEN) -> list[Proposal]:
    """The bullets that would have to go for the playbook to fit: fewest traces first, then those that helped least."""
    tokens = {bullet.id: ceil(len(bullet.content) / chars_a_token) for bullet in version.playbook.bullets}
    over = sum(tokens.values()) - most_tokens
    found = []
    newest_first = list(reversed(version.playbook.bullets))
    ranked = sorted(newest_first, key=lambda bullet: (version.support(bullet.id), bullet.helpful - bullet.harmful))
    for bullet in ranked:
        if over <= 0:
            break
        over -= tokens[bullet.id]
        found.append(Proposal(f"remove.{bullet.id}", "too_long", (_side(version, bullet),)))
    return found


def _side(version: Version, bullet: Bullet) -> Side:
    return Side(bullet.content, bullet.section, tuple(version.sources.get(bullet.id, ())), bullet.id)
