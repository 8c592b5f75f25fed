"""What the browser tests stand on: a PostgreSQL, nodes, Chromium, people, and the page by its names."""
