"""The control plane's protocol, gRPC package `penstock.v1`: a file for each noun. tools/generate_protocol.py makes the modules."""
