#!/usr/bin/env bash
# Makes sure that what `cargo xtask hosts` needs is there: ssh with its server, Slurm with munge, network namespaces, Python with venv.
#
# On Debian and Ubuntu as root it installs what is missing, without starting any service; anywhere else it says what is missing and fails.
set -euo pipefail
source "$(dirname "$0")/apt.sh"

# Program and package, one a line.
readonly PROGRAMS="/usr/sbin/sshd openssh-server
ssh openssh-client
slurmctld slurmctld
slurmd slurmd
srun slurm-client
munged munge
ip iproute2
nsenter util-linux
python3 python3-venv"

missing_packages() {
    local program package
    while read -r program package; do
        command -v "$program" >/dev/null || echo "$package"
    done <<<"$PROGRAMS"
}

missing=$(missing_packages | sort -u | xargs)
[[ -n "$missing" ]] || exit 0
if command -v apt-get >/dev/null && [[ "$(id -u)" == 0 ]]; then
    echo "needs: installing $missing"
    # The list is split on purpose: one word is one package.
    # shellcheck disable=SC2086
    install_with_apt $missing
    missing=$(missing_packages | sort -u | xargs)
fi
[[ -z "$missing" ]] || {
    echo "needs: missing: $missing" >&2
    exit 1
}
