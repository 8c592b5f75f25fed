#!/usr/bin/env bash
# What the inbox and the unread counts cost the database: a generated one, in which one user has many long threads.
#
#   swift build -c release --product parley && Tests/Measure/inbox.sh
#
# THREADS: how many threads the user is in, 1000. MESSAGES: in each, 10000. LONG: unread in one thread more, 100000. The
# whole takes some 4 GB under /tmp and a few minutes, nearly all of it to generate. Prints milliseconds inside the database.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
if [ -z "${PARLEY_DATABASE_URL:-}" ]; then
    RUN="$here/inbox.sh" exec "$here/bench.sh"
fi
psql -X -q -v ON_ERROR_STOP=1 -v threads="${THREADS:-1000}" -v messages="${MESSAGES:-10000}" -v long="${LONG:-100000}" \
    -f "$here/inbox.sql" "$PARLEY_DATABASE_URL"
