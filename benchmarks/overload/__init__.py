"""Context overload made visible: planted lessons, and how many of them each way of merging still holds at the end."""
