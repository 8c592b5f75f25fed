#!/usr/bin/env bash
# Runs the built tests in groups, each in a process of its own, and ends with each group's closing line.
#
#   Tests/run.sh all             every test in its short form: first the groups that may share the machine, WIDTH (4) side
#                                by side, then those under faults or with deadlines, also side by side, then one after
#                                the other those that measure time
#   Tests/run.sh quick           unit suites that neither wait for long nor measure (`make check`)
#   Tests/run.sh only REGEX      the Swift tests whose names match, unit and system (`make test FILTER=…`)
#
# CONFIGURATION names the build: release, or debug. Inside a group one test runs at a time. A group fails if a test fails,
# if its process crashes, if it ends without a closing line, or if it takes longer than its limit.
#
# A failure is a fault: nothing is repeated, but for groups that bound times. Such a group runs once more, with the same
# seed, because the machines of CI are shared. Each first failure is printed and counted at the end all the same, and is in
# .build/tests/first-failures. Each group's whole output is in .build/tests/NAME.log, that of a repeated group's first run
# in NAME.first.log. The exit status is 0 only if every group passed and, for `all`, every test of the build ran.
#
# All random tests of a run draw from one seed, which is printed: SEED=7 repeats it.
#
# Tests store their files in a folder of the run: in TMPDIR if it is set, otherwise in memory (/dev/shm) if there is enough,
# otherwise in /tmp.
#
# A new suite of the system tests runs alone until it is listed below. List a suite there if it may run beside others: it
# bounds no latency, no ratio of times, no memory, and breaks nothing that has a deadline.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
export NO_COLOR=1
width=${WIDTH:-4}
binaries=$PWD/.build/${CONFIGURATION:-release}
bundle=$binaries/parleyPackageTests.xctest
logs=.build/tests
export PARLEY_EXECUTABLE=${PARLEY_EXECUTABLE:-$binaries/parley}
# A tool that .ci/deps installs and that is missing fails its tests. ALLOW_MISSING=1 skips them instead, and names them at
# the end.
missing=()
if [ "${ALLOW_MISSING:-}" = 1 ]; then
    missing_lines=$(.ci/deps missing)
    [ -z "$missing_lines" ] || mapfile -t missing <<<"$missing_lines"
elif [ "${1:-}" = all ]; then
    export PARLEY_TEST_ALL=1
fi
export PARLEY_SEED=${SEED:-${PARLEY_SEED:-$((RANDOM << 15 | RANDOM))}}

# System suites that may share the machine, in lanes of about the same length.
lane_1=(PresenceAndTyping EventStreams EmbeddedDatabase BadRequests MetricsAccess PageExamples ClientGuide
    EventExamples ObjectStores ReplicaReads WebClientSetting TerminalChat ClientOutbox ClientSearch FeedUnderKills)
lane_2=(SendingAlerts AlertLoops ServingTLS FuzzingRequests RequestLog MetricsPage Searching Paging DelegatedSignIn
    AdminCalls WebhookDeliveries MessageChanges HookPosting LongestRetention ClientTimelines ClientSigningIn HeldFiles
    PolicyUnderKills)
lane_3=(FirstStart DisappearingMessages ClientLaw AlertsWhenNodesDie ErasingAccounts SchemaAtStart LongPolls SendingFromBothNodes
    ExportingAccounts StartFailures DeliveredMarks MadeUpCursors ClientVectors ClientFiles ClientInbox
    SendingFromSQL ClientReview RepeatedCreations ConfinedSenders)
lane_4=(MailedCodes StoppedDatabase AttachmentAccess ResumingUploads DeletedFiles BrowserSafety
    GeneratedClient ReferenceClient LinkedLibraries ClientMembers ClientStores ImportingArchives ImportingFromOthers
    BehindCaddy LongCallsThroughProxies Upgrading)
lanes=("${lane_1[*]}" "${lane_2[*]}" "${lane_3[*]}" "${lane_4[*]}")

