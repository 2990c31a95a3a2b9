#!/usr/bin/env bash
# Moves the line tables of a binary built by `cargo build --profile dist` into `proofload.debug`, and puts both into dist/.
#
# A backtrace, perf and gdb find the file by the name that the binary holds (.gnu_debuglink), when it lies beside the binary.
set -euo pipefail

cd "$(dirname "${BASH_SOURCE[0]}")/.."
built=$(realpath "${CARGO_TARGET_DIR:-target}/dist/proofload")

command -v objcopy >/dev/null || { echo "dist: objcopy is needed; it comes with binutils" >&2; exit 1; }
mkdir -p dist
cd dist
objcopy --only-keep-debug "$built" proofload.debug
objcopy --strip-debug --add-gnu-debuglink=proofload.debug "$built" proofload
ls -l proofload proofload.debug
