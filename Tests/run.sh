#!/usr/bin/env bash
# Runs the built tests in groups, each in a process of its own, and ends with each group's closing line.
#
#   Tests/run.sh all      every test: unit tests beside the release build and the client's sample app, then the system
#                         suites that may share the machine, then the web client in a browser, then alone, one after
#                         the other, all tests that measure time or have deadlines
#   Tests/run.sh system   the system suites alone, with the executable that PARLEY_EXECUTABLE names
#   Tests/run.sh quick    unit suites that neither wait for long nor measure time (`make check`)
#
# Inside a group one test runs at a time. WIDTH groups (4) run side by side. A group fails if a test fails, if its
# process crashes, if it ends without a closing line, or if it takes longer than its limit. `all` repeats a group with
# failed tests once, with nothing beside it, and names what had failed: many tests have deadlines, and the machines of CI
# are shared. It repeats neither crashes nor time-outs, and no more than two groups. Each group's whole output is in
# .build/tests/NAME.log, that of a repeated group's first run in NAME.first.log. The exit status is 0 only if every group
# passed and, for `all`, every test of the build ran.
#
# A new suite of the system tests runs alone until it is listed below. List a suite there if it may run beside others:
# it bounds no latency, no ratio of times, no memory, and breaks nothing that has a deadline.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
export NO_COLOR=1
width=${WIDTH:-4}
bundle=$PWD/.build/debug/parleyPackageTests.xctest
logs=.build/tests

# System suites that may share the machine, in lanes of about 140 s each. Suite-test leaves out one test of the suite.
lane_1=(PresenceAndTyping EventStreams AlertPrivacy EmbeddedDatabase BadPaths MetricsAccess ForbiddenCalls BadBodies
    UnauthenticatedBodies ClientGuide EventExamples ObjectStores WebClientSetting TerminalChat ClientOutbox
    ClientSearch FeedUnderKills ChangesExample)
lane_2=(SendingAlerts AlertLanes ServingTLS FuzzingRequests MalformedHTTP RequestLog MetricsPage Searching Paging
    DelegatedSignIn AdminCalls WebhookDeliveries WebhookGuide MembersOnTwoNodes MessageChanges PayloadNumbers
    KilledNodes Sessions-takesAsLong BotsAndHooksGuide HookPosting LongestRetention ClientTimelines ClientSigningIn
    HeldFiles PolicyGuide PolicyUnderKills CommandGuide)
lane_3=(DisappearingMessages ClientLaw AlertsWhenNodesDie ErasingAccounts SchemaAtStart LongPolls SendingFromBothNodes
    ExportingAccounts RateLimits BadFields UselessRegistrations StartFailures WalkThrough DeliveredMarks Chatting
    MadeUpCursors MisleadingNames PasswordChange ClientVectors ClientFiles ClientInbox SendingFromSQL ClientReview
    ImportingArchives)
lane_4=(MailedCodes-timing StoppedDatabase WriteLimits-notice AttachmentAccess MediaLinks UploadingFiles
    ResumingUploads UploadLimits MessagesWithFiles DownloadingFiles DeletedFiles PrivatePictures BrowserSafety
    GeneratedClient ReferenceClient ClientMembers ClientStores)

# Unit suites that measure or limit time or memory. The runner's regex sees no \b between a target's name and its dot.
measuring='^(TransportTests\.|CredentialsTests\.|BenchTests\.|APITests\.(CostOfHeaders|ReadingHeaders|CountingRequests)/|StoreTests\.IndexingMessages/|ThumbnailingTests\.PictureBombs/)'
# Unit suites that wait, start many servers or play long histories: not in `quick`.
slow='^(EmbeddedPostgresTests\.|PostgresTests\.|APITests\.(AccessByRole|LawOfCounts)|StoreTests\.Receipt)'

say() { printf 'parley: %s\n' "$*"; }

# lane SUITE...: prints the filter of a lane.
lane() {
    local suite patterns=()
    for suite in "$@"; do
        case $suite in
            *-*) patterns+=("${suite%-*}/(?!${suite#*-}\\()") ;;
            *) patterns+=("$suite/") ;;
        esac
    done
    local IFS='|'
    printf '^SystemTests\\.SystemTests/(%s)' "${patterns[*]}"
}

# The runner of the Swift tests.
swift_tests=("$bundle" --testing-library swift-testing --no-parallel)

# run NAME LIMIT_S COMMAND...: runs one group and writes its result to NAME.status: 0, or why the group failed. Options
# alone are those of the runner of the Swift tests.
run() {
    local name=$1 limit=$2 status=0 closing runner command
    printf '%s\0' "$@" >"$logs/$name.arguments"
    shift 2
    command=("$@")
    [[ $1 != --* ]] || command=("${swift_tests[@]}" "$@")
    timeout --kill-after=30 "$limit" "${command[@]}" >"$logs/$name.log" 2>&1 </dev/null &
    runner=$!
    # Nodes and PostgreSQL servers end with the runner that started them.
    trap 'kill "$runner" 2>/dev/null || true' TERM
    wait "$runner" || status=$?
    closing=$(closing "$name")
    case $status in
        0) [[ $closing =~ $passed ]] || status='it ended without a closing line' ;;
        1) ;;
        69) status='its filter matches no test' ;;
        124 | 137) status="it was killed after $limit s" ;;
        *) status="its process ended with status $status" ;;
    esac
    echo "$status" >"$logs/$name.status"
    say "group $name: ${closing:-no closing line}"
}

