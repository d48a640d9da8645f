#!/bin/bash
# SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
# A day of an operator, through the public commands alone: serve, plans, an import, watching, alarms, a plan that changes, a gate, a backup
# while changes go on, an end by SIGTERM, and a start from the backup, whose subscribers are compared. Ends with 0 only if all is as it should.
# Takes an empty folder; PENSTOCK is the command, PYTHON what reads pages over HTTP.
set -euo pipefail
cd "$1"
say() { echo "operator: $*"; }
ctl() { $PENSTOCK ctl --server "unix:$PWD/ctl.sock" "$@"; }
page() { "$PYTHON" -c 'import sys, urllib.request as r; sys.stdout.write(r.urlopen(sys.argv[1], timeout=60).read().decode())' "$1"; }

cat > day.yaml <<'EOF'
name: day
description: Sixteen places below four nodes; every queue is sent a little.
device: { config: tree_64 }
duration: 3600 s
nodes: [{ ids: "0-3", rate: 100 Mbit/s }]
traffic: [{ poisson: { queues: "0-63", pick: random, rate: 40 Mbit/s, size: imix } }]
EOF

serving=""
begin() { # with these options
    $PENSTOCK serve day.yaml --listen "unix:$PWD/ctl.sock" --http "127.0.0.1:$PORT" "$@" > serve.log 2>&1 &
    serving=$!
    for _ in $(seq 2400); do # what is compiled at first takes its time
        grep -q "Ctrl-C ends it" serve.log && return
        kill -0 "$serving" || { cat serve.log; exit 1; }
        sleep 0.5
    done
    cat serve.log; exit 1
}
finish() { # an end by SIGTERM is a good one
    kill -TERM "$serving"
    wait "$serving"
    serving=""
}
trap '[ -z "$serving" ] || kill "$serving"' EXIT

say "morning: the device is served, and plans are made"
begin --store monday.sqlite
ctl plan set silver --rate 20Mbit/s --queue "rate=1Mbit/s class=0 limit_packets=50" --queue "class=3 limit_packets=200"
ctl plan set gold --rate 50Mbit/s --queue "rate=2Mbit/s class=0 limit_packets=50" --queue "class=3 limit_packets=400"

say "subscribers come from a file"
{
    echo "name,index,node,plan"
    for home in $(seq 0 7); do
        if [ $((home % 2)) = 0 ]; then echo "home-$home,$home,$((home / 4)),gold"; else echo "home-$home,$home,$((home / 4)),silver"; fi
    done
} > homes.csv
ctl import homes.csv
ctl subscriber list > list.txt
cat list.txt
[ "$(grep -c '^home-.*open' list.txt)" = 8 ]
ctl plan list | grep gold

say "counters, the busiest queues, memory, the page and its metrics"
ctl counters
ctl top
page "http://127.0.0.1:$PORT/" | grep -i "<title>" > title.txt
page "http://127.0.0.1:$PORT/metrics" > metrics.txt
# Each series that a rule of the alarms asks for is there.
grep -o 'penstock_[a-z_]*' "$ALARMS" | sort -u > asked.txt
[ -s asked.txt ]
while read -r series; do
    grep -q "^$series\|^# TYPE ${series%_total} " metrics.txt || { echo "no series $series, which the alarms ask for"; exit 1; }
done < asked.txt

say "noon: gold becomes faster, for all who have it"
ctl plan set gold --rate 80Mbit/s --queue "rate=2Mbit/s class=0 limit_packets=50" --queue "class=3 limit_packets=400"
ctl subscriber show home-0 | tr -d ' ' | grep -i "80Mbit/s"
ctl subscriber show home-1 | tr -d ' ' | grep -i "20Mbit/s"

say "a gate is closed and opened"
ctl gate close home-3
ctl subscriber show home-3 | grep -i closed
ctl gate open home-3

say "a backup while subscribers come"
ctl export before.csv
for new in $(seq 8 13); do
    ctl subscriber add "new-$new" --node 3 --plan silver && echo "new-$new" >> acknowledged.txt
    [ "$new" != 9 ] || touch go
done > changes.log 2>&1 &
changing=$!
until [ -e go ]; do sleep 0.1; done
cp acknowledged.txt acknowledged-before.txt
ctl backup monday-evening.sqlite
wait "$changing"
[ "$(wc -l < acknowledged.txt)" = 6 ]
ctl diff
ctl audit | tail -3
finish

say "the next morning: a start from the backup"
begin --store tuesday.sqlite --restore monday-evening.sqlite
ctl export after.csv
grep -v '^new-' before.csv > before-homes.csv
grep -v '^new-' after.csv > after-homes.csv
cmp before-homes.csv after-homes.csv
while read -r name; do grep -q "^$name," after.csv; done < acknowledged-before.txt
ctl diff
ctl plan list
finish
say "done"
