"""Rival models: fixed features and feed-forward nets."""
