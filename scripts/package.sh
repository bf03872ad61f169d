#!/usr/bin/env bash
# Makes packages of a finished build.
#
#   scripts/package.sh                    Debian packages, into build/packages
#   scripts/package.sh --wheel            a wheel for this machine's Python, into build/packages
#   scripts/package.sh --check [root]     proves the packages: installs them into an empty Debian 12
#                                         (made by debootstrap below `root`, default build/package-root)
#                                         and uses them there; needs root and the network
#   scripts/package.sh --check-wheel      proves the wheel in a fresh virtual environment
#
# OPENATC_BUILD_DIR names another build folder.
set -euo pipefail
cd "$(dirname "$0")/.."
build=$(realpath "${OPENATC_BUILD_DIR:-build}")
cmake=$(sed -n 's/^CMAKE_COMMAND:INTERNAL=//p' "$build/CMakeCache.txt")
packages=$build/packages

# Packages have the code of host kernels for more processors than this machine's.
prepare() {
  case $(uname -m) in
  x86_64) levels=v3,v4 ;;
  *) levels=armv8-a ;;
  esac
  "$cmake" -DOPENATC_PREBUILT_LEVELS=$levels "$build" >/dev/null
  "$cmake" --build "$build"
}

make_packages() {
  prepare
  rm -f "$packages"/*.deb
  # Archives of another run would be packed again.
  rm -rf "$packages/_CPack_Packages"
  (cd "$build" && "${cmake%cmake}cpack" --config CPackConfig.cmake) | grep -v '^CPack: -\|^CPack: *Create\|^CPack: *Install' || true
  rm -rf "$packages/_CPack_Packages"
  ls -l "$packages"/*.deb | awk '{printf "%9.2f MB  %s\n", $5 / 1e6, $NF}'
}

case "${1:-}" in
"") make_packages ;;
--wheel)
  prepare
  "$cmake" --build "$build" --target openatc_python _compiler_whole om-run-whole
  exec /usr/bin/python3 scripts/make_wheel.py "$build" "$packages"
  ;;
--check)
  [ "$(id -u)" -eq 0 ] || { echo "a new root file system can only be made as root" >&2; exit 1; }
  exec scripts/check_packages.sh "$packages" "${2:-$build/package-root}"
  ;;
--check-wheel)
  venv=$build/wheel-venv
  rm -rf "$venv"
  /usr/bin/python3 -m venv "$venv"
  "$venv/bin/pip" install -q "$packages"/openatc-*.whl
  exec scripts/use_installed.sh "$PWD/examples/digits" "$venv/bin"
  ;;
*)
  sed -n '2,/^$/s/^# \{0,1\}//p' "$0" >&2
  exit 1
  ;;
esac
