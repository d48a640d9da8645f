"""Tools for the hardware: what modules there are, simulation, synthesis, generation, lint."""
