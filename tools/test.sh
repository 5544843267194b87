#!/usr/bin/env bash
# Builds everything and runs the tests, one more at a time than there are cores, since many of them wait. `tools/test.sh fast`
# runs only those that take under a minute together.
set -euo pipefail
cd "$(dirname "$0")/.."
case ${1:-all} in
  fast) tests="-L fast"; what="the fast tests" time="1 minute" ;;
  all) tests="-LE slow"; what="the tests" time="15 minutes" ;;
  *) echo "tools/test.sh: unknown argument $1: expected fast, or nothing for all tests but the slow ones" >&2; exit 1 ;;
esac
echo "This builds the tools and tests, and runs $what, which takes about $time on 2 cores after the build."
tools/build.sh all
# shellcheck disable=SC2086
ctest --test-dir build --output-on-failure -j "$(($(nproc) + 1))" $tests || failed=1
# A test that is skipped says what it needs, which ctest shows for failures only.
awk '/^[0-9]+\/[0-9]+ Test: /{ name = $3 } /^skipped: /{ sub(/^skipped: /, ""); print "skipped " name ": " $0 }' \
  build/Testing/Temporary/LastTest.log
exit "${failed:-0}"
