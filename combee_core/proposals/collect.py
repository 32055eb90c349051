"""All proposals to the reviewer of one version, read from the merges of its run and from the version itself."""

from itertools import groupby

from combee_core.engine.upkeep import vectors_of
from combee_core.lineage import Lineage
from combee_core.llm.token_ratio import USUAL_CHARS_A_TOKEN
from combee_core.proposals.contradictions import contradictions
from combee_core.proposals.lessons import held_back, not_taken_up
from combee_core.proposals.model import Proposal
from combee_core.proposals.upkeep import bullets_alike, bullets_too_many
from combee_core.store.database import Database
from combee_core.store.runs import Runs
from combee_core.store.versions import Version


def proposals(database: Database, version: Version) -> list[Proposal]:
    """Proposals in the order in which they matter: contradictions, lessons, then upkeep.

    They follow from what is stored alone, so that they are the same whenever they are asked for. Those of a run come
    from all its iterations up to the version's; lessons that were not taken up are offered with `retain` review only.
    """
    if version.run is None or version.iteration is None:
        return bullets_alike(version)
    runs = Runs(database)
    run = runs.get(version.run)
    stored = run["settings"]
    upkeep = bullets_alike(version, vectors_of(runs.upkeep_nodes(version.run), version))
    if stored.get("playbook_tokens"):
        upkeep += bullets_too_many(version, stored["playbook_tokens"], run["chars_a_token"] or USUAL_CHARS_A_TOKEN)
    rows = [node for node in runs.nodes(version.run) if node["iteration"] <= version.iteration and node["output"]]
    lineages = [
        Lineage(version.run, iteration, list(nodes))
        for iteration, nodes in groupby(rows, key=lambda node: node["iteration"])
    ]
    disagreements = contradictions(lineages, version)
    sides = [side.text for proposal in disagreements for side in proposal.sides]
    held = held_back(lineages, version.playbook, sides)
    said = [*sides, *(proposal.sides[0].text for proposal in held)]
    lost = not_taken_up(lineages, version.playbook, said) if stored.get("retain") == "review" else []
    return [*disagreements, *held, *lost, *upkeep]
