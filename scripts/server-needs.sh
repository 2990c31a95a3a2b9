#!/usr/bin/env bash
# Unpacks server programs for the tests that no package of the system has: MySQL, and a PostgreSQL, a MariaDB and a PgBouncer that are newer
# than the system's. Debian's unstable suite has them; they need newer libraries than a stable Debian has, and may not stand beside its packages.
#
# So nothing is installed: packages are fetched by apt, which checks their signatures, into folders of their own; programs, what they read and
# the libraries that they need go to /opt/proofload-test-needs/NAME and find each other there. MySQL's server gets a link in /usr/local/sbin;
# newer servers are found by tests alone. What is there, or not needed, is not fetched.
#
# usage: scripts/server-needs.sh [mysql] [postgresql] [mariadb] [pgbouncer]      all of them without a name
#        scripts/server-needs.sh --path                                          PATH with the newer servers first
set -euo pipefail
source "$(dirname "$0")/apt.sh"

readonly PLACES=/opt/proofload-test-needs LINK=/usr/local/sbin/mysqld
readonly KEYS=/usr/share/keyrings/debian-archive-keyring.gpg
# Packages without which a server runs: what they depend on beside libraries serves their scripts.
readonly WANTED='^(lib|gcc-[0-9]+-base|mysql-server-core|mariadb-(server|client)-core|pgbouncer|postgresql(-client)?-[0-9]+$)'
readonly UNWANTED='^(libperl|libc-gconv|libllvm|libz3)'
readonly MYSQL_PLUGINS="semisync_source.so semisync_replica.so component_reference_cache.so"

fail() {
    echo "servers: $*" >&2
    exit 1
}

# MariaDB's packages may have a program of this name too.
has_mysql() {
    local program text
    for program in $(type -ap mysqld) /usr/sbin/mysqld "$LINK" /usr/local/mysql/bin/mysqld /opt/homebrew/opt/mysql/bin/mysqld; do
        text=$("$program" --version 2>/dev/null) && [[ "$text" != *MariaDB* ]] && return 0
    done
    return 1
}

has_postgresql() { compgen -G "$PLACES/postgresql-*/lib/postgresql/*/bin/postgres" >/dev/null; }
has_pgbouncer() { [[ -x $PLACES/pgbouncer/bin/pgbouncer ]]; }
has_mariadb() { [[ -x $PLACES/mariadb/sbin/mariadbd ]]; }

newest_postgresql() {
    own_apt apt-cache pkgnames postgresql- | sed -n 's/^postgresql-\([0-9]*\)$/\1/p' | sort -n | tail -n 1
}

