#!/usr/bin/env bash
# Installs the Debian packages that building and testing need. As root it
# installs what is missing; otherwise it prints the one line that does.
set -euo pipefail

packages=(
  clang-22 clang-format-22 lld-22 liblld-22-dev libmlir-22-dev mlir-22-tools llvm-22-dev llvm-22-tools libclang-rt-22-dev
  cmake ninja-build ccache pkg-config
  protobuf-compiler libprotobuf-dev libonnx-dev libflatbuffers-dev flatbuffers-compiler
  libcli11-dev nlohmann-json3-dev catch2 libsodium-dev libjpeg62-turbo-dev libpng-dev
  gcc-aarch64-linux-gnu g++-aarch64-linux-gnu gcc-riscv64-linux-gnu g++-riscv64-linux-gnu
  gcc-arm-linux-gnueabihf g++-arm-linux-gnueabihf qemu-user
  python3 python3-numpy python3-onnx python3-pytest python3-dev pybind11-dev libonnx-testdata
)

# What the build leaves out where it is not there: video, integer programs of the planner, and the connection between
# ranks over MPI.
optional=(libopenh264-dev libde265-dev coinor-libcbc-dev)
if [ "${OPENATC_WITHOUT_MPI:-}" = "" ]; then
  optional+=(libopenmpi-dev openmpi-bin)
fi

is_installed() { # package
  dpkg-query -W -f='${Status}' "$1" 2>/dev/null | grep -q 'install ok installed'
}
missing=()
for package in "${packages[@]}"; do
  is_installed "$package" || missing+=("$package")
done
wanted=()
for package in ${optional[@]+"${optional[@]}"}; do
  is_installed "$package" || wanted+=("$package")
done
[ ${#missing[@]} -eq 0 ] && [ ${#wanted[@]} -eq 0 ] && exit 0

if [ "$(id -u)" -ne 0 ]; then
  [ ${#wanted[@]} -eq 0 ] || echo "Without these packages some parts are not built: ${wanted[*]}" >&2
  [ ${#missing[@]} -eq 0 ] && exit 0
  echo "These packages are missing; install them and run this again:" >&2
  echo "  sudo apt-get install --no-install-recommends ${missing[*]}" >&2
  exit 1
fi

echo "Installing $((${#missing[@]} + ${#wanted[@]})) Debian packages ..."
export DEBIAN_FRONTEND=noninteractive
install=(apt-get install -y -qq --no-install-recommends)
apt-get update -qq || [ ${#missing[@]} -eq 0 ]
[ ${#missing[@]} -eq 0 ] || "${install[@]}" "${missing[@]}"
[ ${#wanted[@]} -eq 0 ] || "${install[@]}" "${wanted[@]}" ||
  echo "Not installed, so some parts are not built: ${wanted[*]}" >&2
