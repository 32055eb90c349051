"""What a learning run is asked to do; stored with the run, so that a resumed run does the very same."""

from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from combee_core.batch_size import TAU_SHARE
from combee_core.llm.endpoint import Endpoint
from combee_core.llm.token_ratio import USUAL_CHARS_A_TOKEN
from combee_core.scan import Shuffle
from combee_core.strategies import STRATEGIES, StrategyName

# Beyond this a number can be neither stored nor meant.
LARGEST = 10**12

Count = Annotated[int, Field(ge=1, le=LARGEST)]
BatchSize = Count
PromptName = Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$")]


class RunSettings(BaseModel):
    """Settings of one run. The defaults are the paper's where it names one (copies 2, k = floor(sqrt(n))).

    `batch` traces go into one iteration; auto leaves that to the batch size controller, which tries `batch_candidates`
    (None: three to five steps) and goes to the plateau where one more trace saves a share of `tau` of what it saves at
    the smallest; `batch_from` is the run whose delays spare it the trials. `parallel` calls are in flight at most; each
    reflection is dealt out `copies` times to `groups` groups (None: floor(sqrt(n))). `shuffle` apart puts copies into
    different groups, plain is the paper's, none leaves them in order. `strategy` is how reflections become one update;
    it heeds what of these concerns it, and one that has a batch size of its own (sequential: 1) sets `batch`.
    `endpoint` None means the offline rules engine. `base` is the version to start from (None: empty).
    A run of a comparison learns a prompt of its own; `compared_for` is the prompt that is compared for, `compared_as`
    what this run was called there.

    `fan_in` bounds the inputs of a merge above the groups (None: floor(sqrt(n)) times `copies`), `token_budget` the
    tokens of any merge's prompt, at `chars_a_token` (None: no bound): levels are added where they would be more. With a
    `staleness` of 1 the next batch is reflected on while this one is merged, with the playbook from before both.
    `hedge` asks once more when a call has taken longer than so many percent of its kind; `quorum` lets a group merge
    when so large a share of its reflections is there, and those that are late for all their groups join the next batch
    (which are late is up to the clock). `second_chance` lets lessons that were left out join the next batch once.
    `fold_twins` folds items that say the same before a merge above the groups, `recheck` asks a merge once more for
    items that it left out.
    `retain` says what becomes of lessons that are left out even then: review offers them in the review, carry adds them
    as they are, off only lists them; all three off is the paper's setting. Bullets that fewer than `min_support` traces
    stand behind are held back for the review. Beyond `playbook_tokens` the review proposes bullets to remove. `max_…`
    are budgets (calls, tokens in and out, US dollars, minutes) that the run stops before passing; `rpm` and `tpm` are
    caps on requests and tokens a minute that it keeps by waiting.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    prompt: PromptName
    compared_for: PromptName | None = None
    compared_as: str | None = None
    base: str | None = None
    batch: BatchSize | Literal["auto"] = 32
    batch_candidates: tuple[BatchSize, ...] | None = Field(default=None, min_length=1)
    tau: float = Field(default=TAU_SHARE, gt=0, le=1)
    batch_from: str | None = None
    parallel: int = Field(default=16, ge=1, le=4096)
    copies: int = Field(default=2, ge=1, le=16)
    groups: Count | None = None
    shuffle: Shuffle = "apart"
    strategy: StrategyName = "combee"
    seed: int = Field(default=0, ge=-LARGEST, le=LARGEST)
    epochs: int = Field(default=1, ge=1, le=1000)
    endpoint: Endpoint | None = None
    fan_in: int | None = Field(default=None, ge=2, le=LARGEST)
    token_budget: int | None = Field(default=None, ge=100, le=LARGEST)
    chars_a_token: float = Field(default=USUAL_CHARS_A_TOKEN, gt=0)
    staleness: Literal[0, 1] = 0
    hedge: float | None = Field(default=None, gt=0, lt=100)
    quorum: float = Field(default=1.0, gt=0, le=1)
    second_chance: bool = False
    fold_twins: bool = True
    recheck: bool = True
    retain: Literal["off", "review", "carry"] = "review"
    min_support: Count | None = None
    playbook_tokens: Count | None = None
    max_calls: Count | None = None
    max_tokens: Count | None = None
    max_cost: float | None = Field(default=None, gt=0, allow_inf_nan=False)
    max_minutes: float | None = Field(default=None, gt=0, allow_inf_nan=False)
    rpm: Count | None = None
    tpm: Count | None = None

    @model_validator(mode="before")
    @classmethod
    def _batch_of_the_strategy(cls, values: Any) -> Any:
        name = values.get("strategy") if isinstance(values, dict) else None
        size = STRATEGIES[name].batch_size if name in STRATEGIES else None
        return values if size is None else values | {"batch": size}

    @model_validator(mode="after")
    def _measured_one_by_one(self) -> Self:
        if self.batch == "auto" and self.staleness:
            raise ValueError(
                "An automatic batch size measures one iteration after the other: with a staleness of 1, set a batch "
                "size."
            )
        return self


def what_is_wrong(error: ValidationError) -> str:
    """One sentence on the first setting that cannot be used, by the name of its option."""
    first = error.errors()[0]
    if not first["loc"]:
        return str(first["msg"]).removeprefix("Value error, ")
    setting = str(first["loc"][0])
    if setting == "prompt":
        return f"{first['input']!r} cannot be a prompt's name: use letters, digits, dot, dash and underscore."
    return f"--{setting.replace('_', '-')} cannot be {first['input']}: {first['msg'].replace('Input', 'it', 1)}."
