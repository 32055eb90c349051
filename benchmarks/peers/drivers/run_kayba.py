"""In kayba's environment: its TraceAnalyser. Arguments: address, file of traces, workers (0: its own number).

Prints {"wall": seconds, "cpu": seconds, "kept": skills}.
"""

import json
import os
import sys
import time
from pathlib import Path

url, path, workers = sys.argv[1], sys.argv[2], int(sys.argv[3])
os.environ |= {"OPENAI_BASE_URL": url, "OPENAI_API_KEY": "none", "LITELLM_LOCAL_MODEL_COST_MAP": "True"}

from ace import Reflector, SkillManager, TraceAnalyser  # noqa: E402
from ace.steps.reflect import ReflectStep  # noqa: E402

MODEL = "openai-chat:stand-in"

if workers:
    ReflectStep.max_workers = workers
traces = [
    {"question": trace["task"], "reasoning": trace["text"], "answer": "booked", "feedback": trace["feedback"]}
    for trace in json.loads(Path(path).read_text())
]
analyser = TraceAnalyser.from_roles(reflector=Reflector(MODEL), skill_manager=SkillManager(MODEL))
started, spent = time.perf_counter(), time.process_time()
results = analyser.run(traces)
kept = len(analyser.skillbook.skills())
if not kept:
    sys.exit(f"nothing was learnt: {results[0].error}")
print(
    json.dumps(
        {
            "wall": time.perf_counter() - started,
            "cpu": time.process_time() - spent,
            "kept": kept,
        }
    )
)
