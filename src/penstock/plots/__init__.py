"""Figures for papers: what a run, a comparison, a sweep or a paper shows, as SVG or PDF."""
