#!/usr/bin/env bash
# What the action runs: annotations to standard output, a table to the job summary, and the exit code of the check.
# Takes MANIFESTS, SNAPSHOT and ARGS from the environment, words separated by blanks, with nothing in them expanded,
# PROMISES, a file that is verified of the snapshot too, once the manifests that are named are applied to it, and SARIF, a
# file that findings are also written to.
set -euo pipefail
PATH="${RUNNER_TEMP:-/nonexistent}/kubespread/bin:$PATH"
read -r -a manifests <<<"${MANIFESTS:-.}"
read -r -a options <<<"${ARGS:-}"
if [ -n "${SNAPSHOT:-}" ]; then
    options+=(-S "$SNAPSHOT")
fi
for manifest in "${manifests[@]}"; do
    if [ -d "$manifest" ]; then
        options+=(-R)
        break
    fi
done
code=0
kubespread check "${options[@]}" -o github -- "${manifests[@]}" || code=$?
if [ "$code" -le 1 ]; then
    # The table is the same answer once more; what keeps it from being written must not change the verdict.
    kubespread check "${options[@]}" -q -o markdown -- "${manifests[@]}" >>"${GITHUB_STEP_SUMMARY:-/dev/null}" || true
    if [ -n "${SARIF:-}" ]; then
        kubespread check "${options[@]}" -q -o sarif -- "${manifests[@]}" >"$SARIF" || true
    fi
fi
if [ -n "${PROMISES:-}" ]; then
    asked=()
    if [ -n "${SNAPSHOT:-}" ]; then
        asked+=(-S "$SNAPSHOT")
    fi
    if [ "${MANIFESTS:-.}" != . ]; then
        for manifest in "${manifests[@]}"; do
            asked+=(-f "$manifest")
        done
    fi
    promised=0
    kubespread verify "${asked[@]}" -- "$PROMISES" || promised=$?
    if [ "$promised" -le 1 ]; then
        kubespread verify "${asked[@]}" -q -o markdown -- "$PROMISES" >>"${GITHUB_STEP_SUMMARY:-/dev/null}" || true
    fi
    if [ "$promised" -gt "$code" ]; then
        code=$promised
    fi
fi
exit "$code"
