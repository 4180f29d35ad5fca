"""Small agents that go on while their provider fails; each runs against the demonstration, without a key."""
