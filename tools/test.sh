#!/usr/bin/env bash
# Builds everything and runs the tests, as many at a time as there are cores. `tools/test.sh fast` runs only those that take
# under a minute together.
set -euo pipefail
cd "$(dirname "$0")/.."
tools/build.sh all
case ${1:-all} in
  fast) tests="-L fast" ;;
  *) tests="-LE slow" ;;
esac
# shellcheck disable=SC2086
ctest --test-dir build --output-on-failure -j "$(nproc)" $tests
