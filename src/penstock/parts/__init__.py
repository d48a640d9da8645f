"""Parts: an AQM or a scheduler as one folder with its RTL, its model, its settings and its tests; ours, and those of others."""
