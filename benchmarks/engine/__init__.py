"""How close a learning run comes to the bound of its schedule: `python -m benchmarks.engine --help`."""
