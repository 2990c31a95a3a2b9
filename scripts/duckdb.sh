#!/usr/bin/env bash
# Fetches DuckDB's library into the user's data folder, where Proofload finds it. Nothing is built, and the build needs none of it.
#
# The library is taken out of the npm package of DuckDB's own bindings for Node.js, by npm and its configuration. The
# package is pinned and its hash is checked. A library of one's own needs none of this: name it by engine.library or
# PROOFLOAD_DUCKDB.
set -euo pipefail
source "$(dirname "$0")/npm.sh"

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

fetch_npm libduckdb "$package" "$version" "$hash" libduckdb.version libduckdb.so LICENSE
