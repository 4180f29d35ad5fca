"""What the door says of runs: their shapes, what may be told of one, and the part of the page that is about them."""
