"""In gepa's environment: its reflection over one job a trace. Arguments: address, file of traces, workers (0: its own).

Prints {"wall": seconds, "cpu": seconds, "kept": proposals}.
"""

import json
import os
import sys
import time
from functools import partial
from pathlib import Path

# Off the network: without this the price list is fetched when the client is loaded.
os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"

import litellm
from gepa.lm import LM
from gepa.proposer.reflective_mutation.reflection_lm import StatelessReflectionLM

url, path, workers = sys.argv[1], sys.argv[2], int(sys.argv[3])
traces = json.loads(Path(path).read_text())
litellm.suppress_debug_info = True
model = LM("openai/stand-in", api_base=url, api_key="none")
if workers:
    model.batch_complete = partial(model.batch_complete, max_workers=workers)
jobs = [
    (
        {"prompt": "You book invoices."},
        {"prompt": [{"Inputs": trace["task"], "Generated Outputs": trace["text"], "Feedback": trace["feedback"]}]},
        ["prompt"],
    )
    for trace in traces
]
started, spent = time.perf_counter(), time.process_time()
proposals = StatelessReflectionLM(model).reflect_many(jobs)
print(
    json.dumps(
        {
            "wall": time.perf_counter() - started,
            "cpu": time.process_time() - spent,
            "kept": sum(bool(proposal.new_texts.get("prompt")) for proposal, _ in proposals),
        }
    )
)
