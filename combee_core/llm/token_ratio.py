"""How many tokens a text has, by its characters and by the usage that the endpoint reports; no vocabulary is needed."""

# What holds for English and code with today's vocabularies, and how many characters it is worth against what is seen.
USUAL_CHARS_A_TOKEN = 4.0
TRUST_CHARS = 2_000

# A report outside of these is no count of this text: a cached prompt left out, an image or a hidden prompt counted in.
FEWEST_CHARS_A_TOKEN = 0.25
MOST_CHARS_A_TOKEN = 12.0


class TokenRatio:
    """Estimates tokens, the better the more usage it has seen.

    What was learnt counts as a sum: the order in which calls end makes no difference to an estimate after them.
    """

    def __init__(self) -> None:
        self._chars = 0
        self._tokens = 0

    @property
    def chars_a_token(self) -> float:
        """Characters that make one token, on average."""
        return (TRUST_CHARS + self._chars) / (TRUST_CHARS / USUAL_CHARS_A_TOKEN + self._tokens)

    def learn(self, chars: int, tokens: int) -> None:
        """Take in that a text of so many characters was reported as so many tokens; an absurd report is ignored."""
        if chars > 0 and tokens > 0 and FEWEST_CHARS_A_TOKEN <= chars / tokens <= MOST_CHARS_A_TOKEN:
            self._chars += chars
            self._tokens += tokens

    def tokens(self, text: str) -> int:
        """The estimated tokens of a text, rounded up; 0 for an empty one."""
        return self.tokens_of(len(text))

    def tokens_of(self, chars: int) -> int:
        """The estimated tokens of so many characters, rounded up."""
        return -int(-chars // self.chars_a_token)
