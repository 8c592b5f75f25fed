#!/usr/bin/env bash
# Runs all tests, then the long form of each random test and each test under faults, on the optimised build. Continues after
# a failure, and ends with a table: result, seconds and seed of each step. Outputs are in .build/nightly/STEP.log.
#
# The lengths are variables of `make`: CHAOS_MINUTES, CUTS, OPERATIONS, WEBHOOK_SECONDS. SEED=7 repeats a night's random
# tests. NIGHT="chaos uploads" runs only these steps.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
logs=.build/nightly
export PARLEY_SEED=${PARLEY_SEED:-$((RANDOM << 15 | RANDOM))}
rm -rf "$logs"
mkdir -p "$logs" && : >"$logs/table"

# A night that is interrupted ends with all that it started.
trap 'trap "" TERM; kill 0; exit 130' INT TERM

# step NAME COMMAND...: runs one step and adds a row to the table.
step() {
    local name=$1 began=$SECONDS result=passed closing
    shift
    [[ -z ${NIGHT:-} || " $NIGHT " == *" $name "* ]] || return 0
    printf 'parley: %s: %s\n' "$name" "$*"
    "$@" >"$logs/$name.log" 2>&1 </dev/null || { result=FAILED; grep -a -A 2 '✘' "$logs/$name.log" || true; }
    closing=$(grep -aE 'Test run with|^Ran [0-9]+ tests?|^pictures' "$logs/$name.log" | tail -n 1 || true)
    printf '%-12s %-7s %6d s  %s\n' "$name" "$result" $((SECONDS - began)) "$closing" | tee -a "$logs/table"
}

# In their short form: make gives the lengths of the long ones to all that it starts.
step tests env -u CHAOS_MINUTES -u WEBHOOK_SECONDS Tests/run.sh all
# Beside the other steps: it takes an hour and waits for most of it.
step webhooks env WEBHOOK_SECONDS="${WEBHOOK_SECONDS:-3600}" Tests/run.sh only 'SystemTests/WebhooksUnderFaults' &
step chaos env CHAOS_MINUTES="${CHAOS_MINUTES:-10}" Tests/run.sh only 'SystemTests/Faults/chaos'
step uploads env PARLEY_ATTACHMENT_CUTS="${CUTS:-500}" PARLEY_ATTACHMENT_DOWNLOAD_MIB=1024 \
    Tests/run.sh only 'SystemTests/(InterruptedUploads|UploadMemory)'
step devices env PARLEY_CLIENT_OPERATIONS="${OPERATIONS:-100000}" Tests/run.sh only 'SystemTests/ClientDevices'
step law env LAW_OPERATIONS=20000 Tests/run.sh only 'SystemTests/ClientLaw/'
step sql env SQL_TRANSACTIONS=10000 Tests/run.sh only 'SystemTests/SendingFromSQLUnderFaults'
step commands env COMMAND_SECONDS=300 Tests/run.sh only 'SystemTests/RunningCommands'
step feed env PARLEY_FEED_KILLS=60 Tests/run.sh only 'SystemTests/FeedUnderKills'
step fuzz env FUZZ_REQUESTS=200000 FUZZ_SECONDS=60 PARLEY_FUZZ_INPUTS=200000 \
    Tests/run.sh only '(Fuzz|RandomPictures)'
# Only this builds what people install. It fails if a part has become too large or names a path of this machine.
step dist make --no-print-directory dist
step screenshots env PARLEY_EXECUTABLE="$PWD/.build/release/parley" Tests/BrowserTests/screenshots.py .build/screenshots

wait

printf '\nparley: the night with seed %s (SEED=%s repeats its random tests):\n' "$PARLEY_SEED" "$PARLEY_SEED"
cat "$logs/table"
! grep -q FAILED "$logs/table"
