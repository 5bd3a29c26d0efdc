"""Questions about one instance: decided in balls, and kept in files to be decided again."""
