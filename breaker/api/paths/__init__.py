"""The door's paths, by who uses them."""
