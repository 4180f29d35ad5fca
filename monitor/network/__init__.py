"""Whether our own network is up, so that no target is blamed for it."""
