"""Scenarios: what a file may say, how it is read, and the job that the engine gets."""
