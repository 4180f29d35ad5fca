"""What agents report after their steps: read one by one, or all at once where nothing is wrong with any of them."""

from breaker.api.reports.reading import MAX_REPORTS, Reader, id_of, items, schema

__all__ = ["MAX_REPORTS", "Reader", "id_of", "items", "schema"]
