"""What the machine against a real store is made of: processes, a model of the log, and a store whose clock is set."""
