"""What a review offers beyond the changes of a version: nothing of it happens unless a reviewer says so."""

from combee_core.proposals.collect import proposals
from combee_core.proposals.effects import State, answered
from combee_core.proposals.model import Answer, Kind, Proposal, Side

__all__ = ["Answer", "Kind", "Proposal", "Side", "State", "answered", "proposals"]
