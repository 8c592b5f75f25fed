#!/usr/bin/env bash
# Compares the answers with the served openapi.yaml by schemathesis (PyPI): no answer may be undescribed, and none a 5xx.
# The exit status is 0 if nothing was found.
#
#   python3 -m venv VENV && VENV/bin/pip install schemathesis
#   PATH=$PWD/VENV/bin:$PATH Tests/Measure/schemathesis.sh --max-examples 120 --seed 3 [any flag of schemathesis run]
#
# PARLEY_EXECUTABLE: a build other than .build/release/parley.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
if [ -z "${PARLEY_URL:-}" ]; then
    command -v schemathesis >/dev/null || { echo "schemathesis was not found on PATH. The header of this script shows how to install it." >&2; exit 1; }
    export PARLEY_ADMIN_TOKEN=${PARLEY_ADMIN_TOKEN:-an-admin-for-schemathesis}
    RUN=$(printf '%q ' "$here/schemathesis.sh" "$@") exec "$here/bench.sh"
fi
export PARLEY_URL SCHEMATHESIS_HOOKS=schemathesis_hooks PYTHONPATH=$here PYTHONDONTWRITEBYTECODE=1
account='{"username": "ann", "password": "a river of tea", "name": "Ann"}'
token() { grep -o '"token": *"[^"]*"' | cut -d '"' -f 4; }
sign_in() {
    curl -sS -H 'Content-Type: application/json' "$PARLEY_URL/v1/auth/login" \
        -d '{"username": "ann", "password": "a river of tea"}' | token
}
curl -sS -o /dev/null -H 'Content-Type: application/json' "$PARLEY_URL/v1/auth/register" -d "$account"
status=0
# run WHO OPTIONS...: tests some operations as a user or as the admin. Operations that sign the run out come last, and after
# them those that change or erase its account.
run() {
    local token
    PARLEY_TOKEN=$(sign_in)
    export PARLEY_TOKEN
    token=$([ "$1" = admin ] && echo "$PARLEY_ADMIN_TOKEN" || sign_in)
    shift
    schemathesis --config-file "$here/schemathesis.toml" run "$PARLEY_URL/openapi.yaml" \
        -H "Authorization: Bearer $token" --phases examples,coverage,fuzzing --continue-on-failure --no-shrink \
        --request-timeout 20 "$@" || status=$?
}
signing_out=(logout deleteSession deleteOtherSessions)
changing=(updateOwnAccount eraseOwnAccount)
run ann "${signing_out[@]/#/--exclude-operation-id=}" "${changing[@]/#/--exclude-operation-id=}" \
    --exclude-path-regex '^/v1/admin' "$@"
run admin --include-path-regex '^/v1/admin' "$@"
run ann "${signing_out[@]/#/--include-operation-id=}" "$@"
run ann "${changing[@]/#/--include-operation-id=}" "$@"
exit $status
