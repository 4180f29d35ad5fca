"""Writes every dashboard."""

from pathlib import Path

from dashboards import ALL

if __name__ == "__main__":
    for dashboard in ALL:
        (Path(__file__).parent / dashboard.file).write_text(dashboard.text(), encoding="utf-8")