# Unit suites that measure or limit time or memory. The runner's regex sees no \b between a target's name and its dot.
measuring='^(TransportTests\.|BenchTests\.|APITests\.ReadingHeaders/|ThumbnailingTests\.PictureBombs/)'
# The load generator. Its figures are not compared with anything.
bench='^SystemTests\.BenchCommand/'
# Unit suites that start servers of their own.
postgres='^(EmbeddedPostgresTests|PostgresTests|ServiceTests)\.'
# Unit suites that wait, start many servers, draw many pictures or play long histories: not in `quick`.
slow='^((EmbeddedPostgresTests|PostgresTests|ServiceTests|ObjectStoreTests|ThumbnailingTests)\.|APITests\.(AccessByRole|LawOfCounts)/'
slow+='|LogTests\.(LogEpochs|LawsOfTheLog|TrimmingTheLog)/|StoreTests\.(Plans|SendingFromSQL/|IndexingMessages/))'
# Tests of rules under faults, and others that have deadlines or bound memory, in three groups of about the same length that
# run with nothing else beside them. A failure is never repeated.
slow_faults='(chaos|manyPollsReturn|poolCut|slowReaders)\('
faults_1='^SystemTests\.SystemTests/(ClientDevices|RunningCommands|MovingArchives|Shutdown|UploadMemory)/'
faults_2="^SystemTests\\.SystemTests/((InterruptedUploads|SendingFromSQLUnderFaults)/|Faults/$slow_faults)"
faults_3="^SystemTests\\.SystemTests/(WebhooksUnderFaults/|Faults/(?!$slow_faults))"

# Tools from PyPI without which no test of the browser runs.
browser_tools='greenlet playwright axe_playwright_python'

say() { printf 'parley: %s\n' "$*"; }

# lane SUITE...: prints the filter of a lane.
lane() {
    local IFS='|'
    printf '^SystemTests\\.SystemTests/(%s)/' "$*"
}

# The runner of the Swift tests.
swift_tests=("$bundle" --testing-library swift-testing --no-parallel)

# run NAME LIMIT_S COMMAND...: runs one group and writes its result to NAME.status: 0, or why the group failed. Options
# alone are those of the runner of the Swift tests.
run() {
    local name=$1 limit=$2 status=0 closing runner command began=$SECONDS
    printf '%s\0' "$@" >"$logs/$name.arguments"
    shift 2
    command=("$@")
    [[ $1 != --* ]] || command=("${swift_tests[@]}" "$@")
    timeout --kill-after=30 "$limit" "${command[@]}" >"$logs/$name.log" 2>&1 </dev/null &
    runner=$!
    # Nodes and PostgreSQL servers end with the runner that started them.
    trap 'kill "$runner" 2>/dev/null || true' TERM
    wait "$runner" || status=$?
    times >"$logs/$name.times"
    closing=$(closing "$name")
    case $status in
        0) [[ $closing =~ $passed ]] || status='it ended without a closing line' ;;
        1) ;;
        69) status='its filter matches no test' ;;
        124 | 137) status="it was killed after $limit s" ;;
        *) status="its process ended with status $status" ;;
    esac
    echo "$status" >"$logs/$name.status"
    say "group $name, $((SECONDS - began)) s, $(processor "$name") s of processor time: ${closing:-no closing line}"
}

# Prints the processor time of a group in seconds, of all its processes that have ended. The second line of `times` has the
# user's and the system's time of a shell's children.
processor() { tail -n 1 "$logs/$1.times" | tr 'ms' '  ' | awk '{ printf "%.0f", ($1 + $3) * 60 + $2 + $4 }'; }

# The closing lines of the test runners: of Swift, of deno, and of Python, which Tests/BrowserTests/run.py joins to one.
closings='Test run with|^(ok|FAILED) \| [0-9]+ passed|^Ran [0-9]+ tests? in '
passed=' passed after |^ok \||^Ran .*: OK'

# Prints the line with which the test runner ended a group; nothing if the runner crashed.
closing() { grep -aE "$closings" "$logs/$1.log" | tail -n 1 || true; }

groups=()
skipped=()
# with TOOLS COMMAND NAME ...: starts the group NAME by a command below, unless one of the tools is missing.
with() {
    local tool
    for tool in $1; do
        [[ " ${missing[*]%%[= ]*} " == *" $tool "* ]] || continue
        say "group $3 is skipped: $tool is missing."
        skipped+=("group $3: $tool is missing")
        return 0
    done
    "${@:2}"
}

# start NAME LIMIT_S ARGUMENTS...: starts a group in the background as soon as fewer than WIDTH groups run.
start() {
    groups+=("$1")
    while [ "$(jobs -rp | wc -l)" -ge "$width" ]; do wait -n || true; done
    run "$@" &
}

