#!/usr/bin/env bash
# Fetches axe-core, the checker of accessibility, into the user's data folder, where the tests of reports find it. Nothing else needs it.
#
# The package is pinned and its hash is checked. The tests also want a Chromium; without one of the two they say SKIPPED.
set -euo pipefail
source "$(dirname "$0")/npm.sh"

fail() {
    echo "axe: $*" >&2
    exit 1
}

package=axe-core version=4.10.3
hash=Xm7bpRXnDSX2YE2YFfBk2FnF0ep6tmG7xPh8iHee8MIcrgq762Nkce856dYtJYLkuIoYZvGfTs/PbZhideTcEg==

fetch_npm axe "$package" "$version" "$hash" axe.version axe.min.js
