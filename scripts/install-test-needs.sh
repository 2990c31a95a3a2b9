#!/usr/bin/env bash
# Makes sure that what the tests need is there: a C compiler, PostgreSQL's server programs, fio.
#
# On Debian and Ubuntu as root it installs what is missing; anywhere else it says what is missing and how
# to get it, and succeeds: the tests concerned then say that they were skipped. It does nothing when all is there.
set -euo pipefail

has_compiler() { command -v cc >/dev/null; }
has_fio() { command -v fio >/dev/null; }

# The server programs, where PATH, pg_config or the packages of the usual systems put them.
has_postgresql() {
    local folder
    for folder in $(tr ':' '\n' <<<"$PATH") "$(pg_config --bindir 2>/dev/null || true)" \
        /usr/lib/postgresql/*/bin /usr/pgsql-*/bin /opt/homebrew/opt/postgresql*/bin; do
        [[ -x "$folder/initdb" && -x "$folder/postgres" ]] && return 0
    done
    return 1
}

missing_packages() {
    has_compiler || echo gcc libc6-dev
    has_postgresql || echo postgresql
    has_fio || echo fio
}

# The package would create and start a cluster of its own; the tests want only the programs.
install_with_apt() {
    local settings=/etc/postgresql-common/createcluster.d log status=0
    local ours="$settings/proofload-tests.conf"
    log=$(mktemp)
    mkdir -p "$settings"
    echo "create_main_cluster = false" >"$ours"
    export DEBIAN_FRONTEND=noninteractive
    { apt-get update && apt-get install -y --no-install-recommends "$@"; } >"$log" 2>&1 || status=$?
    if [[ $status != 0 ]]; then
        echo "needs: apt-get failed with exit code $status:"
        tail -n 5 "$log"
    fi
    rm -f "$ours" "$log"
}

missing=$(missing_packages | xargs)
if [[ -z "$missing" ]]; then
    exit 0
fi
if command -v apt-get >/dev/null && [[ "$(id -u)" == 0 ]]; then
    echo "needs: installing $missing"
    # The list is split on purpose: one word is one package.
    # shellcheck disable=SC2086
    install_with_apt $missing
    still=$(missing_packages | xargs)
    [[ -z "$still" ]] && exit 0
    missing=$still
fi

echo "needs: missing: $missing"
echo "needs: get them with one of"
echo "    sudo apt-get install $missing            # Debian, Ubuntu"
echo "    sudo dnf install gcc postgresql-server fio"
echo "    brew install postgresql fio"
if ! has_compiler; then
    echo "needs: without a C compiler nothing can be built" >&2
    exit 1
fi
echo "needs: going on; tests that need them say SKIPPED and why"
