"""Designs: their named configurations, and their registers for software."""
