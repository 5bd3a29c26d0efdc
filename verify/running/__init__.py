"""Work spread over processes, within the memory there is."""
