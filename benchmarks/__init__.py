"""Measurements of what a promise costs or how long it takes: each file is a script that prints a table."""
