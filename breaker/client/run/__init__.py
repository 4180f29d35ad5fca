"""A task as its agent holds it; loaded with the first one."""
