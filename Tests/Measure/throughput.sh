#!/usr/bin/env bash
# Batched appends against one transaction a message, in turns on a fresh private cluster of the same settings.
#
#   swift build -c release --product parley && Tests/Measure/throughput.sh [SECONDS a run, 10] [ROUNDS, 3]
#
# PARLEY_EXECUTABLE: another build than .build/release/parley. SENDERS, NODES: 32 and 1.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
parley=${PARLEY_EXECUTABLE:-$here/../../.build/release/parley}
seconds=${1:-10}
rounds=${2:-3}
[ -x "$parley" ] || { echo "There is no $parley: build it first." >&2; exit 1; }
senders=${SENDERS:-32}
bin=$(ls -d /usr/lib/postgresql/15/bin 2>/dev/null || dirname "$(command -v initdb)")
directory=$(mktemp -d /tmp/parley-measure-XXXXXX)
nodes=()

# PostgreSQL refuses to run as root.
as_owner=()
if [ "$(id -u)" = 0 ]; then
    chown postgres "$directory"
    as_owner=(setpriv --reuid=postgres --regid=postgres --clear-groups --)
fi
chmod 711 "$directory"

end() {
    for node in ${nodes[@]+"${nodes[@]}"}; do kill "$node" 2>/dev/null && wait "$node" || true; done
    "${as_owner[@]}" "$bin/pg_ctl" -D "$directory/postgres" -m immediate -s stop || true
    rm -rf "$directory"
}
trap end EXIT

cd "$directory"
"${as_owner[@]}" "$bin/initdb" -D "$directory/postgres" -U parley --auth=trust -E UTF8 --locale=C >/dev/null
"${as_owner[@]}" "$bin/pg_ctl" -D "$directory/postgres" -s -w -l "$directory/postgres/log" -o "-c listen_addresses= \
    -c unix_socket_directories=$directory -c unix_socket_permissions=0777 -c max_connections=200 -c shared_buffers=128MB \
    -c max_wal_size=1GB -c wal_compression=on -c jit=off" start
export PGHOST=$directory PGUSER=parley
createdb() { psql -X -q -d postgres -c "create database $1"; }

createdb baseline
psql -X -q -d baseline -f "$here/one_transaction_a_message.sql"
createdb parley
urls=()
for number in $(seq "${NODES:-1}"); do
    env -u PARLEY_CONFIG PARLEY_HTTP_PORT=0 PARLEY_LOG_LEVEL=warning \
        PARLEY_DATABASE_URL="host=$directory user=parley dbname=parley" \
        "$parley" serve >"$directory/ready$number" 2>"$directory/log$number" &
    nodes+=($!)
    for _ in $(seq 300); do [ -s "$directory/ready$number" ] && break; kill -0 $! 2>/dev/null || break; sleep 0.1; done
    url=$(grep -o 'http://[0-9.:]*' "$directory/ready$number") || { cat "$directory/log$number" >&2; exit 1; }
    urls+=("$url")
done

# In turns, so that whatever else the machine does meets both.
baselines=0
rates=0
for round in $(seq "$rounds"); do
    pgbench=$("$bin/pgbench" -n -M prepared -c "$senders" -j 2 -T "$seconds" \
        -f "$here/one_transaction_a_message.pgbench" baseline 2>/dev/null)
    baseline=$(sed -n 's/^tps = \([0-9]*\).*/\1/p' <<<"$pgbench")
    result=$(python3 "$here/throughput.py" "${urls[@]}" --senders "$senders" --seconds "$seconds")
    rate=$(sed -n 's/.*"messages_per_s": \([0-9]*\).*/\1/p' <<<"$result")
    mean=$(sed -n 's/.*"batch_mean": \([0-9.]*\).*/\1/p' <<<"$result")
    echo "round $round: one transaction a message $baseline/s, Parley over HTTP $rate/s in batches of $mean"
    baselines=$((baselines + baseline))
    rates=$((rates + rate))
done
echo "$result"
awk -v parley="$rates" -v baseline="$baselines" -v rounds="$rounds" 'BEGIN {
    printf "mean: Parley %d/s, one transaction a message %d/s, ratio %.2f\n",
        parley / rounds, baseline / rounds, parley / baseline }'
