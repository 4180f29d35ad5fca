"""What an agent installs: route, report."""
