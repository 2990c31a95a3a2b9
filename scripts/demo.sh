#!/usr/bin/env bash
# Runs the quick memory sweep, writes record and report into a fresh folder below demo/, prints the table.
#
# usage: scripts/demo.sh release|debug full|toy
#   release|debug   which build of the binary to use
#   full|toy        the study as it is, or the same study made so small that it only proves that everything works
set -euo pipefail

cd "$(dirname "${BASH_SOURCE[0]}")/.."
profile=$1
size=$2
study=studies/quick/memory-sweep.toml
proofload="${CARGO_TARGET_DIR:-target}/$profile/proofload"

# Exit codes of `proofload run` after which every run has ended and there is a report to read (docs/exit-codes.md).
readonly VERIFICATION_FAILED=5 NO_RESULT=6

# All that makes the toy a toy stands here and nowhere else.
toy=(
    --set "study.title=Toy memory sweep: proves the machinery, says nothing about any machine"
    --set workload.scale=toy
    --set workload.warehouses=1
    --set workload.virtual_users=2
    --set procedure.warm_up.at_least=1s
    --set procedure.measure=3s
    --set 'factor.limits.memory=["64MiB", "128MiB"]'
)

folder="demo/$(date +%Y%m%d-%H%M%S)-$size"
[[ -e "$folder" ]] && folder="$folder-$$"
mkdir -p "$folder"
trap 'rm -rf "$folder/data"' EXIT

overrides=(--set "storage.path=$folder/data")
[[ "$size" == toy ]] && overrides+=("${toy[@]}")

status=0
"$proofload" run "$study" -o "$folder/study.proof" "${overrides[@]}" || status=$?
case $status in
0 | "$VERIFICATION_FAILED" | "$NO_RESULT") ;;
*)
    echo "demo: proofload run ended with exit code $status; what was recorded is in $folder" >&2
    exit "$status"
    ;;
esac

if [[ "$size" == toy ]]; then
    "$proofload" report "$folder/study.proof" -o "$folder/report.json" --format json
    # A toy's windows are too short to be steady: that verdict is expected, a missing result is not.
    for needle in '"points"' '"nopm"' '"verdict"'; do
        grep -q "$needle" "$folder/report.json" || { echo "demo: report.json has no $needle" >&2; exit 1; }
    done
    grep -q '<svg' "$folder/study.html" || { echo "demo: study.html has no chart" >&2; exit 1; }
fi
case $status in
0) echo "demo: all points are valid; open $folder/study.html" ;;
"$VERIFICATION_FAILED")
    echo "demo: a limit, a count or a check does not hold; the report's section on validity says which" >&2
    exit "$status"
    ;;
*) echo "demo: Proofload works here, and this host was too noisy for some of the numbers; the lines above say what to do" ;;
esac
