"""What V alone decides: how small the loss can be made, for all queries at once."""
