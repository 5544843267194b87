#!/usr/bin/env bash
# test/fuzz/run.sh BUILD TARGET SECONDS: fuzzes one target with limits on time, memory and the size of a single allocation.
set -euo pipefail
build=$(cd "$1" && pwd) target=$2 seconds=$3
source=$(cd "$(dirname "$0")" && pwd)
found=$build/fuzz/$target
mkdir -p "$found/inputs" "$found/crashes"
# User poisoning: LLVM's libraries are not instrumented and allocate from arenas that our code has poisoned.
export ASAN_OPTIONS=allow_user_poisoning=0:detect_leaks=1 UBSAN_OPTIONS=print_stacktrace=1
exec "$build/test/fuzz/fuzz-$target" -max_total_time="$seconds" -max_len=16384 -timeout=10 -rss_limit_mb=3000 \
  -malloc_limit_mb=512 -print_final_stats=1 -artifact_prefix="$found/crashes/" "$found/inputs" "$source/corpus/$target"