# alone NAME LIMIT_S ARGUMENTS...: runs a group after all others have ended, with nothing beside it.
alone() {
    groups+=("$1")
    wait
    run "$@" &
    wait $!
}

# measured NAME LIMIT_S ARGUMENTS...: runs a group of tests that bound times alone, and once more if a test failed.
measured() {
    alone "$@"
    [ "$(cat "$logs/$1.status")" = 1 ] || return 0
    say "group $1: these tests failed; the group runs once more, with the same seed:"
    failures "$1" | tee -a "$logs/first-failures"
    mv "$logs/$1.log" "$logs/$1.first.log"
    run "$@" &
    wait $!
}

# Prints what failed in a group.
failures() { grep -a -A 2 '✘' "$logs/$1.log" || tail -n 20 "$logs/$1.log"; }

# The same in a line for each failure, at most ten: what is read first, and what a shortened log still has at its end.
short_failures() {
    local failure='✘ Test .* (recorded an issue|was aborted)|^✘ failed|\.\.\. FAILED|[A-Za-z]*Error: '
    grep -aE "$failure" "$logs/$1.log" | cut -c 1-400 | sort -u | head -n 10 || true
}

# Prints the output of failed groups, then the failures of all of them, then the first failures of repeated groups, then
# each group's closing line.
report() {
    local name closing failed=0 count
    for name in "${groups[@]}"; do
        [ "$(cat "$logs/$name.status")" = 0 ] && continue
        failed=1
        printf '\n== all output of group %s\n' "$name"
        cat "$logs/$name.log"
    done
    for name in "${groups[@]}"; do
        [ "$(cat "$logs/$name.status")" = 0 ] && continue
        printf '\n== failures of group %s (status: %s)\n' "$name" "$(cat "$logs/$name.status")"
        failures "$name"
    done
    count=$(grep -ac '✘ Test [^r]' "$logs/first-failures" || true)
    if [ "$count" != 0 ]; then
        printf '\n== first failures of repeated groups: %s\n' "$count"
        cat "$logs/first-failures"
    fi
    for name in "${groups[@]}"; do
        closing=$(closing "$name")
        printf '\n== group %s\n' "$name"
        [ "$(cat "$logs/$name.status")" = 0 ] || short_failures "$name"
        printf '%s\n' "${closing:-✘ No closing line: $(cat "$logs/$name.status")}"
    done
    return $failed
}

