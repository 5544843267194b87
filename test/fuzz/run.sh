#!/usr/bin/env bash
# test/fuzz/run.sh BUILD TARGET SECONDS [SEEDS…]: fuzzes one target, starting from its corpus, the inputs of earlier runs and the
# folders SEEDS, with limits on memory, the size of a single allocation and the time of one input (a minute of wall-clock time,
# because a busy machine may run the target ten times slower). A crash ends the run.
set -euo pipefail
build=$(cd "$1" && pwd) target=$2 seconds=$3
shift 3
source=$(cd "$(dirname "$0")" && pwd) root=$(cd "$(dirname "$0")/../.." && pwd)
found=$build/fuzz/$target
mkdir -p "$found/inputs" "$found/crashes"

# The dictionary: all string literals in the reader's sources.
case $target in
  onnx | weights) readers="compiler/frontend/onnx" ;;
  torchscript | source | pickle | archive) readers="compiler/frontend/torch compiler/frontend/torchscript compiler/frontend/aten" ;;
  pt2 | program) readers="compiler/frontend/pt2 compiler/frontend/aten" ;;
  cluster) readers="compiler/cluster" ;;
  solver) readers="compiler/solver" ;;
  pins) readers="compiler/planner" ;;
  checkpoint) readers="runtime/checkpoint" ;;
  options) readers="passes/train compiler/frontend runtime/base" ;;
  *) readers="runtime/data" ;;
esac
(cd "$root" && grep -rhoE --include='*.cpp' '"[][A-Za-z0-9_.:=(){}*/-]{1,40}"' $readers) | sort -u > "$found/words"
case $target in # these are called by other names than the sources know them by
  source) sed -n 's/^"aten::\(.*\)"$/"torch.\1("/p' "$found/words" > "$found/more" ;;
  program) sed -n 's/^"aten::\(.*\)"$/"torch.ops.aten.\1.default"/p' "$found/words" > "$found/more" ;;
  *) : > "$found/more" ;;
esac
cat "$found/more" >> "$found/words"

[ $target != weights ] || set -- "$source/corpus/onnx" "$@" # of the same kind

# User poisoning is off: LLVM's libraries are not instrumented and allocate from arenas that instrumented code has poisoned.
export ASAN_OPTIONS=allow_user_poisoning=0:detect_leaks=1 UBSAN_OPTIONS=print_stacktrace=1
exec "$build/test/fuzz/fuzz-$target" -max_total_time="$seconds" -max_len=32768 -timeout=60 -rss_limit_mb=2000 \
  -malloc_limit_mb=256 -print_final_stats=1 -dict="$found/words" -artifact_prefix="$found/crashes/" \
  "$found/inputs" "$source/corpus/$target" "$@"
