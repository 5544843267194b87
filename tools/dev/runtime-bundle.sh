#!/usr/bin/env bash
# Packs what runs plans on a machine that has glibc and nothing else of Cleave's: cleave-run, cleave-dump and
# cleave-calibrate of a runtime-only build (CLEAVE_RUNTIME_ONLY), stripped, and the given files beside them.
#
#     tools/dev/runtime-bundle.sh [--build FOLDER] [--tool NAME] OUTPUT.tar.gz [FILE…]
#
# --tool adds an executable of the build to these three.
# Fails if an executable needs a library besides glibc's, or if the executables take more than 32 MiB.
set -euo pipefail
root=$(cd "$(dirname "$0")/../.." && pwd)
build=$root/build/runtime-only
tools="cleave-run cleave-dump cleave-calibrate"
while :; do
  case ${1:-} in
    --build) build=${2:?runtime-bundle.sh: --build needs a folder} ;;
    --tool) tools="$tools ${2:?runtime-bundle.sh: --tool needs the name of an executable}" ;;
    *) break ;;
  esac
  shift 2
done
output=${1:?usage: tools/dev/runtime-bundle.sh [--build FOLDER] [--tool NAME] OUTPUT.tar.gz [FILE…]}
shift

log=$(mktemp)
staging=$(mktemp -d)
trap 'rm -rf "$log" "$staging"' EXIT
# shellcheck disable=SC2086
{ [ -f "$build/build.ninja" ] || cmake -G Ninja -S "$root" -B "$build" -DCLEAVE_RUNTIME_ONLY=ON; } >"$log" 2>&1 &&
  cmake --build "$build" --target $tools >>"$log" 2>&1 || { cat "$log" >&2; exit 1; }

mkdir -p "$staging/bin"
for tool in $tools; do
  strip -o "$staging/bin/$tool" "$build/bin/$tool"
  needed=$(objdump -p "$staging/bin/$tool" | sed -n 's/^ *NEEDED *//p' |
    grep -vE '^(libc|libm|libdl|libpthread|librt|ld-linux-x86-64|ld-linux-aarch64)\.so' || true)
  if [ -n "$needed" ]; then
    echo "runtime-bundle.sh: $tool needs $(echo $needed), expected glibc's libraries alone" >&2
    exit 1
  fi
done
bytes=$(cat "$staging"/bin/* | wc -c)
if [ "$bytes" -gt $((32 << 20)) ]; then
  echo "runtime-bundle.sh: the executables take $bytes bytes, expected at most 32 MiB" >&2
  exit 1
fi
for file in "$@"; do
  cp -r "$file" "$staging/"
done
tar -C "$staging" -czf "$output" .
echo "$output: executables of $bytes bytes, $(wc -c <"$output") bytes packed"
