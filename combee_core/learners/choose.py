"""Which learner a run uses: the model of its endpoint, or the offline rules engine when none is set."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from combee_core.learners.ace import AceLearner
from combee_core.learners.base import Learner
from combee_core.learners.rules import RulesLearner
from combee_core.llm.endpoint import Endpoint, OpenAIModel


@asynccontextmanager
async def open_learner(endpoint: Endpoint | None, api_key: str | None) -> AsyncIterator[Learner]:
    """The learner for one run; its connections are closed at the end."""
    if endpoint is None:
        yield RulesLearner()
        return
    model = OpenAIModel(endpoint, api_key)
    # The client takes over half a second to import: not on the event loop, and before the first call is timed.
    await asyncio.to_thread(model.connect)
    try:
        yield AceLearner(model)
    finally:
        await model.aclose()
