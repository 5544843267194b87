#!/usr/bin/env bash
# Runs the README's two commands on a fresh Debian 12: creates a minimal one in FOLDER (removed first if this script
# created it), clones HEAD into it, and runs tools/demo.sh and tools/test.sh there with an empty environment and without a
# compiler cache. Takes about 20 minutes on two cores. Needs root and the package debootstrap.
#
#     sudo tools/dev/fresh-machine.sh FOLDER
#
# MIRROR and SECURITY_MIRROR choose other Debian mirrors.
set -euo pipefail
cd "$(dirname "$0")/../.."
folder=${1:?usage: tools/dev/fresh-machine.sh FOLDER}
mirror=${MIRROR:-http://deb.debian.org/debian}
security=${SECURITY_MIRROR:-http://deb.debian.org/debian-security}

mark="$folder/made-by-fresh-machine"
if [ -e "$folder" ] && [ ! -e "$mark" ] && [ -n "$(ls -A "$folder")" ]; then
  echo "fresh-machine.sh: $folder exists and was not made by this script: name another folder" >&2
  exit 1
fi
[ "$(id -u)" = 0 ] || { echo "fresh-machine.sh: needs root: run it with sudo" >&2; exit 1; }

unmount() { for place in dev/shm dev/pts dev proc sys; do umount "$folder/$place" 2>/dev/null || true; done; }
unmount
rm -rf --one-file-system "$folder"
mkdir -p "$folder"
touch "$mark"
trap unmount EXIT

debootstrap --variant=minbase --include=ca-certificates bookworm "$folder" "$mirror"
printf 'deb %s bookworm main\ndeb %s bookworm-updates main\ndeb %s bookworm-security main\n' \
  "$mirror" "$mirror" "$security" >"$folder/etc/apt/sources.list"
# The network as this machine reaches it: names, proxies, certificates.
cp /etc/resolv.conf /etc/hosts "$folder/etc/"
cp /etc/apt/apt.conf.d/*proxy* "$folder/etc/apt/apt.conf.d/" 2>/dev/null || true
cp -r /etc/ssl/certs/. "$folder/etc/ssl/certs/"
mount --bind /proc "$folder/proc"
mount --bind /sys "$folder/sys"
mount --bind /dev "$folder/dev"
mount --bind /dev/pts "$folder/dev/pts" # terminals, which tests open
mount -t tmpfs tmpfs "$folder/dev/shm"

git clone -q . "$folder/root/cleave"
for command in tools/demo.sh tools/test.sh; do
  echo "== $command"
  time chroot "$folder" /usr/bin/env -i HOME=/root PATH=/usr/sbin:/usr/bin:/sbin:/bin \
    CCACHE_DISABLE=1 bash -c "cd /root/cleave && bash $command"
done
