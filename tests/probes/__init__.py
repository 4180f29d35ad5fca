"""Tests of probing: the question, the attempt, its cost, its place in time, and what is counted."""
