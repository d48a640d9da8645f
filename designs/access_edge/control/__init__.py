"""The control plane of the access edge: what subscribers, nodes and queues mean in its registers, and the services that offer them.

facts.py       what the device says of itself
codes.py       settings as people say them, made into register words
programs.py    register words of many queues, made into as few writes as it takes
intent.py      what was asked for, kept in SQLite
plant.py       the intent and the device together: every change goes through here
waiting.py     changes of several callers at once: one transaction, one fsync
many.py        whole chunks of a stream, in columns; its loops are in C++ (scan.hpp, writes.hpp)
compare.py     what the device really has
sweep.py       counters of all queues, read again and again
problems.py    what is wrong with a request: code, field, sentence
access.py      who may do what, and how much of it; certificates.py: what is wrong with certificates
turns.py       whose call is worked on next; relay.hpp says whose connection of a Unix socket it is
services/      gRPC, a file for each noun
server.py      all of it behind a socket; serve.py with store and device; client.py the other end
tables.py      subscribers as CSV and YAML; openconfig.py from openconfig-qos; fields.py puts what people give into messages
metrics.py     counters as Prometheus reads them
memory.py      how full the packet memory is
http.py        metrics and the page (page.html) over HTTP; answers.py and looks.py: parts of what the page is told
"""

import os

os.environ.setdefault("GRPC_VERBOSITY", "NONE")  # its lines on standard error: what it means is said in words of ours
