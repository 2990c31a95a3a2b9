#!/usr/bin/env bash
# Unpacks MySQL's server program for the tests, where no package of the system has it: Debian's unstable suite has one, which needs newer
# libraries than a stable Debian has and may not stand beside MariaDB's packages.
#
# So nothing is installed: packages are fetched by apt, which checks their signatures, into folders of their own; the program, its messages and
# the libraries that it needs go to /opt/proofload-test-needs/mysql and find each other there; a link in /usr/local/sbin leads to it.
# It does nothing where a mysqld of MySQL is found.
set -euo pipefail
source "$(dirname "$0")/apt.sh"

readonly PLACE=/opt/proofload-test-needs/mysql LINK=/usr/local/sbin/mysqld
readonly KEYS=/usr/share/keyrings/debian-archive-keyring.gpg
readonly PLUGINS="semisync_source.so semisync_replica.so component_reference_cache.so"

fail() {
    echo "mysql: $*" >&2
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

# apt with lists, caches and a status of its own, in the current folder.
own_apt() {
    local command=$1
    shift
    "$command" -o Dir::State="$PWD/state" -o Dir::State::status="$PWD/status" -o Dir::Cache="$PWD/cache" \
        -o Dir::Etc::sourcelist="$PWD/sources.list" -o Dir::Etc::sourceparts=- -o APT::Sandbox::User=root "$@"
}

# Fetches the package and what it needs, without perl, which its scripts alone want, and unpacks all into `root`.
fetch_packages() {
    local packages
    mkdir -p state/lists/partial cache/archives/partial root
    : >status
    echo "deb [signed-by=$KEYS] http://deb.debian.org/debian sid main" >sources.list
    own_apt apt-get update >log 2>&1 || return 1
    packages=$(own_apt apt-get install -s --no-install-recommends mysql-server-core 2>>log | awk '$1 == "Inst" { print $2 }' |
        grep -vE '^(perl|libperl|libc-gconv)') || return 1
    # The list is split on purpose: one word is one package.
    # shellcheck disable=SC2086
    own_apt apt-get download $packages >>log 2>&1 || return 1
    for package in ./*.deb; do
        dpkg-deb -x "$package" root
    done
}

# Copies a library and all that it needs.
copy_libraries() {
    local needed libraries=$1 program=$2
    for needed in $(patchelf --print-needed "$program"); do
        [[ -e new/lib/$needed ]] && continue
        cp -L "$libraries/$needed" "new/lib/$needed"
        copy_libraries "$libraries" "new/lib/$needed"
    done
}

# Puts together what is needed of `root`, and lets the program find it where it will be.
assemble() {
    local libraries loader plugin
    mkdir -p new/sbin new/lib/mysql/plugin new/share/mysql
    cp root/usr/sbin/mysqld new/sbin/
    cp -r root/usr/share/mysql/{english,charsets} new/share/mysql/
    libraries=$(dirname "$(find root/usr/lib -name libc.so.6 | head -n 1)")
    copy_libraries "$libraries" new/sbin/mysqld
    for plugin in $PLUGINS; do
        cp "root/usr/lib/mysql/plugin/$plugin" new/lib/mysql/plugin/
        copy_libraries "$libraries" "new/lib/mysql/plugin/$plugin"
    done
    loader=$(basename "$(patchelf --print-interpreter new/sbin/mysqld)")
    cp -L "$libraries/$loader" new/lib/
    patchelf --set-interpreter "$PLACE/lib/$loader" --force-rpath --set-rpath "\$ORIGIN/../lib" new/sbin/mysqld
}

has_mysql && exit 0
[[ "$(id -u)" == 0 ]] && command -v apt-get >/dev/null || fail "only root on Debian can fetch it here; install MySQL's own packages"
[[ -r $KEYS ]] || fail "Debian's keys are not here: install debian-archive-keyring, or MySQL's own packages"
command -v patchelf >/dev/null || install_with_apt patchelf
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
echo "mysql: fetching mysql-server-core of Debian's unstable suite, 50 MB"
fetch_packages || fail "fetching failed: $(tail -n 3 log)"
assemble || fail "a library that it needs is not among the packages"
rm -rf "$PLACE"
mkdir -p "$(dirname "$PLACE")" "$(dirname "$LINK")"
mv new "$PLACE"
chmod -R go+rX "$PLACE"
ln -sfn "$PLACE/sbin/mysqld" "$LINK"
"$LINK" --version || fail "the unpacked program does not run here"