# Fetches packages with the libraries that they need, and unpacks all into `root`.
fetch() {
    local packages package
    echo "servers: fetching $* of Debian's unstable suite"
    rm -rf root ./*.deb
    mkdir root
    packages=$(own_apt apt-get install -s --no-install-recommends "$@" 2>>log | awk '$1 == "Inst" { print $2 }' |
        grep -E "$WANTED" | grep -vE "$UNWANTED") || fail "fetching $* failed: $(tail -n 3 log)"
    # The list is split on purpose: one word is one package.
    # shellcheck disable=SC2086
    own_apt apt-get download $packages >>log 2>&1 || fail "fetching $* failed: $(tail -n 3 log)"
    for package in ./*.deb; do
        dpkg-deb -x "$package" root
    done
}

# Copies the libraries that a file needs, and those that they need.
copy_libraries() {
    local needed libraries
    libraries=$(dirname "$(find root/usr/lib -name libc.so.6 | head -n 1)")
    for needed in $(patchelf --print-needed "$1" 2>/dev/null); do
        [[ -e new/libraries/$needed || ! -e $libraries/$needed ]] && continue
        cp -L "$libraries/$needed" "new/libraries/$needed"
        copy_libraries "new/libraries/$needed"
    done
}

# Gives all programs and modules in `new` their libraries, and moves it to its place.
put() {
    local place=$PLACES/$1 file loader
    mkdir -p new/libraries
    while read -r file; do
        copy_libraries "$file"
        loader=$(patchelf --print-interpreter "$file" 2>/dev/null) || continue
        cp -L "$(find root/usr/lib -name "$(basename "$loader")" | head -n 1)" new/libraries/
        patchelf --set-interpreter "$place/libraries/$(basename "$loader")" --force-rpath --set-rpath "$place/libraries" "$file"
    done < <(find new -path new/libraries -prune -o -type f -print)
    chmod -R go+rX new
    rm -rf "$place"
    mkdir -p "$PLACES"
    mv new "$place"
}

put_mysql() {
    local plugin
    fetch mysql-server-core
    mkdir -p new/sbin new/lib/mysql/plugin new/share/mysql
    cp root/usr/sbin/mysqld new/sbin/
    cp -r root/usr/share/mysql/{english,charsets} new/share/mysql/
    for plugin in $MYSQL_PLUGINS; do
        cp "root/usr/lib/mysql/plugin/$plugin" new/lib/mysql/plugin/
    done
    put mysql
    mkdir -p "$(dirname "$LINK")"
    ln -sfn "$PLACES/mysql/sbin/mysqld" "$LINK"
    "$LINK" --version || fail "the unpacked program does not run here"
}

# PostgreSQL finds what it reads from where its program lies, so the folders keep their places.
put_postgresql() {
    local version
    version=$(newest_postgresql)
    fetch "postgresql-$version" "postgresql-client-$version"
    mkdir -p new/lib/postgresql new/share/postgresql
    cp -r "root/usr/lib/postgresql/$version" new/lib/postgresql/
    cp -r "root/usr/share/postgresql/$version" new/share/postgresql/
    rm -rf "new/lib/postgresql/$version/lib/bitcode" "new/share/postgresql/$version/man"
    put "postgresql-$version"
    "$PLACES/postgresql-$version/lib/postgresql/$version/bin/postgres" --version || fail "the unpacked program does not run here"
}

put_mariadb() {
    fetch mariadb-server-core mariadb-client-core
    mkdir -p new/sbin new/bin new/lib/mysql/plugin new/share
    cp root/usr/sbin/mariadbd new/sbin/
    cp root/usr/bin/{mariadb,mariadb-install-db,my_print_defaults,resolveip} new/bin/
    cp -r root/usr/share/mariadb new/share/
    put mariadb
    "$PLACES/mariadb/sbin/mariadbd" --version || fail "the unpacked program does not run here"
}

# PgBouncer keeps prepared statements from 1.21 on, which a stable Debian may not have.
put_pgbouncer() {
    fetch pgbouncer
    mkdir -p new/bin
    cp root/usr/sbin/pgbouncer new/bin/
    put pgbouncer
    "$PLACES/pgbouncer/bin/pgbouncer" --version | head -n 1 || fail "the unpacked program does not run here"
}

if [[ ${1:-} == --path ]]; then
    printf '%s' "$(compgen -G "$PLACES/postgresql-*/lib/postgresql/*/bin" | sort -V | tail -n 1):$PLACES/mariadb/sbin:$PLACES/mariadb/bin:$PATH"
    exit 0
fi
names=("$@")
[[ $# -gt 0 ]] || names=(mysql postgresql mariadb pgbouncer)
missing=()
for name in "${names[@]}"; do
    "has_$name" || missing+=("$name")
done
[[ ${#missing[@]} == 0 ]] && exit 0
[[ "$(id -u)" == 0 ]] && command -v apt-get >/dev/null || fail "only root on Debian can fetch ${missing[*]} here; install their own packages"
[[ -r $KEYS ]] || fail "Debian's keys are not here: install debian-archive-keyring, or the servers' own packages"
command -v patchelf >/dev/null || install_with_apt patchelf
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
read_own_lists sid || fail "reading Debian's lists failed: $(tail -n 3 log)"
for name in "${missing[@]}"; do
    "put_$name"
done
