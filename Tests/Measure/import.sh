#!/usr/bin/env bash
# What an import costs: makes an archive of N messages, imports it with `parley import`, and another one by HTTP.
#
#   swift build -c release --product parley && Tests/Measure/import.sh [N]
#
# Prints the size of the archive and, for each way, seconds, messages per second and the peak memory of the process.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
if [ -z "${PARLEY_URL:-}" ]; then
    export PARLEY_ADMIN_TOKEN=${PARLEY_ADMIN_TOKEN:-$(head -c 24 /dev/urandom | base64)}
    export IMPORT_MESSAGES=${1:-1000000}
    RUN="$here/import.sh" exec "$here/bench.sh"
fi

parley=${PARLEY_EXECUTABLE:-$here/../../.build/release/parley}
directory=$(mktemp -d /tmp/parley-import-XXXXXX)
trap 'rm -rf "$directory"' EXIT

# archive FILE: groups of ten among two accounts a thousand messages, a thousand messages a group, and a reaction to each
# tenth message.
archive() {
    python3 - "$IMPORT_MESSAGES" >"$1" <<'END'
import sys, uuid
n = int(sys.argv[1])
groups, people = max(1, n // 1000), max(10, n // 500)
ids = lambda count: [str(uuid.uuid4()) for _ in range(count)]
users, threads = ids(people), ids(groups)
out = sys.stdout.write
at = '"created_at":"2024-01-01T00:00:00Z"'
for i, user in enumerate(users):
    out(f'{{"type":"user","data":{{"id":"{user}","name":"User {i}",{at}}}}}\n')
for i, thread in enumerate(threads):
    out(f'{{"type":"thread","data":{{"id":"{thread}","kind":"group","title":"Group {i}",{at}}}}}\n')
    for k in range(10):
        out(f'{{"type":"member","data":{{"thread_id":"{thread}","user_id":"{users[(i * 7 + k) % people]}"}}}}\n')
for i in range(n):
    thread, sender, message = i % groups, (i % groups * 7 + i // groups % 10) % people, uuid.uuid4()
    time = f'2024-{i * 11 // n + 1:02}-{i // 86400 % 28 + 1:02}T{i // 3600 % 24:02}:{i // 60 % 60:02}:{i % 60:02}Z'
    out(f'{{"type":"message","data":{{"id":"{message}","thread_id":"{threads[thread]}","sender_id":"{users[sender]}",'
        f'"type":"message","payload":{{"text":"This is message number {i}, which somebody wrote some time ago."}},'
        f'"created_at":"{time}"}}}}\n')
    if i % 10 == 0:
        out(f'{{"type":"reaction","data":{{"thread_id":"{threads[thread]}","message_id":"{message}",'
            f'"user_id":"{users[(sender + 1) % people]}","emoji":"👍",{at}}}}}\n')
out('{"type":"end","data":{}}\n')
END
}

peak() { awk '/^VmHWM/ { printf "%.0f MiB", $2 / 1024 }' "/proc/$1/status"; }
result() { awk -v n="$IMPORT_MESSAGES" -v s="$2" -v m="$3" -v way="$1" 'BEGIN { printf "%s: %.1f s, %.0f messages/s, peak %s\n", way, s, n / s, m }'; }

archive "$directory/first"
echo "archive: $(stat -c %s "$directory/first") bytes"
PARLEY_DATABASE_URL=$PARLEY_DATABASE_URL /usr/bin/time -f '%e %M' -o "$directory/cost" \
    "$parley" import "$directory/first" >"$directory/report" 2>/dev/null
read -r seconds kilobytes <"$directory/cost"
result "parley import" "$seconds" "$((kilobytes / 1024)) MiB"

archive "$directory/second"
pid=${PARLEY_PIDS%%[ ,]*}
before=$(date +%s.%N)
curl -sSf -X POST -T "$directory/second" -H "Authorization: Bearer $PARLEY_ADMIN_TOKEN" \
    -H 'Content-Type: application/x-ndjson' "${PARLEY_URL%%[ ,]*}/v1/admin/import" >"$directory/report"
result "POST /v1/admin/import" "$(awk -v a="$before" -v b="$(date +%s.%N)" 'BEGIN { print b - a }')" "$(peak "$pid") of the node"
