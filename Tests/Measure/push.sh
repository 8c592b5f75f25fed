#!/usr/bin/env bash
# Measures how much sending alerts slows down sending messages: `parley bench send` with and without RATE alerts a second
# (2000) to an nginx that accepts all of them over HTTP/2 and TLS. Alternates ROUNDS times (4), SECONDS_EACH s each (5).
#
#   swift build -c release --product parley && Tests/Measure/push.sh
#
# Each alert goes to a different device, whose account is in THREADS threads (2), one of them with an unread message. Prints
# messages a second, alerts a second as nginx counted them, and the number of connections.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
rate=${RATE:-2000}
seconds=${SECONDS_EACH:-5}
rounds=${ROUNDS:-4}

if [ -z "${PARLEY_DATABASE_URL:-}" ]; then
    sink=$(mktemp -d /tmp/parley-push-XXXXXX)
    export SINK=$sink
    port=${SINK_PORT:-18443}
    openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -subj /CN=sink -keyout "$sink/key.pem" \
        -addext subjectAltName=IP:127.0.0.1 -out "$sink/certificate.pem" 2>/dev/null
    openssl genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-256 -out "$sink/apns.p8"
    cat >"$sink/nginx.conf" <<END
worker_processes 1;
daemon off;
pid $sink/pid;
error_log $sink/errors;
events { worker_connections 256; }
http {
    log_format connections '\$connection';
    access_log $sink/access connections buffer=64k flush=1s;
    keepalive_requests 1000000000;
    server {
        listen 127.0.0.1:$port ssl http2;
        ssl_certificate $sink/certificate.pem;
        ssl_certificate_key $sink/key.pem;
        location / { return 200; }
    }
}
END
    nginx=$(command -v nginx || echo /usr/sbin/nginx)
    "$nginx" -c "$sink/nginx.conf" -p "$sink" 2>/dev/null &
    nginx_pid=$!
    trap 'kill $nginx_pid; wait $nginx_pid || true; rm -rf "$sink"' EXIT
    export PARLEY_CA_FILE=$sink/certificate.pem PARLEY_APNS_KEY_FILE=$sink/apns.p8 PARLEY_APNS_KEY_ID=ABCDE12345 \
        PARLEY_APNS_TEAM_ID=TEAM123456 PARLEY_APNS_TOPIC=org.example.parley PARLEY_APNS_URL=https://127.0.0.1:$port
    RUN="$here/push.sh" "$here/bench.sh"
    exit
fi

parley=${BENCH_EXECUTABLE:-${PARLEY_EXECUTABLE:-$here/../../.build/release/parley}}
sql() { psql -X -q -A -t -v ON_ERROR_STOP=1 -v count="$((rate * (seconds + 4) * rounds))" -v rate="$rate" \
    -v threads="${THREADS:-2}" "$@" "$PARLEY_DATABASE_URL"; }
sql -f "$here/push.sql"

# Prints messages a second.
measure() {
    read -r -a url <<<"$PARLEY_URL"
    "$parley" bench send --seconds "$seconds" --warm-up 1 "${url[@]/#/--url=}" --database "$PARLEY_DATABASE_URL" --json | python3 -c '
import json, sys
print(round(json.load(sys.stdin)["messages_per_s"]))'
}
plain() { echo "without alerts: $(measure) messages/s"; }
alerted() {
    sql -c "select push_these($rate * ($seconds + 3), $rate)"
    sleep 1
    local before began found after
    before=$(sql -c "select count(*) from push_jobs")
    began=$(date +%s%N)
    found=$(measure)
    after=$(sql -c "select count(*) from push_jobs")
    echo "with alerts: $found messages/s, $(((before - after) * 1000000000 / ($(date +%s%N) - began))) alerts/s"
    sql -c "truncate push_jobs"
}
# A new database is faster than it will ever be again, so the first run is not counted. The order alternates.
measure >"$SINK/first"
for round in $(seq "$rounds"); do
    if [ $((round % 2)) = 1 ]; then plain; alerted; else alerted; plain; fi
done
sleep 1.5
echo "nginx accepted $(wc -l <"$SINK/access") alerts over $(sort -u "$SINK/access" | wc -l) connections"
