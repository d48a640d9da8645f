"""Settings of queues, subscribers, nodes and ports: from plain values to register writes, for scenarios, the library and a server alike."""
