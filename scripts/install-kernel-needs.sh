#!/usr/bin/env bash
# Makes sure that what `make test-kernel` needs is there: QEMU, programs for its initial file system, and Debian's kernel (450 MB).
#
# On Debian as root it installs the missing programs; the kernel is fetched and unpacked into the given folder and not installed,
# so that nothing about how this machine boots changes. Anywhere else it says what is missing and fails.
set -euo pipefail

readonly FOLDER=${1:?"usage: install-kernel-needs.sh FOLDER-FOR-THE-KERNEL"}
readonly KERNEL=linux-image-amd64
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
gzip gzip"

missing_packages() {
    local program package
    while read -r program package; do
        PATH=$PATH:/usr/sbin:/sbin command -v "$program" >/dev/null || echo "$package"
    done <<<"$PROGRAMS"
}

# The package that the kernel's metapackage stands for now.
kernel_package() {
    apt-cache depends "$KERNEL" | awk '$1 == "Depends:" && $2 ~ /^linux-image-/ { print $2; exit }'
}

unpack_kernel() {
    local package fetched
    compgen -G "$FOLDER/boot/vmlinuz-*" >/dev/null && return 0
    package=$(kernel_package)
    [[ -n "$package" ]] || { echo "needs: the package lists have no $KERNEL" >&2; return 1; }
    echo "needs: fetching $package into $FOLDER"
    fetched=$(mktemp -d)
    chmod 755 "$fetched"
    (cd "$fetched" && apt-get download "$package" >/dev/null)
    rm -rf "$FOLDER.new"
    mkdir -p "$FOLDER.new"
    dpkg-deb -x "$fetched"/*.deb "$FOLDER.new"
    rm -rf "$fetched" "$FOLDER"
    mv "$FOLDER.new" "$FOLDER"
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
unpack_kernel
