#!/bin/bash
# SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
# A day of a researcher, through the public commands alone: a run with a warm-up, an AQM in Python, the same beside CoDel and PIE, a sweep that
# goes on after a stop, figures, every packet, tables. Ends with 0 only if all is as it should. Takes an empty folder; PENSTOCK is the command.
set -euo pipefail
cd "$1"
say() { echo "researcher: $*"; }

say "an idea: mark what has waited for longer than its share of the limit"
cat > idea.py <<'EOF'
"""Marks by waiting time: never below the target, always above twice the target, by chance between."""
settings = {"target": "5 ms"}

def on_dequeue(queue, packet):
    above = packet.sojourn_ns / queue.target - 1
    if above >= 1 or (above > 0 and rng.random() < above):
        return "mark"
EOF
cat > bottleneck.yaml <<'EOF'
name: bottleneck
description: Four TCP connections through one queue of 20 Mbit/s.
device: { config: demo_64, aqm: idea }
duration: 3 s
report: { after: 1 s, interval: 10 ms }
queues: [{ id: 0, name: data, rate: 20 Mbit/s, burst: 3 kB, limit_packets: 200, aqm: {} }]
traffic: [{ tcp: { queues: data, flows: 4, rtt: 20 ms } }]
EOF
$PENSTOCK run bottleneck.yaml --with idea.py --engine model --packets --out idea
for aqm in codel pie; do $PENSTOCK run bottleneck.yaml --with idea.py --engine model --set device.aqm=$aqm --out $aqm; done
$PENSTOCK compare idea codel pie
grep -q '"measured_from_s": 1.0' idea/result.json
[ -s idea/packets.parquet ]

say "figures of one run, and of three beside each other"
$PENSTOCK plot idea --format svg,pdf
$PENSTOCK plot idea codel pie --out beside
for file in idea/plots/throughput.svg idea/plots/delay.pdf idea/plots/tcp_window.svg beside/delay_cdf.svg; do [ -s "$file" ]; done
grep -q "Share of packets" beside/delay_cdf.svg

say "a sweep over load and AQM, stopped and gone on with"
cat > loads.yaml <<'EOF'
run: bottleneck.yaml
engines: model
seeds: 1..2
set:
  device.aqm: [codel, idea]
  traffic.0.tcp.flows: [1, 8]
plots:
  - { x: traffic.0.tcp.flows, y: queues.data.latency_ns.mean, by: device.aqm }
  - { x: traffic.0.tcp.flows, y: tcp.goodput_bps, by: device.aqm }
EOF
$PENSTOCK sweep loads.yaml --with idea.py > sweep.log 2>&1 &
sweeping=$!
for _ in $(seq 600); do
    [ "$(ls results/sweeps/loads/runs 2> /dev/null | wc -l)" -lt 2 ] || break
    kill -0 $sweeping 2> /dev/null || break
    sleep 0.2
done
kill -INT $sweeping 2> /dev/null || true
wait $sweeping || true
$PENSTOCK sweep loads.yaml --with idea.py
[ "$(wc -l < results/sweeps/loads/table.csv)" = 9 ]
$PENSTOCK plot results/sweeps/loads
[ "$(ls results/sweeps/loads/plots/*.svg | wc -l)" = 2 ]

say "tables, and small pages"
$PENSTOCK export idea
head -1 idea/csv/over_time.csv | grep -q queue_packets
$PENSTOCK report idea codel pie --small
[ -s plotly.js ] && [ "$(wc -c < codel/report.html)" -lt 1000000 ]
say "done"
