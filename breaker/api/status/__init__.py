"""The status page elsewhere: as JSON in two shapes, as a feed, and as badges."""
