#!/usr/bin/env bash
# What the action runs: annotations to standard output, a table to the job summary, and the exit code of the check.
# Takes MANIFESTS, SNAPSHOT and ARGS from the environment, words separated by blanks, with nothing in them expanded.
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
fi
exit "$code"