# Names what was skipped because a tool is missing.
report_skipped() {
    [ ${#missing[@]} -gt 0 ] || return 0
    printf '\n== skipped, because tools are missing (ALLOW_MISSING=1): %s\n' "$(IFS=,; echo "${missing[*]}")"
    [ ${#skipped[@]} -eq 0 ] || printf '➜ %s\n' "${skipped[@]}"
    local name
    for name in "${groups[@]}"; do grep -ahE '^➜ (Test|Suite) .* skipped' "$logs/$name.log" || true; done | sort -u
    say 'This run does not replace one with all tools: .ci/deps test installs them.'
}

# Fails unless every listed suite exists: a renamed suite would otherwise run alone, and nobody would notice.
check_lists() {
    local suite
    for suite in ${lanes[*]}; do
        grep -rqE "^ +(struct|final class) ${suite%-*}\b" Tests/SystemTests && continue
        say "Tests/run.sh lists the suite $suite, which is not in Tests/SystemTests."
        return 1
    done
}

# Fails unless every Swift test of the build ran in exactly one group.
check_counts() {
    local built ran
    built=$("$bundle" --testing-library swift-testing --list-tests 2>/dev/null | sort -u | wc -l)
    ran=$(for name in "${groups[@]}"; do closing "$name"; done | sed -nE 's/.*Test run with ([0-9]+) tests?.*/\1/p' |
        awk '{ sum += $1 } END { print sum + 0 }')
    [ "$built" -eq "$ran" ] && return
    say "✘ the build has $built tests, and $ran ran: a group has failed, or a test is in no group, or in two."
    return 1
}

# has_memory: whether tests may store their files in /dev/shm. It needs 12 GiB, of which all groups together use 7, and that
# programs may run there: tests write some, and many containers forbid it.
has_memory() {
    local kib=$((12 << 20))
    [ "$(stat --file-system --format %T /dev/shm)" = tmpfs ] &&
        ! grep -qE '^\S+ /dev/shm \S+ \S*noexec' /proc/mounts &&
        [ "$(df --output=avail --block-size=1K /dev/shm | tail -n 1)" -ge $kib ] &&
        [ "$(awk '$1 == "MemAvailable:" { print $2 }' /proc/meminfo)" -ge $kib ]
}

# make_folder: creates TMPDIR, the folder of this run's files, which PostgreSQL's user may pass through. Tests create
# databases and folders by the thousand and remove them again. On a disk that takes most of their time.
make_folder() {
    local parent=${TMPDIR:-/tmp}
    if [ -z "${TMPDIR:-}" ] && has_memory; then parent=/dev/shm; fi
    TMPDIR=$(mktemp -d "$parent/parley-XXXXXX")
    export TMPDIR
    chmod 711 "$TMPDIR"
}

# At the end of this script: ends the groups that still run, and removes the run's files.
finish() {
    jobs -rp | xargs -r kill 2>/dev/null || true
    rm -rf "$TMPDIR" 2>/dev/null || true
}

check_lists
make_folder
trap finish EXIT
trap 'exit 130' INT TERM
[ "${1:-}" = only ] || { rm -rf "${logs:?}" && mkdir -p "$logs" && : >"$logs/first-failures"; }
say "the seed of this run is $PARLEY_SEED; SEED=$PARLEY_SEED repeats its random tests. Files of tests are in $TMPDIR."
case ${1:-} in
    all)
        skip=(--skip "$bench" --skip "$faults_1" --skip "$faults_2" --skip "$faults_3")
        for number in 1 2 3 4; do
            # shellcheck disable=SC2086
            filters[number]=$(lane ${lanes[number - 1]})
            skip+=(--skip "${filters[number]}")
        done
        # The longest groups first, and those that wait (system) beside those that compute.
        start system-4 900 --filter "${filters[4]}"
        with "$browser_tools" start browser-1 600 Tests/BrowserTests/run.py --without test_speed --part 1/2
        start system-1 900 --filter "${filters[1]}"
        start unit-rest 900 --skip '^(APITests|LogTests|StoreTests|SystemTests)\.' --skip "$measuring" --skip "$postgres"
        with "$browser_tools" start browser-2 600 Tests/BrowserTests/run.py --without test_speed --part 2/2
        start unit-store 900 --filter '^StoreTests\.' --skip "$measuring"
        start system-2 900 --filter "${filters[2]}"
        start unit-api 900 --filter '^APITests\.' --skip "$measuring"
        start system-3 900 --filter "${filters[3]}"
        start unit-postgres 900 --filter "$postgres"
        start sample 900 Tests/SDKSample/run.py
        start unit-log 900 --filter '^LogTests\.' --skip "$measuring"
        start bench 300 --filter "$bench"
        with deno start web-modules 120 Tests/WebClientTests/run.sh
        wait
        start faults-1 1800 --filter "$faults_1"
        start faults-2 1800 --filter "$faults_2"
        start faults-3 1800 --filter "$faults_3"
        with "$browser_tools" measured browser-speed 200 Tests/BrowserTests/run.py test_speed
        measured measuring 600 --filter "$measuring"
        measured system-alone 1800 --filter '^SystemTests\.' "${skip[@]}"
        status=0
        check_counts || status=1
        say "the seed of this run is $PARLEY_SEED. The long forms of random tests and faults are left out: make nightly."
        # Last, because CI reads the closing lines of the runners at the end.
        report || status=1
        report_skipped
        exit $status
        ;;
    quick)
        with deno start web-modules 120 Tests/WebClientTests/run.sh
        start quick-log 300 --filter '^LogTests\.' --skip "$measuring" --skip "$slow"
        start quick-store 300 --filter '^StoreTests\.' --skip "$measuring" --skip "$slow"
        start quick-api 300 --filter '^APITests\.' --skip "$measuring" --skip "$slow"
        start quick-rest 300 --skip '^(APITests|LogTests|StoreTests|SystemTests)\.' --skip "$measuring" --skip "$slow"
        wait
        status=0
        report || status=1
        report_skipped
        exit $status
        ;;
    only)
        "${swift_tests[@]}" --filter "${2:?usage: Tests/run.sh only REGEX}" &
        wait $!
        ;;
    *)
        say 'usage: Tests/run.sh all | quick | only REGEX' >&2
        exit 2
        ;;
esac
