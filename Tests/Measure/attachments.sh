#!/usr/bin/env bash
# Measures what uploads cost others, and how fast downloads are. Alternates ROUNDS times (3).
#
#   make release && Tests/Measure/attachments.sh
#
# 1. `parley bench send` and `latency`, SECONDS_EACH s each (8), without and beside UPLOADS uploads (10) of 50 MB that
#    follow one another without a pause. UPLOAD_RATE limits each of them, in curl's form (such as 2M); unlimited if unset.
# 2. The download of a file of MIB MiB (1024), beside `psql` reading the same chunks and nginx serving the file from disk.
#
# Needs curl, nginx and psql, and about 6 GB under /tmp. Prints p50 and p99 in milliseconds, and MB/s.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
rounds=${ROUNDS:-3} seconds=${SECONDS_EACH:-8} uploads=${UPLOADS:-10} mebibytes=${MIB:-1024}

if [ -z "${PARLEY_DATABASE_URL:-}" ]; then
    files=$(mktemp -d /tmp/parley-files-XXXXXX)
    trap 'rm -rf "$files"' EXIT
    chmod 755 "$files"
    export FILES=$files PARLEY_ATTACHMENT_BYTES_MAX=$((4 << 30)) PARLEY_ATTACHMENT_QUOTA_BYTES=$((1 << 40))
    RUN="$here/attachments.sh" "$here/bench.sh"
    exit
fi

parley=${BENCH_EXECUTABLE:-${PARLEY_EXECUTABLE:-$here/../../.build/release/parley}}
read -r url _ <<<"$PARLEY_URL"
uploaders=()
nginx_pid=
end() {
    for pid in ${uploaders[@]+"${uploaders[@]}"} $nginx_pid; do kill "$pid" 2>/dev/null || true; done
}
trap end EXIT

token=$(curl -sS "$url/v1/auth/register" -H 'Content-Type: application/json' \
    -d '{"username": "uploader", "password": "correct horse battery", "name": "Uploader"}' |
    python3 -c 'import json, sys; print(json.load(sys.stdin)["session"]["token"])')
new_id() { cat /proc/sys/kernel/random/uuid; }
as_uploader() { curl -sS --fail -H "Authorization: Bearer $token" -H Expect: "$@"; }

# Uploads the file again and again, and deletes each copy. Counts them in FILES/count.
upload_on() {
    local id
    while true; do
        id=$(new_id)
        as_uploader ${UPLOAD_RATE:+--limit-rate "$UPLOAD_RATE"} -T "$FILES/50" -o /dev/null "$url/v1/attachments/$id"
        as_uploader -X DELETE "$url/v1/attachments/$id"
        echo 50 >>"$FILES/count"
    done
}

# measure WORKLOAD: prints p50 and p99 in milliseconds.
measure() {
    local figures=answer_ms
    [ "$1" = send ] || figures=send_to_poll_ms
    "$parley" bench "$1" --seconds "$seconds" --warm-up 1 --url "$url" --database "$PARLEY_DATABASE_URL" --json \
        2>/dev/null | FIGURES=$figures python3 -c '
import json, os, sys
figures = json.load(sys.stdin)[os.environ["FIGURES"]]
print(figures["p50"], figures["p99"])'
}

begin_uploads() {
    for _ in $(seq "$uploads"); do
        upload_on &
        uploaders+=($!)
    done
    sleep 2
}

end_uploads() {
    for pid in "${uploaders[@]}"; do
        kill "$pid"
        wait "$pid" 2>/dev/null || true
    done
    uploaders=()
}

head -c 50000000 /dev/urandom >"$FILES/50"
for workload in send latency; do
    for round in $(seq "$rounds"); do
        alone=$(measure "$workload")
        begin_uploads
        : >"$FILES/count"
        began=$SECONDS
        beside=$(measure "$workload")
        rate=$(awk -v s=$((SECONDS - began)) '{ n += $1 } END { print n / s }' "$FILES/count")
        end_uploads
        echo "$workload $round $alone $beside $rate" | tee -a "$FILES/latencies" | awk \
            '{ printf "%s, round %d: p50 %.2f, p99 %.2f ms; beside uploads p50 %.2f, p99 %.2f ms (%.2f x), %d MB/s\n",
                $1, $2, $3, $4, $5, $6, $6 / $4, $7 }'
    done
done

echo "uploading $mebibytes MiB"
head -c "${mebibytes}M" /dev/urandom >"$FILES/large"
id=$(new_id)
as_uploader -T "$FILES/large" -o /dev/null -w 'upload: %{speed_upload} bytes/s\n' "$url/v1/attachments/$id"
until as_uploader "$url/v1/attachments/$id/info" | grep -q '"ready"'; do sleep 0.5; done

port=${NGINX_PORT:-18080}
cat >"$FILES/nginx.conf" <<END
worker_processes 1;
daemon off;
pid $FILES/pid;
error_log $FILES/errors;
events { worker_connections 64; }
http { access_log off; sendfile on; server { listen 127.0.0.1:$port; root $FILES; } }
END
"$(command -v nginx || echo /usr/sbin/nginx)" -c "$FILES/nginx.conf" -p "$FILES" 2>/dev/null &
nginx_pid=$!
for _ in $(seq 50); do curl -s -o /dev/null "http://127.0.0.1:$port/" && break; sleep 0.1; done

chunks="copy (select data from attachment_chunks where attachment_id = '$id' and variant = 0 order by n) to stdout
    (format binary)"
for round in $(seq "$rounds"); do
    parley_rate=$(as_uploader -o /dev/null -w '%{speed_download}' "$url/v1/attachments/$id")
    began=$(date +%s%N)
    psql -X -q -c "$chunks" "$PARLEY_DATABASE_URL" >/dev/null
    psql_rate=$((mebibytes * 1048576 * 1000 / (($(date +%s%N) - began) / 1000000)))
    nginx_rate=$(curl -sS --fail -o /dev/null -w '%{speed_download}' "http://127.0.0.1:$port/large")
    echo "$round $parley_rate $psql_rate $nginx_rate" | awk '{ printf "download, round %d: parley %d, psql %d, nginx %d MB/s; parley/psql %.2f\n", $1, $2 / 1e6, $3 / 1e6, $4 / 1e6, $2 / $3 }'
done
echo "memory of the node: $(awk '/VmHWM/ { print int($2 / 1024) }' "/proc/${PARLEY_PIDS%% *}/status") MiB at most"
