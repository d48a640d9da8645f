"""The contract between hardware, engine and workbench: its sources read and checked, and everything that is generated from them."""
