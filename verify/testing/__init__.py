"""For property tests: instances and attention from small integers, and strategies over them."""
