#!/usr/bin/env bash
# Makes sure that what `make test-kernel` needs is there: QEMU, programs for its initial file system, Debian's kernel (450 MB), and where that has no
# ublk the kernel of a newer Debian (120 MB), in a folder beside.
#
# On Debian as root it installs the missing programs; kernels are fetched and unpacked into the given folder and the one beside and not installed,
# so that nothing about how this machine boots changes. Anywhere else it says what is missing and fails.
set -euo pipefail

FOLDER=$(realpath -m "${1:?"usage: install-kernel-needs.sh FOLDER-FOR-THE-KERNEL"}")
readonly FOLDER
readonly KERNEL=linux-image-amd64 NEWER=$FOLDER-newer NEWER_SUITE=trixie
source "$(dirname "$0")/apt.sh"

# Program and package, one a line.
readonly PROGRAMS="qemu-system-x86_64 qemu-system-x86
busybox busybox-static
make-bcache bcache-tools
mkfs.xfs xfsprogs
mkfs.btrfs btrfs-progs
dmsetup dmsetup
fio fio
tc iproute2
ping iputils-ping
wipefs util-linux
blockdev util-linux
modinfo kmod
cpio cpio
xz xz-utils
gzip gzip"

missing_packages() {
    local program package
    while read -r program package; do
        PATH=$PATH:/usr/sbin:/sbin command -v "$program" >/dev/null || echo "$package"
    done <<<"$PROGRAMS"
}

# The package that the kernel's metapackage stands for now, in the lists that this apt-cache reads.
kernel_package() {
    "$@" depends "$KERNEL" | awk '$1 == "Depends:" && $2 ~ /^linux-image-/ { print $2; exit }'
}

# Unpacks the package in the current folder, and makes what newer Debians have below /usr alone found below /, too.
unpack() {
    local to=$1
    rm -rf "$to.new"
    mkdir -p "$to.new"
    dpkg-deb -x ./*.deb "$to.new"
    [[ -e $to.new/lib ]] || ln -s usr/lib "$to.new/lib"
    rm -rf "$to"
    mv "$to.new" "$to"
}

has_kernel() { compgen -G "$1/boot/vmlinuz-*" >/dev/null; }

fetch_kernel() {
    local package folder
    has_kernel "$FOLDER" && return 0
    package=$(kernel_package apt-cache)
    [[ -n "$package" ]] || { echo "needs: the package lists have no $KERNEL" >&2; return 1; }
    echo "needs: fetching $package into $FOLDER"
    folder=$(mktemp -d)
    chmod 755 "$folder"
    (cd "$folder" && apt-get download "$package" >/dev/null && unpack "$FOLDER")
    rm -rf "$folder"
}

fetch_newer_kernel() {
    local folder
    has_kernel "$NEWER" && return 0
    if compgen -G "$FOLDER/lib/modules/*/kernel/drivers/block/ublk_drv.ko*" >/dev/null; then
        ln -sfn "$(basename "$FOLDER")" "$NEWER"
        return 0
    fi
    folder=$(mktemp -d)
    (cd "$folder" && fetch_from_newer_suite) || { rm -rf "$folder"; return 1; }
    rm -rf "$folder"
}

fetch_from_newer_suite() {
    local package
    read_own_lists "$NEWER_SUITE" || { echo "needs: reading the lists of $NEWER_SUITE failed: $(tail -n 3 log)" >&2; return 1; }
    package=$(kernel_package own_apt apt-cache)
    [[ -n "$package" ]] || { echo "needs: $NEWER_SUITE has no $KERNEL" >&2; return 1; }
    echo "needs: fetching $package into $NEWER"
    own_apt apt-get download "$package" >>log 2>&1 || { echo "needs: fetching $package failed: $(tail -n 3 log)" >&2; return 1; }
    unpack "$NEWER"
}

command -v apt-get >/dev/null || {
    echo "needs: the machine for these tests is made of Debian's packages, and there is no apt-get here" >&2
    exit 1
}
missing=$(missing_packages | sort -u | xargs)
if [[ -n "$missing" ]]; then
    [[ "$(id -u)" == 0 ]] || { echo "needs: missing: $missing; get them with: sudo apt-get install $missing" >&2; exit 1; }
    echo "needs: installing $missing"
    # The list is split on purpose: one word is one package.
    # shellcheck disable=SC2086
    install_with_apt $missing
    missing=$(missing_packages | sort -u | xargs)
    [[ -z "$missing" ]] || { echo "needs: still missing: $missing" >&2; exit 1; }
fi
fetch_kernel
fetch_newer_kernel
