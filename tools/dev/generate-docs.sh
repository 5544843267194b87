#!/usr/bin/env bash
# Writes docs/generated: the reference of all dialects, passes and phases, generated from the source.
#   tools/dev/generate-docs.sh [--check] [BUILD]     BUILD: the build folder (default: build)
# With --check it writes nothing, prints the differences and exits with 1 if there are any.
set -euo pipefail
cd "$(dirname "$0")/../.."
check=0
if [ "${1:-}" = --check ]; then check=1; shift; fi
build=${1:-build}
llvm=$(sed -n 's/^CLEAVE_LLVM_BIN[^=]*=//p' "$build/CMakeCache.txt")
llvm=${llvm:-/usr/lib/llvm-22/bin}

out=docs/generated
if [ $check = 1 ]; then out=$(mktemp -d); trap 'rm -rf "$out"' EXIT; fi
mkdir -p "$out"

for source in dialects/*/*Ops.td; do
  folder=$(dirname "$source")
  dialect=$(basename "$folder")
  for file in "$folder"/*.td; do echo "include \"$file\""; done |
    "$llvm/llvm-tblgen" --dump-json -I . -I "$llvm/../include" - |
    python3 -B tools/dev/op-reference.py "$dialect" >"$out/$dialect.md"
done
for file in passes/*/Passes.td passes/*/*/Passes.td; do echo "include \"$file\""; done |
  "$llvm/llvm-tblgen" --dump-json -I . -I "$llvm/../include" - |
  python3 -B tools/dev/pass-reference.py >"$out/passes.md"
python3 -B tools/dev/phase-reference.py . >"$out/phases.md"

if [ $check = 1 ] && ! diff -ru --exclude=README.md docs/generated "$out"; then
  echo "docs/generated is stale (< as committed, > as it should be): run tools/dev/generate-docs.sh $build"
  exit 1
fi
