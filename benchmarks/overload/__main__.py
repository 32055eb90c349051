"""How many planted lessons survive under each way of merging.

    python -m benchmarks.overload --model NAME --base-url URL    a real model (`combee serve-model` serves one)
    python -m benchmarks.overload --simulated                    the simulated curator, a formula and no model
    python -m benchmarks.overload --table                        what the results file holds, nothing is run

Every row is appended to the results file as it comes, and a row that is there is not measured again; a run that was
killed goes on from its own database in the work folder, as any Combee run does.
"""

import argparse
import tempfile
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from functools import partial
from itertools import product
from pathlib import Path

from benchmarks.overload.learning import learn, model_learner
from benchmarks.overload.planted import kept, plant
from benchmarks.overload.results import Row, append, key, read, table
from benchmarks.overload.simulated import simulated_learner
from benchmarks.overload.strategies import STRATEGIES
from combee_core.learners.ace import INSTRUCTIONS
from combee_core.llm.endpoint import Endpoint

RESULTS = Path(__file__).parent / "results.jsonl"
WORK = Path(tempfile.gettempdir()) / "combee-overload"
# An answer of a small model that runs in circles ends here; the longest sound one (64 bullets) is well below.
MOST_OUTPUT_TOKENS = 5_000
VERSION = "-".join(INSTRUCTIONS[task] for task in ("merge-first", "merge-again"))
PATIENCE_S = 7_200.0


@dataclass(frozen=True)
class Case:
    """One row to be measured; `endpoint` None means the simulated curator."""

    strategy: str
    n: int
    seed: int
    endpoint: Endpoint | None
    parallel: int

    @property
    def about(self) -> Row:
        """What the row says of where it was measured."""
        bare = STRATEGIES[self.strategy].bare
        return {
            "curator": self.endpoint.model if self.endpoint else "simulated",
            "strategy": self.strategy,
            "n": self.n,
            "seed": self.seed,
            "instructions": "-" if self.endpoint is None else "bare" if bare else VERSION,
        }

    def measure(self, work: Path) -> Row:
        """Learn from the planted lessons and judge the playbook."""
        strategy, lessons = STRATEGIES[self.strategy], plant(self.n, self.seed)
        if self.endpoint is None:
            opened = partial(simulated_learner, self.seed)
        else:
            opened = partial(model_learner, self.endpoint, strategy.instructed)
        settings = strategy.settings | {"seed": self.seed, "parallel": self.parallel}
        work.mkdir(parents=True, exist_ok=True)
        database = work / ("-".join(str(part) for part in key(self.about)) + ".duckdb")
        bullets, summary = learn(database, lessons, settings, opened)
        held = kept(lessons, bullets)
        return self.about | {
            "kept": sum(held),
            "bullets": len(bullets),
            "words_a_bullet": round(sum(len(bullet.split()) for bullet in bullets) / max(1, len(bullets)), 1),
            "lost": [lesson.keys[0] for lesson, is_kept in zip(lessons, held, strict=True) if not is_kept],
            **{name: summary[name] for name in ("dropped_lessons", "calls", "input_tokens", "output_tokens")},
            **{name: summary[name] for name in ("rechecks", "failed_calls")},
        }


def main() -> None:
    """Measure what is missing, print each row as it comes and the table at the end."""
    options = _options()
    rows = read(options.results)
    if not options.table:
        have = {key(row) for row in rows}
        todo = [case for case in _cases(options) if key(case.about) not in have]
        print(f"{len(todo)} rows to measure, databases in {options.work}", flush=True)
        with ThreadPoolExecutor(options.at_once) as pool:
            for done in as_completed([pool.submit(case.measure, options.work) for case in todo]):
                row = done.result()
                append(options.results, row)
                print({name: row[name] for name in ("strategy", "n", "seed", "kept", "bullets", "calls")}, flush=True)
        rows = read(options.results)
    print(table(rows))


def _cases(options: argparse.Namespace) -> list[Case]:
    """Seed by seed, so that whatever time allows is spread over all strategies."""
    endpoint = None
    if not options.simulated:
        endpoint = Endpoint(
            base_url=options.base_url,
            model=options.model,
            timeout_s=PATIENCE_S,
            max_output_tokens=MOST_OUTPUT_TOKENS,
        )
    return [
        Case(strategy, n, seed, endpoint, options.parallel)
        for n, seed, strategy in product(options.n, options.seeds, options.strategies)
    ]


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--simulated", action="store_true", help="the simulated curator instead of a model")
    parser.add_argument("--base-url", default="http://127.0.0.1:8080/v1")
    parser.add_argument("--model", help="name of the model at the endpoint")
    parser.add_argument("--n", type=int, nargs="+", default=[36], help="planted lessons")
    parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1, 2, 3, 4])
    parser.add_argument("--strategies", nargs="+", choices=STRATEGIES, default=list(STRATEGIES), metavar="NAME")
    parser.add_argument("--parallel", type=int, default=4, help="calls of one run at once")
    parser.add_argument("--at-once", type=int, default=1, help="runs at once")
    parser.add_argument("--results", type=Path, default=RESULTS)
    parser.add_argument("--work", type=Path, default=WORK, help="folder for the runs' databases")
    parser.add_argument("--table", action="store_true", help="only print the table of the results file")
    options = parser.parse_args()
    if not (options.simulated or options.table or options.model):
        parser.error("name the model with --model, or choose --simulated")
    return options


if __name__ == "__main__":
    main()
