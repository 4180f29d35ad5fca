"""The answers to `GET /route`: made ahead of the questions, held back until they change, given before the app."""
