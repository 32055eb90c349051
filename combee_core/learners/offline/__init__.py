"""What the offline rules engine is made of: finding lessons in a trace by rules, and telling which say the same."""
