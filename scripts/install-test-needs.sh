#!/usr/bin/env bash
# Makes sure that what the tests need is there: a C compiler, PostgreSQL's, MariaDB's and MySQL's server programs, also newer ones than the
# system's, fio, failover managers, programs of xfs, a browser.
#
# On Debian and Ubuntu as root it installs what is missing; anywhere else it says what is missing and how
# to get it, and succeeds: the tests concerned then say that they were skipped. It does nothing when all is there.
set -euo pipefail
source "$(dirname "$0")/apt.sh"

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

# The core packages have the programs without a service.
has_mariadb() {
    local folder
    for folder in $(tr ':' '\n' <<<"$PATH") /usr/sbin /usr/libexec /usr/local/mysql/bin /opt/homebrew/opt/mariadb/bin; do
        [[ -x "$folder/mariadbd" ]] && command -v mariadb-install-db >/dev/null && return 0
    done
    return 1
}

missing_packages() {
    has_compiler || echo gcc libc6-dev
    has_postgresql || echo postgresql
    has_mariadb || echo mariadb-server-core mariadb-client-core
    has_fio || echo fio
}

# Failover managers, a file system and a browser, as far as the distribution has them: without them their tests say that they were skipped.
is_there() { command -v "$1" >/dev/null; }
missing_extras() {
    is_there patroni || echo patroni
    python3 -c 'import ensurepip, venv' 2>/dev/null || echo python3-venv
    is_there etcd || echo etcd-server
    is_there mkfs.xfs || [[ -x /usr/sbin/mkfs.xfs ]] || echo xfsprogs
    is_there tsql || echo freetds-bin
    is_there chromium || apt-cache pkgnames | grep -xF chromium || true
    is_there pg_autoctl || apt-cache pkgnames | grep -xE 'pg-auto-failover-cli|postgresql-[0-9]+-auto-failover' || true
}

install_extras() {
    local missing
    "$(dirname "$0")/accessibility-needs.sh" || echo "needs: going on without axe-core"
    "$(dirname "$0")/server-needs.sh" || echo "needs: going on without MySQL, or without newer servers"
    command -v apt-get >/dev/null && [[ "$(id -u)" == 0 ]] || return 0
    missing=$(missing_extras | xargs)
    [[ -n "$missing" ]] || return 0
    echo "needs: installing $missing"
    # The list is split on purpose: one word is one package.
    # shellcheck disable=SC2086
    install_with_apt $missing
    missing=$(missing_extras | xargs)
    [[ -z "$missing" ]] || echo "needs: going on without $missing"
}

missing=$(missing_packages | xargs)
if [[ -z "$missing" ]]; then
    install_extras
    exit 0
fi
if command -v apt-get >/dev/null && [[ "$(id -u)" == 0 ]]; then
    echo "needs: installing $missing"
    # The list is split on purpose: one word is one package.
    # shellcheck disable=SC2086
    install_with_apt $missing
    still=$(missing_packages | xargs)
    if [[ -z "$still" ]]; then
        install_extras
        exit 0
    fi
    missing=$still
fi

echo "needs: missing: $missing"
echo "needs: get them with one of"
echo "    sudo apt-get install $missing            # Debian, Ubuntu"
echo "    sudo dnf install gcc postgresql-server mariadb-server fio"
echo "    brew install postgresql mariadb fio"
if ! has_compiler; then
    echo "needs: without a C compiler nothing can be built" >&2
    exit 1
fi
echo "needs: going on; tests that need them say SKIPPED and why"
