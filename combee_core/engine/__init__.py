"""The learning loop: batches of traces become reflections, a merge tree of operations, and a new prompt version."""
