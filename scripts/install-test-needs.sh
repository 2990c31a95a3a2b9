#!/usr/bin/env bash
# Makes sure that what the tests need is there: a C compiler, PostgreSQL's server programs, fio, failover managers (10 MB of packages).
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

# Another installation may hold the lock of packages or of their lists: each try waits for it, and there are several.
readonly TRIES=3 SECONDS_FOR_LOCK=300

apt() { apt-get -o "DPkg::Lock::Timeout=$SECONDS_FOR_LOCK" "$@"; }

# `apt-get update` does not wait for the lock of the lists by itself.
update_and_install() {
    local waited=0
    until apt update; do
        ((waited += 10))
        ((waited <= SECONDS_FOR_LOCK)) && lists_are_locked || return 1
        sleep 10
    done
    apt install -y --no-install-recommends "$@"
}

# Does somebody else hold the lock of the lists just now?
lists_are_locked() {
    local lock=/var/lib/apt/lists/lock
    [[ -e $lock ]] && grep -q ":$(stat -c %i "$lock") " /proc/locks
}

# Packages would create and start a cluster, and services, of their own; the tests want only the programs.
install_with_apt() {
    local settings=/etc/postgresql-common/createcluster.d log status=0 try policy=/usr/sbin/policy-rc.d our_policy=""
    local ours="$settings/proofload-tests.conf"
    log=$(mktemp)
    if [[ ! -e $policy ]]; then
        printf '#!/bin/sh\n# Written by Proofload for the time of an installation.\nexit 101\n' >"$policy"
        chmod 755 "$policy"
        our_policy=$policy
    fi
    mkdir -p "$settings"
    echo "create_main_cluster = false" >"$ours"
    export DEBIAN_FRONTEND=noninteractive
    for ((try = 1; try <= TRIES; try++)); do
        status=0
        update_and_install "$@" >"$log" 2>&1 || status=$?
        [[ $status == 0 ]] && break
        echo "needs: apt-get failed with exit code $status (try $try of $TRIES):"
        tail -n 5 "$log"
    done
    rm -f "$ours" "$log" ${our_policy:+"$our_policy"}
}

# Failover managers, as far as the distribution has them: without them their tests say that they were skipped.
is_there() { command -v "$1" >/dev/null; }
missing_managers() {
    is_there patroni || echo patroni
    is_there etcd || echo etcd-server
    is_there pg_autoctl || apt-cache pkgnames | grep -xE 'pg-auto-failover-cli|postgresql-[0-9]+-auto-failover' || true
}

install_managers() {
    local missing
    command -v apt-get >/dev/null && [[ "$(id -u)" == 0 ]] || return 0
    missing=$(missing_managers | xargs)
    [[ -n "$missing" ]] || return 0
    echo "needs: installing $missing"
    # The list is split on purpose: one word is one package.
    # shellcheck disable=SC2086
    install_with_apt $missing
    missing=$(missing_managers | xargs)
    [[ -z "$missing" ]] || echo "needs: going on without $missing"
}

missing=$(missing_packages | xargs)
if [[ -z "$missing" ]]; then
    install_managers
    exit 0
fi
if command -v apt-get >/dev/null && [[ "$(id -u)" == 0 ]]; then
    echo "needs: installing $missing"
    # The list is split on purpose: one word is one package.
    # shellcheck disable=SC2086
    install_with_apt $missing
    still=$(missing_packages | xargs)
    if [[ -z "$still" ]]; then
        install_managers
        exit 0
    fi
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