# The closing lines of the test runners: of Swift, of deno, and of Python, which Tests/BrowserTests/run.py joins to one.
closings='Test run with|^(ok|FAILED) \| [0-9]+ passed|^Ran [0-9]+ tests? in '
passed=' passed after |^ok \||^Ran .*: OK'

# Prints the line with which the test runner ended a group; nothing if the runner crashed.
closing() { grep -aE "$closings" "$logs/$1.log" | tail -n 1 || true; }

# Builds the executables that the system tests run, below the tests in priority: unit tests wait for no processor.
release() {
    local began=$SECONDS product
    for product in parley parley-thumbnailer; do
        nice -n 19 "${SWIFT:-swift}" build -c release --product "$product" >"$logs/release.log" 2>&1 && continue
        cat "$logs/release.log"
        say 'the release build failed.'
        exit 1
    done
    say "release build: $((SECONDS - began)) s"
}

groups=()
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

# in_browser start|alone NAME LIMIT_S ARGUMENTS...: the same for tests of the web client, where the tools are installed.
in_browser() {
    local tool
    for tool in playwright axe_playwright_python; do
        /usr/bin/python3 -c "import $tool" 2>/dev/null && continue
        say "group $2 is left out: Python has no module $tool."
        return 0
    done
    "$@"
}

# again NAME LIMIT_S ARGUMENTS...: the same for a group that has run and whose tests failed.
again() {
    say "group $1: these tests failed; the group runs once more:"
    failures "$1"
    mv "$logs/$1.log" "$logs/$1.first.log"
    run "$@" &
    wait $!
}

# Repeats the groups with failed tests, unless there are more than two.
repeat_failed() {
    local name failed=() arguments
    for name in "${groups[@]}"; do
        [ "$(cat "$logs/$name.status")" != 1 ] || failed+=("$name")
    done
    [ "${#failed[@]}" -le 2 ] || return 0
    for name in "${failed[@]}"; do
        mapfile -d '' arguments <"$logs/$name.arguments"
        again "${arguments[@]}"
    done
}

# Prints what failed in a group.
failures() { grep -a -A 2 '✘' "$logs/$1.log" || tail -n 20 "$logs/$1.log"; }

# Prints the output of failed groups, then the failures of all of them, then each group's closing line.
report() {
    local name closing failed=0
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
    for name in "${groups[@]}"; do
        closing=$(closing "$name")
        printf '\n== group %s\n%s\n' "$name" "${closing:-✘ No closing line: $(cat "$logs/$name.status")}"
    done
    return $failed
}

# Fails unless every listed suite exists: a renamed suite would otherwise run alone, and nobody would notice.
check_lists() {
    local suite
    for suite in "${lane_1[@]}" "${lane_2[@]}" "${lane_3[@]}" "${lane_4[@]}"; do
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

# Groups that still run when this script ends are ended with it.
trap 'jobs -rp | xargs -r kill 2>/dev/null || true' EXIT
trap 'exit 130' INT TERM

lanes=("$(lane "${lane_1[@]}")" "$(lane "${lane_2[@]}")" "$(lane "${lane_3[@]}")" "$(lane "${lane_4[@]}")")

start_lanes() {
    local number
    for number in 1 2 3 4; do start "system-$number" 900 --filter "${lanes[number - 1]}"; done
}

system_alone() {
    # Random, so it is a group of its own: what it finds is repeated without the others.
    local devices='^SystemTests\.SystemTests/ClientDevices/'
    alone client-devices 600 --filter "$devices"
    alone system-alone 1800 --filter '^SystemTests\.' --skip "$devices" \
        --skip "${lanes[0]}" --skip "${lanes[1]}" --skip "${lanes[2]}" --skip "${lanes[3]}"
}

rm -rf "$logs"
mkdir -p "$logs"
check_lists
case ${1:-} in
    all)
        start web-modules 120 Tests/WebClientTests/run.sh
        start unit-api 900 --filter '^APITests\.' --skip "$measuring"
        start unit-log 900 --filter '^(LogTests|StoreTests)\.' --skip "$measuring"
        start unit-rest 900 --skip '^(APITests|LogTests|StoreTests|SystemTests)\.' --skip "$measuring"
        # One more than WIDTH: it mostly compiles, below the others in priority.
        width=$((width + 1)) start sample 900 env PARLEY_EXECUTABLE="$PWD/.build/debug/parley" Tests/SDKSample/run.py
        release
        start_lanes
        wait
        in_browser start browser-1 600 Tests/BrowserTests/run.py --without test_speed --part 1/2
        in_browser start browser-2 600 Tests/BrowserTests/run.py --without test_speed --part 2/2
        in_browser alone browser-speed 200 Tests/BrowserTests/run.py test_speed
        alone measuring 600 --filter "$measuring"
        system_alone
        repeat_failed
        status=0
        check_counts || status=1
        report || status=1
        exit $status
        ;;
    system)
        start_lanes
        system_alone
        report
        ;;
    quick)
        start web-modules 120 Tests/WebClientTests/run.sh
        start quick-log 300 --filter '^LogTests\.' --skip "$measuring" --skip "$slow"
        start quick-store 300 --filter '^StoreTests\.' --skip "$measuring" --skip "$slow"
        start quick-api 300 --filter '^APITests\.' --skip "$measuring" --skip "$slow"
        start quick-rest 300 --skip '^(APITests|LogTests|StoreTests|SystemTests)\.' --skip "$measuring" --skip "$slow"
        wait
        report
        ;;
    *)
        say 'usage: Tests/run.sh all | system | quick' >&2
        exit 2
        ;;
esac
