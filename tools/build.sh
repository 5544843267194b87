#!/usr/bin/env bash
# Installs missing Debian packages and builds the tools into build/bin.
#   tools/build.sh [TARGET…]             builds other CMake targets: `all` includes the tests
#   tools/build.sh --per-file [TARGET…]  compiles each source on its own from now on, which suits frequent edits;
#                                        --batched goes back to compiling several as one, as a new build folder does
set -euo pipefail
cd "$(dirname "$0")/.."

unity=
case ${1:-} in
  --per-file) unity=OFF; shift ;;
  --batched) unity=ON; shift ;;
  -*) echo "tools/build.sh: unknown option $1: expected --per-file, --batched or CMake targets" >&2; exit 1 ;;
esac

log=$(mktemp)
trap 'rm -f "$log"' EXIT
fail() { cat "$log" >&2; exit 1; }

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
  DEBIAN_FRONTEND=noninteractive $sudo apt-get install -y -qq --no-install-recommends $missing >"$log" 2>&1 || fail
fi

targets=("${@:-tools}")
configure() { cmake -G Ninja -S . -B build "$@" >"$log" 2>&1 || fail; }
if [ ! -f build/build.ninja ]; then
  configure -DCLEAVE_UNITY="${unity:-ON}"
  # An estimate: CPU seconds of one compilation, measured with g++ 12 on a core of 2025.
  seconds=$(grep -q 'CLEAVE_UNITY:BOOL=ON' build/CMakeCache.txt && echo 5.5 || echo 2.4)
  ninja -C build -t commands "${targets[@]}" | awk -v cores="$(nproc)" -v seconds="$seconds" '/ -c /{ n++ } END {
    printf "building: %d compilations on %d cores, about %.0f minutes if ccache knows none of them\n",
           n, cores, n * seconds / cores / 60 + .5 }'
elif [ -n "$unity" ]; then
  configure -DCLEAVE_UNITY="$unity"
elif grep -q 'CLEAVE_UNITY:BOOL=ON' build/CMakeCache.txt && [[ $(ninja -C build -n "${targets[@]}") == *"Building CXX"* ]]; then
  echo "building in batches of sources; for frequent edits: tools/build.sh --per-file"
fi
# On a terminal ninja shows one line of progress; elsewhere only what fails.
quiet=$([ -t 1 ] || echo --quiet)
# shellcheck disable=SC2086
ninja -C build $quiet "${targets[@]}"
