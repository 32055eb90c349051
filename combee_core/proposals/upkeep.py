"""Upkeep of a playbook: bullets that say the same, and bullets beyond the size that was set for it (ACE's refine)."""

from combee_core.alike import grouped
from combee_core.playbook import Bullet
from combee_core.proposals.model import Proposal, Side
from combee_core.store.versions import Version

CHARS_A_TOKEN = 4


def bullets_alike(version: Version) -> list[Proposal]:
    """Near-duplicate bullets, to become one; the one with most traces behind it, then the longest, gives the text."""
    bullets = version.playbook.bullets
    found = []
    for group in grouped([bullet.content for bullet in bullets]):
        if len(group) > 1:
            ranked = sorted(
                (bullets[index] for index in group),
                key=lambda bullet: (-version.support(bullet.id), -len(bullet.content)),
            )
            name = "+".join(bullets[index].id for index in group)
            found.append(Proposal(name, "alike", tuple(_side(version, bullet) for bullet in ranked)))
    return found


def bullets_too_many(version: Version, most_tokens: int) -> list[Proposal]:
    """The bullets that would have to go for the playbook to fit: fewest traces first, then those that helped least."""
    over = sum(map(_tokens, version.playbook.bullets)) - most_tokens
    found = []
    newest_first = list(reversed(version.playbook.bullets))
    ranked = sorted(newest_first, key=lambda bullet: (version.support(bullet.id), bullet.helpful - bullet.harmful))
    for bullet in ranked:
        if over <= 0:
            break
        over -= _tokens(bullet)
        found.append(Proposal(f"remove.{bullet.id}", "too_long", (_side(version, bullet),)))
    return found


def _side(version: Version, bullet: Bullet) -> Side:
    return Side(bullet.content, bullet.section, tuple(version.sources.get(bullet.id, ())), bullet.id)


def _tokens(bullet: Bullet) -> int:
    """Estimated tokens of a bullet as agents read it."""
    return -(-len(bullet.content) // CHARS_A_TOKEN)
