"""Makes finished calls durable before anything builds on them, many at a time."""

import asyncio
from concurrent.futures import ThreadPoolExecutor

from combee_core.store.runs import NodeRow, Runs

# One commit costs about 6 ms whether it holds one row or fifty: calls that end close together share it.
LINGER_S = 0.01


class Journal:
    """Collects finished nodes of one run and writes them in shared transactions, off the event loop."""

    def __init__(self, runs: Runs, run: str) -> None:
        self._runs = runs
        self._run = run
        self._pending: list[tuple[NodeRow, asyncio.Future[None]]] = []
        self._writer: asyncio.Task[None] | None = None
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix=f"combee-journal-{run}")

    async def record(self, node: NodeRow) -> None:
        """Return once the node is on disk."""
        written: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._pending.append((node, written))
        if self._writer is None or self._writer.done():
            self._writer = asyncio.create_task(self._write_pending())
        await asyncio.shield(written)

    async def _write_pending(self) -> None:
        loop = asyncio.get_running_loop()
        while self._pending:
            await asyncio.sleep(LINGER_S)
            batch, self._pending = self._pending, []
            nodes = [node for node, _ in batch]
            try:
                await loop.run_in_executor(self._thread, self._runs.add_nodes, self._run, nodes)
            except Exception as error:
                for _, written in batch:
                    written.set_exception(error)
            else:
                for _, written in batch:
                    written.set_result(None)

    async def close(self) -> None:
        """Wait until everything that was recorded is written."""
        if self._writer is not None:
            await self._writer
        self._thread.shutdown(wait=True)
