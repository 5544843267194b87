#!/usr/bin/env bash
# Installs missing Debian packages and builds the tools into build/bin.
#   tools/build.sh [TARGET]    builds another CMake target: `all` includes the tests
set -euo pipefail
cd "$(dirname "$0")/.."

packages="g++ cmake ninja-build ccache libmlir-22-dev mlir-22-tools llvm-22-dev llvm-22-tools lld-22
  libprotobuf-dev protobuf-compiler nlohmann-json3-dev libcli11-dev catch2 libdnnl-dev libgloo-dev
  libsodium-dev coinor-libcbc-dev zlib1g-dev libjpeg-dev libpng-dev
  libmimalloc-dev python3"
missing=$(for p in $packages; do
  dpkg-query -W -f='${Status}' "$p" 2>/dev/null | grep -q 'ok installed' || echo "$p"; done)
if [ -n "$missing" ]; then
  echo "installing from Debian:" $missing
  sudo=$([ "$(id -u)" = 0 ] || echo sudo)
  $sudo apt-get update -qq
  # shellcheck disable=SC2086
  DEBIAN_FRONTEND=noninteractive $sudo apt-get install -y -qq --no-install-recommends $missing >/dev/null
fi

[ -f build/build.ninja ] || cmake -G Ninja -S . -B build >build.log 2>&1 || { cat build.log; exit 1; }
rm -f build.log
cmake --build build --target "${1:-tools}"
