#!/usr/bin/env bash
# tools/dev/sanitized.sh FOLDER [CTEST-OPTION…]: builds everything in FOLDER with the address and undefined-behaviour sanitizers, and runs
# the tests except the slow ones; options of ctest narrow them down. Takes hours of CPU. A finding ends the process with a report.
#
# LLVM's libraries are not instrumented. They allocate from arenas that instrumented code has poisoned (allow_user_poisoning=0), and fill
# containers that it has annotated (detect_container_overflow=0).
set -euo pipefail
[ $# -ge 1 ] || { sed -n 2,3p "$0" >&2; exit 1; }
folder=$1
shift
root=$(cd "$(dirname "$0")/../.." && pwd)
cmake -G Ninja -S "$root" -B "$folder" -DCLEAVE_SANITIZE=ON -DCLEAVE_UNITY=ON > /dev/null
ninja -C "$folder" --quiet all
export ASAN_OPTIONS=allow_user_poisoning=0:detect_container_overflow=0:detect_leaks=0:abort_on_error=1
export UBSAN_OPTIONS=print_stacktrace=1:abort_on_error=1
ctest --test-dir "$folder" --output-on-failure -j "$(nproc)" -LE slow "$@"
