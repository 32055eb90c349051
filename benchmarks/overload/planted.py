"""Planted lessons: each has keys of its own (a name, an identifier, a number) in one sentence inside two of story.

The same n and seed give the same lessons. A lesson is kept when one bullet of the playbook holds all of its keys.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import product
from random import Random

from combee_core.trace import Message, Outcome, Source, Trace

# {name} and {field} and {number} are the keys; everything around them is common to many lessons.
FACTS = (
    "The {name} API returns at most {number} rows a page, so follow {field} until it is empty.",
    "{name} reports {field} in units of {number} grams, so divide before comparing weights.",
    "In {name}, {field} must be sent as a string of exactly {number} characters, padded with zeros.",
    "The {name} service rejects requests with {field} above {number}, so split larger ones.",
    "{name} closes idle sessions after {number} seconds, so call {field} before long steps.",
    "Files for {name} need {field} in column {number}, otherwise the import skips every row.",
    "{name} counts {field} from day {number} of the year, not from the first of January.",
    "The {name} sandbox only answers on port {number} when {field} is set to true.",
    "{name} locks an account after {number} failed calls of {field}, so stop and ask before that.",
    "For {name}, set {field} to {number} before the first call, because its default silently drops results.",
    "{name} rounds {field} to multiples of {number}, so totals must be compared after rounding.",
    "When {name} answers with error {number}, refresh {field} and send the same request again.",
)
BEFORE = (
    "The customer wrote twice on the same morning and wanted an answer before lunch.",
    "The agent started well, read the ticket and opened the right tool at once.",
    "This run came in late in the day, after a colleague had already tried to solve it.",
    "At first everything looked like the usual case that the team sees every week.",
    "The user had attached two screenshots and a long message about an earlier problem.",
    "The agent spent its first steps on reading old notes that did not matter here.",
    "There was some confusion about which of the two systems the user was talking about.",
    "The task sounded simple, and the agent said so in its first message.",
)
AFTER = (
    "In the end the user was content, but it had taken far longer than it should.",
    "The agent apologised, tried again and got the expected result on the last attempt.",
    "Nobody noticed until the evening check, when the figures did not agree.",
    "A short note to the team was written, and the ticket was closed the next day.",
    "The remaining steps went as planned and need no further comment.",
    "It was a small thing, yet the whole task was marked as failed because of it.",
    "The user asked for a written summary, which the agent sent an hour later.",
    "After that the run was quick, and the final answer was accepted.",
)
ONSETS = "Bal Cor Dun Fen Gar Hol Jas Kel Lor Mar Nar Or Pel Quin Ros Sel Tor Ul Ver Wen Yar Zel".split()
MIDDLES = "a e i o u an en or is ul".split()
ENDINGS = "bit dex fold gate lane mont nova pine rock sync trail vane wick".split()
ADJECTIVES = (
    "batch billing carrier cutoff delivery dispatch export filter freight gross invoice ledger margin network order "
    "parcel payment period quota refund region release report retry return sample session shipment stock storage "
    "supplier tariff token transfer vendor voucher"
).split()
NOUNS = (
    "amount balance buffer code count cursor date depth factor flag format index key level limit marker mode number "
    "offset owner point range rate ref scope size source stamp state target total type unit value weight window zone"
).split()


@dataclass(frozen=True)
class Planted:
    """One lesson: `text` is what a reflection would hand up, `keys` are what a bullet must hold to have kept it."""

    text: str
    keys: tuple[str, ...]

    def trace(self, number: int) -> Trace:
        """A failed run whose feedback is the lesson."""
        return Trace(
            task=f"Task {number}",
            messages=(Message(role="user", text=f"Task {number}"), Message(role="assistant", text="Done.")),
            outcome=Outcome(success=False),
            feedback=self.text,
            source=Source(file="planted", format="openai-chat", line=number + 1),
        )


def plant(n: int, seed: int) -> list[Planted]:
    """n lessons with keys that no other lesson has. n is at most 1,300 (so many field names there are)."""
    random = Random(f"planted:{seed}")
    names = ["".join(parts) for parts in product(ONSETS, MIDDLES, ENDINGS)]
    fields = ["_".join(parts) for parts in product(ADJECTIVES, NOUNS)]
    keys = zip(random.sample(names, n), random.sample(fields, n), random.sample(range(11, 10_000), n), strict=True)
    return [_lesson(random, name, field, str(number)) for name, field, number in keys]


def _lesson(random: Random, name: str, field: str, number: str) -> Planted:
    fact = random.choice(FACTS).format(name=name, field=field, number=number)
    return Planted(f"{random.choice(BEFORE)} {fact} {random.choice(AFTER)}", (name, field, number))


def kept(lessons: Sequence[Planted], bullets: Iterable[str]) -> list[bool]:
    """For each lesson whether one of the bullets holds all of its keys, as whole words; case and `4,730` for 4730 are
    forgiven."""
    words = [_words(bullet) for bullet in bullets]
    return [any(all(key.lower() in held for key in lesson.keys) for held in words) for lesson in lessons]


def _words(text: str) -> set[str]:
    joined = re.sub(r"(?<=\d),(?=\d{3}\b)", "", text)
    return set(re.findall(r"\w+", joined.lower()))
