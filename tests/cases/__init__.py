"""Exchanges with providers, in our own words: failures in disguise, and real answers that look like failures."""
