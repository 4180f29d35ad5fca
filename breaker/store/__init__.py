"""Keeps circuits, logs and moves in Redis or Valkey."""
