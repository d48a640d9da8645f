"""Settings of queues, subscribers, nodes and ports: from what people say to register writes, whoever asks: scenario, library or server."""
