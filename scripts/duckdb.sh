#!/usr/bin/env bash
# Fetches DuckDB's library into the user's data folder, where Proofload finds it. Nothing is built, and the build needs none of it.
#
# The library is taken out of the npm package of DuckDB's own bindings for Node.js, by npm and its configuration. The
# package is pinned and its hash is checked. A library of one's own needs none of this: name it by engine.library or
# PROOFLOAD_DUCKDB.
set -euo pipefail

fail() {
    echo "duckdb: $*" >&2
    exit 1
}

# Package, version and the hash of the package's archive, sha512 in base 64 as the registry gives it.
case "$(uname -s)-$(uname -m)" in
Linux-x86_64)
    package=@duckdb/node-bindings-linux-x64 version=1.5.6-r.1
    hash=IXcrZJE6kEqM0Z4wwdVnGBHX/frOS33VPNAwDXQ/Q+Fs84b058Qe94chrCCIcNJlG8Y3UHIUU4eBeCQxW5mN1Q==
    ;;
Linux-aarch64)
    package=@duckdb/node-bindings-linux-arm64 version=1.5.5-r.5
    hash=CafH2AIvXtpwDynG3KB/4uEOHRGlFoB7auCRMIwH3BKNIobsANV5LSpDJ3tfyRCFIsK6e8AT1eseWVnu2Dv3cw==
    ;;
*)
    fail "no package is known for $(uname -sm); install DuckDB's library and name it by PROOFLOAD_DUCKDB"
    ;;
esac

folder="${XDG_DATA_HOME:-$HOME/.local/share}/proofload"
mark="$folder/libduckdb.version"
if [[ -f "$folder/libduckdb.so" && "$(cat "$mark" 2>/dev/null)" == "$package $version" ]]; then
    echo "duckdb: $folder/libduckdb.so is there, of $package $version"
    exit 0
fi
for tool in npm openssl tar; do
    command -v "$tool" >/dev/null || fail "$tool is needed; without it install DuckDB's library and name it by PROOFLOAD_DUCKDB"
done

mkdir -p "$folder"
work=$(mktemp -d "$folder/fetch.XXXXXX")
trap 'rm -rf "$work"' EXIT
echo "duckdb: fetching $package $version (24 MB)"
npm pack --silent --pack-destination "$work" "$package@$version" >"$work/log" 2>&1 ||
    fail "npm could not fetch the package: $(tail -n 3 "$work/log" | tr '\n' ' ')"
archive=$(find "$work" -name '*.tgz')
found=$(openssl dgst -sha512 -binary "$archive" | base64 -w 0)
[[ "$found" == "$hash" ]] || fail "the package's hash is $found, and $hash was expected; nothing was installed"
tar -xzf "$archive" -C "$work" package/libduckdb.so package/LICENSE
chmod 644 "$work/package/libduckdb.so"
# The version last: a killed run is done again. A library in use stays the file that it was.
rm -f "$mark"
mv "$work/package/LICENSE" "$folder/libduckdb.LICENSE"
mv "$work/package/libduckdb.so" "$folder/libduckdb.so"
echo "$package $version" >"$mark"
echo "duckdb: $folder/libduckdb.so"
