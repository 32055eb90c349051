"""Other tools on the same traces and the same simulated model: `python -m benchmarks.peers --help`."""
