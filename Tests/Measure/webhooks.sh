#!/usr/bin/env bash
# What one webhook costs sends: `parley bench send` without and with an endpoint that takes every event, in turns.
#
#   swift build -c release --product parley && Tests/Measure/webhooks.sh [ROUNDS [SECONDS]]
#
# The endpoint is nginx, which answers 204. Prints for each round the messages per second, and the events that the
# endpoint has not received when the sends end.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
if [ -z "${PARLEY_URL:-}" ]; then
    export PARLEY_ADMIN_TOKEN=${PARLEY_ADMIN_TOKEN:-$(head -c 24 /dev/urandom | base64)} PARLEY_PUSH_ALLOW_PRIVATE=true
    export WEBHOOK_ROUNDS=${1:-3} WEBHOOK_SECONDS=${2:-8}
    RUN="$here/webhooks.sh" exec "$here/bench.sh"
fi

parley=${PARLEY_EXECUTABLE:-$here/../../.build/release/parley}
directory=$(mktemp -d /tmp/parley-webhooks-XXXXXX)
chmod 755 "$directory"
port=$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
cat >"$directory/nginx.conf" <<END
daemon off; pid $directory/pid; error_log $directory/errors;
events { worker_connections 1024; }
http {
    access_log off; client_body_temp_path $directory; keepalive_requests 1000000;
    server { listen 127.0.0.1:$port; location / { return 204; } }
}
END
nginx -c "$directory/nginx.conf" & nginx=$!
trap 'kill $nginx; wait $nginx || true; rm -rf "$directory"' EXIT

admin() { curl -sS -H "Authorization: Bearer $PARLEY_ADMIN_TOKEN" -H 'Content-Type: application/json' "$@"; }
metric() { admin "$PARLEY_URL/metrics" | awk -v name="$1" 'index($1, name) == 1 { sum += $2 } END { print sum + 0 }'; }
webhook=$(admin "$PARLEY_URL/v1/admin/webhooks" -d "{\"url\": \"http://127.0.0.1:$port/\"}" |
    python3 -c 'import json, sys; print(json.load(sys.stdin)["id"])')
enable() { admin -X PATCH "$PARLEY_URL/v1/admin/webhooks/$webhook" -d "{\"enabled\": $1}" >/dev/null; sleep 3; }
send() {
    "$parley" bench send --url "$PARLEY_URL" --database "$PARLEY_DATABASE_URL" --seconds "$WEBHOOK_SECONDS" \
        --server-pid "$PARLEY_PIDS" --postgres-pid "$POSTGRES_PID" "$@" 2>/dev/null |
        awk '$1 == "messages_per_s" || $1 ~ /cpu_us_per_message/ { printf "%s ", $0 } END { print "" }'
}
for round in $(seq "$WEBHOOK_ROUNDS"); do
    enable false
    # What was sent without the endpoint is not delivered to it later.
    echo "round $round without: $(send)"
    admin -X DELETE "$PARLEY_URL/v1/admin/webhooks/$webhook"
    webhook=$(admin "$PARLEY_URL/v1/admin/webhooks" -d "{\"url\": \"http://127.0.0.1:$port/\"}" |
        python3 -c 'import json, sys; print(json.load(sys.stdin)["id"])')
    sleep 3
    before=$(metric 'parley_webhook_deliveries_total{outcome="delivered"}')
    echo "round $round with:    $(send)"
    after=$(metric 'parley_webhook_deliveries_total{outcome="delivered"}')
    echo "round $round delivered: $((after - before)), left: $(metric parley_webhook_lag_events)"
done
