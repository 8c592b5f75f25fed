#!/usr/bin/env bash
# Checks the web client's modules: format, lint, types, the rules of this repository, unit tests. Needs no build and no
# server, and takes some 10 s. It ends with the closing line of `deno test`.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
export NO_COLOR=1 DENO_NO_UPDATE_CHECK=1

# PyPI's deno, which .ci/deps installs for this user.
deno() { if [ -n "$(type -P deno)" ]; then command deno "$@"; else /usr/bin/python3 -m deno "$@"; fi; }

settings=Sources/WebClient/deno.json
deno fmt --check --config $settings
deno lint --quiet --config $settings
deno check --quiet --config $settings Sources/WebClient/page Tests/WebClientTests
/usr/bin/python3 Tests/WebClientTests/rules.py
# No remote modules: the tests read files of the repository and nothing else.
deno test --config $settings --quiet --parallel --no-remote --no-npm --allow-read=.
