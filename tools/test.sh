#!/usr/bin/env bash
# Builds everything and runs the tests. `tools/test.sh fast` runs only those that take under a minute together.
set -euo pipefail
cd "$(dirname "$0")/.."
tools/build.sh all
if [ "${1:-all}" = fast ]; then
  ctest --test-dir build --output-on-failure -j "$(nproc)" -L fast
else
  ctest --test-dir build --output-on-failure -LE slow
fi
