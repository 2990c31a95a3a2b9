#!/usr/bin/env bash
# Fetches axe-core, the checker of accessibility, into the user's data folder, where the tests of reports find it. Nothing else needs it.
#
# The package is pinned and its hash is checked. The tests also want a Chromium; without one of the two they say SKIPPED.
set -euo pipefail

fail() {
    echo "axe: $*" >&2
    exit 1
}

package=axe-core version=4.10.3
hash=Xm7bpRXnDSX2YE2YFfBk2FnF0ep6tmG7xPh8iHee8MIcrgq762Nkce856dYtJYLkuIoYZvGfTs/PbZhideTcEg==

folder="${XDG_DATA_HOME:-$HOME/.local/share}/proofload"
mark="$folder/axe.version"
if [[ -f "$folder/axe.min.js" && "$(cat "$mark" 2>/dev/null)" == "$package $version" ]]; then
    echo "axe: $folder/axe.min.js is there, of $package $version"
    exit 0
fi
for tool in npm openssl tar; do
    command -v "$tool" >/dev/null || fail "$tool is needed"
done

mkdir -p "$folder"
work=$(mktemp -d "$folder/fetch.XXXXXX")
trap 'rm -rf "$work"' EXIT
npm pack --silent --pack-destination "$work" "$package@$version" >"$work/log" 2>&1 ||
    fail "npm could not fetch the package: $(tail -n 3 "$work/log" | tr '\n' ' ')"
archive=$(find "$work" -name '*.tgz')
found=$(openssl dgst -sha512 -binary "$archive" | base64 -w 0)
[[ "$found" == "$hash" ]] || fail "the package's hash is $found, and $hash was expected; nothing was installed"
tar -xzf "$archive" -C "$work" package/axe.min.js
rm -f "$mark"
mv "$work/package/axe.min.js" "$folder/axe.min.js"
echo "$package $version" >"$mark"
echo "axe: $folder/axe.min.js"
