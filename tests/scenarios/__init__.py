"""Stories in which circuit breakers have gone wrong elsewhere, each told to ours."""
