#!/usr/bin/env bash
# Runs `parley bench` on a private PostgreSQL and release nodes, and removes both afterwards.
#
#   make release && Tests/Measure/bench.sh send --seconds 10 [any flag of parley bench]
#
# NODES              number of nodes, 1 by default
# PARLEY_EXECUTABLE  the nodes' executable, .build/release/parley by default
# BENCH_EXECUTABLE   the load generator's executable, the nodes' by default
# POSTGRES_SETTINGS  further PostgreSQL options, such as "-c synchronous_commit=off"
# RUN                a command to run instead of parley bench. Its environment has PARLEY_URL (the nodes' addresses),
#                    PARLEY_PIDS, PARLEY_DATABASE_URL and POSTGRES_PID.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
parley=${PARLEY_EXECUTABLE:-$here/../../.build/release/parley}
bench=${BENCH_EXECUTABLE:-$parley}
[ -x "$parley" ] || { echo "$parley does not exist. Build it first: make release" >&2; exit 1; }
bin=$(for program in /usr/lib/postgresql/*/bin/initdb "$(command -v initdb)"; do
    if [ -x "$program" ]; then dirname "$program"; fi
done | sort -V | tail -n 1)
[ -n "$bin" ] || { echo "initdb was not found. Install PostgreSQL first: .ci/deps" >&2; exit 1; }
directory=$(mktemp -d /tmp/parley-bench-XXXXXX)
nodes=()

# PostgreSQL refuses to run as root.
as_owner=()
if [ "$(id -u)" = 0 ]; then
    chown postgres "$directory"
    as_owner=(setpriv --reuid=postgres --regid=postgres --clear-groups --)
fi
chmod 711 "$directory"

end() {
    for node in ${nodes[@]+"${nodes[@]}"}; do kill "$node" 2>/dev/null || true; done
    for node in ${nodes[@]+"${nodes[@]}"}; do wait "$node" || true; done
    "${as_owner[@]}" "$bin/pg_ctl" -D "$directory/postgres" -m immediate -s stop || true
    rm -rf "$directory"
}
trap end EXIT
trap 'exit 130' INT TERM

cd "$directory"
# The settings of the embedded PostgreSQL (Sources/EmbeddedPostgres/ClusterSettings.swift).
"${as_owner[@]}" "$bin/initdb" -D "$directory/postgres" -U parley --auth=trust -E UTF8 --locale=C >/dev/null
"${as_owner[@]}" "$bin/pg_ctl" -D "$directory/postgres" -s -w -l "$directory/postgres/log" -o "-c listen_addresses= \
    -c unix_socket_directories=$directory -c unix_socket_permissions=0777 -c max_connections=200 \
    -c shared_buffers=128MB -c max_wal_size=1GB -c checkpoint_timeout=15min -c wal_compression=lz4 -c jit=off \
    -c random_page_cost=1.1 -c log_checkpoints=off -c timezone=UTC ${POSTGRES_SETTINGS:-}" start
postgres_pid=$(head -n 1 "$directory/postgres/postmaster.pid")
psql -X -q -h "$directory" -U parley -d postgres -c 'create database parley'
database="host=$directory user=parley dbname=parley"

arguments=()
urls=()
for number in $(seq "${NODES:-1}"); do
    env -u PARLEY_CONFIG -u PARLEY_EXECUTABLE PARLEY_HTTP_PORT=0 PARLEY_LOG_LEVEL=warning \
        PARLEY_RATE_LIMITS="${PARLEY_RATE_LIMITS:-off}" \
        PARLEY_DATABASE_URL="$database" "$parley" serve >"$directory/ready$number" 2>"$directory/log$number" &
    nodes+=($!)
    for _ in $(seq 300); do [ -s "$directory/ready$number" ] && break; kill -0 $! 2>/dev/null || break; sleep 0.1; done
    url=$(grep -o 'http://[0-9.:]*' "$directory/ready$number") || { cat "$directory/log$number" >&2; exit 1; }
    urls+=("$url")
    arguments+=(--url "$url" --server-pid "${nodes[-1]}")
done

status=0
if [ -n "${RUN:-}" ]; then
    PARLEY_URL="${urls[*]}" PARLEY_PIDS="${nodes[*]}" PARLEY_DATABASE_URL=$database POSTGRES_PID=$postgres_pid \
        bash -c "$RUN" || status=$?
else
    "$bench" bench "$@" "${arguments[@]}" --database "$database" --postgres-pid "$postgres_pid" || status=$?
fi
cat "$directory"/log[0-9]* >&2
exit "$status"
