#!/usr/bin/env bash
# Measures the database time of the inbox and the unread counts, in a generated database where one user has many long threads.
#
#   swift build -c release --product parley && Tests/Measure/inbox.sh
#
# THREADS   number of threads of the user, 1000 by default
# MESSAGES  number of messages in each, 10000 by default
# LONG      number of unread messages in one further thread, 100000 by default
#
# Needs about 4 GB under /tmp and a few minutes, most of them to generate the data. Prints milliseconds in the database.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
if [ -z "${PARLEY_DATABASE_URL:-}" ]; then
    RUN="$here/inbox.sh" exec "$here/bench.sh"
fi
psql -X -q -v ON_ERROR_STOP=1 -v threads="${THREADS:-1000}" -v messages="${MESSAGES:-10000}" -v long="${LONG:-100000}" \
    -f "$here/inbox.sql" "$PARLEY_DATABASE_URL"
