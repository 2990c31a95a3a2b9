# Installs Debian packages for tests: to be sourced by other scripts, which then call `install_with_apt PACKAGE …`.

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

# apt with lists, caches and a status of its own, in the current folder: for packages of another suite, none of which is installed.
own_apt() {
    local command=$1
    shift
    "$command" -o Dir::State="$PWD/state" -o Dir::State::status="$PWD/status" -o Dir::Cache="$PWD/cache" \
        -o Dir::Etc::sourcelist="$PWD/sources.list" -o Dir::Etc::sourceparts=- -o APT::Sandbox::User=root "$@"
}

# Reads the lists of a suite of Debian for `own_apt`; what went wrong is in the file `log`.
read_own_lists() {
    local suite=$1 keys=/usr/share/keyrings/debian-archive-keyring.gpg
    mkdir -p state/lists/partial cache/archives/partial
    : >status
    echo "deb [signed-by=$keys] http://deb.debian.org/debian $suite main" >sources.list
    own_apt apt-get update >log 2>&1
}
