"""Sends one HTTP/1.1 request and stamps what comes back, with as little as possible between the wire and the clock."""
