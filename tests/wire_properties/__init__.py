"""What holds of every wire for whatever bytes come."""
