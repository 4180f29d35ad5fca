"""Decides whether a provider's model may be asked, and which one to ask instead."""

__version__ = "0.1.0"
