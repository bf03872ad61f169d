#!/usr/bin/env bash
# Proves Debian packages: check_packages.sh <folder of .deb files> <folder for the new system>
# Makes an empty Debian 12 with debootstrap (kept as <folder>.tar for the next run), installs the
# packages with what they depend on, and uses them without the source tree. Needs root.
set -euo pipefail
cd "$(dirname "$0")/.."
packages=$1 root=$2
mirror=${DEBIAN_MIRROR:-http://deb.debian.org}

command -v debootstrap >/dev/null || { echo "debootstrap is not installed" >&2; exit 1; }
# /proc and /dev are mounted in a mount namespace of our own, which ends with the script.
if [ -z "${OPENATC_CHECK_NAMESPACE:-}" ]; then
  exec env OPENATC_CHECK_NAMESPACE=1 unshare --mount --propagation private "$0" "$@"
fi

rm -rf --one-file-system "$root"
mkdir -p "$root"
root=$(realpath "$root")
if [ ! -f "$root.tar" ]; then
  echo "== debootstrap"
  debootstrap --variant=minbase bookworm "$root" "$mirror/debian" > "$root.log" 2>&1 ||
    { tail -5 "$root.log" >&2; exit 1; }
  tar -C "$root" -cf "$root.tar" --one-file-system .
else
  tar -C "$root" -xf "$root.tar"
fi
cat > "$root/etc/apt/sources.list" <<SOURCES
deb $mirror/debian bookworm main
deb $mirror/debian bookworm-updates main
deb $mirror/debian-security bookworm-security main
SOURCES
mount -t proc proc "$root/proc"
mount --rbind /dev "$root/dev"
mkdir -p "$root/packages"
cp "$packages"/*.deb scripts/use_installed.sh "$root/packages/"
inside() { chroot "$root" /usr/bin/env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin LC_ALL=C.UTF-8 \
             HOME=/root DEBIAN_FRONTEND=noninteractive "$@"; }

echo "== apt-get install of the packages"
inside apt-get update -qq
inside sh -c 'apt-get install -y -qq --no-install-recommends /packages/*.deb' > "$root.log" 2>&1 ||
  { tail -20 "$root.log" >&2; exit 1; }
inside sh -c 'dpkg -l "*openatc*" | grep ^ii' | awk '{print "  " $2, $3}'
echo "== what building programs needs besides"
inside apt-get install -y -qq --no-install-recommends cmake make gcc g++ pkg-config mlir-22-tools > "$root.log" 2>&1 ||
  { tail -20 "$root.log" >&2; exit 1; }
[ ! -e "$root$PWD" ] || { echo "the source tree is visible in $root" >&2; exit 1; }
inside /packages/use_installed.sh /usr/share/openatc/examples/digits /usr/bin --programs
echo "== removing them"
inside sh -c 'apt-get remove -y -qq $(dpkg-query -W -f="\${Package} " "*openatc*")' > "$root.log" 2>&1
left=$(inside find /usr -name '*openatc*' -not -path '/usr/share/doc/*')
[ -z "$left" ] || { echo "left behind: $left" >&2; exit 1; }
echo "the packages work on a fresh Debian 12"
