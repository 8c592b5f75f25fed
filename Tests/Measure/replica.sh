#!/usr/bin/env bash
# What a replica gives sends: `parley bench latency` beside many history pages, read from the primary and from a streaming
# standby, in turns.
#
#   make release && Tests/Measure/replica.sh [ROUNDS [SECONDS [PAGES_PER_SECOND]]]
#
# Needs hey and curl. The standby and the reader run with the lowest priority (nice 19), because they would be on machines
# of their own. Prints for each round the pages per second and the times of sends.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
if [ -z "${PARLEY_URL:-}" ]; then
    export REPLICA_ROUNDS=${1:-3} REPLICA_SECONDS=${2:-12} PAGES=${3:-2000}
    RUN="$here/replica.sh" exec "$here/bench.sh"
fi

parley=${PARLEY_EXECUTABLE:-$here/../../.build/release/parley}
bin=$(dirname "$(readlink -f "/proc/$POSTGRES_PID/exe")")
directory=$(mktemp -d /tmp/parley-replica-XXXXXX)
chmod 755 "$directory"
as_owner=()
if [ "$(id -u)" = 0 ]; then
    chown postgres "$directory"
    as_owner=(setpriv --reuid=postgres --regid=postgres --clear-groups --)
fi
node=
end() {
    [ -z "$node" ] || { kill "$node"; wait "$node" || true; }
    "${as_owner[@]}" "$bin/pg_ctl" -D "$directory/standby" -m immediate -s stop || true
    rm -rf "$directory"
}
trap end EXIT

"${as_owner[@]}" "$bin/pg_basebackup" -d "${PARLEY_DATABASE_URL/dbname=parley/}" -D "$directory/standby" -R -X stream -c fast
"${as_owner[@]}" nice -n 19 "$bin/pg_ctl" -D "$directory/standby" -s -w -l "$directory/log" -o "-c listen_addresses= \
    -c unix_socket_directories=$directory -c unix_socket_permissions=0777 -c max_connections=200" start
env -u PARLEY_CONFIG -u PARLEY_EXECUTABLE -u PARLEY_URL -u PARLEY_PIDS PARLEY_HTTP_PORT=0 PARLEY_LOG_LEVEL=warning \
    PARLEY_RATE_LIMITS=off PARLEY_READ_URL="host=$directory user=parley dbname=parley" "$parley" serve >"$directory/ready" &
node=$!
for _ in $(seq 300); do [ -s "$directory/ready" ] && break; sleep 0.1; done
with_replica=$(grep -o 'http://[0-9.:]*' "$directory/ready")

call() { curl -sS --fail -H "Authorization: Bearer ${token:-}" -H 'Content-Type: application/json' "$@"; }
token=$(call "$PARLEY_URL/v1/auth/register" \
    -d '{"username": "reader", "password": "correct horse battery", "name": "Reader"}' |
    python3 -c 'import json, sys; print(json.load(sys.stdin)["session"]["token"])')
thread=$(call "$PARLEY_URL/v1/threads" -d '{"kind": "room", "title": "History"}' |
    python3 -c 'import json, sys; print(json.load(sys.stdin)["id"])')
for number in $(seq 300); do
    call "$PARLEY_URL/v1/threads/$thread/messages" -d "{\"payload\": {\"text\": \"message $number $(printf '%080d')\"}}"
done >/dev/null

# beside NAME URL NODE_PID: sends to a node while its history is read.
beside() {
    nice -n 19 hey -z "$((REPLICA_SECONDS + 4))s" -c 20 -q "$((PAGES / 20))" -H "Authorization: Bearer $token" \
        "$2/v1/threads/$thread/messages?limit=50" >"$directory/pages" &
    local reader=$!
    sleep 1
    "$parley" bench latency --url "$2" --server-pid "$3" --database "$PARLEY_DATABASE_URL" \
        --postgres-pid "$POSTGRES_PID" --seconds "$REPLICA_SECONDS" >"$directory/sends" 2>/dev/null
    wait "$reader"
    echo "$1: $(awk '/Requests\/sec/ { printf "%.0f", $2 }' "$directory/pages") pages/s," \
        "$(grep -E '^(send_to_answer_ms|cpu_us)' "$directory/sends" | tr -s ' ' | paste -sd' ')"
}
for round in $(seq "$REPLICA_ROUNDS"); do
    beside "round $round, primary" "$PARLEY_URL" "$PARLEY_PIDS"
    beside "round $round, replica" "$with_replica" "$node"
done
call "$with_replica/metrics" | grep '^parley_replica_.*reads_total'
