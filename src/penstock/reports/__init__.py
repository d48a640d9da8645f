"""What a person sees of a result: the page and the summary."""
