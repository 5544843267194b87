#!/usr/bin/env bash
# test/fuzz/all.sh BUILD SECONDS [TARGET…]: fuzzes all targets (or the given ones) for SECONDS each, and prints a table (cov: code
# edges, ft: features, as counted by libFuzzer). Exit code 1 if a target crashed; its input is in BUILD/fuzz/TARGET/crashes.
set -uo pipefail
build=$(cd "$1" && pwd) seconds=$2
shift 2
here=$(cd "$(dirname "$0")" && pwd)
[ $# -gt 0 ] || set -- onnx weights source program torchscript pt2 pickle archive options pins plan checkpoint safetensors npz npy image tar cluster \
  solver

failed=0
table=$(printf '%-12s %8s %8s %12s %7s %8s %8s  %s' target seconds cpu executions cov ft corpus result)
for target in "$@"; do
  mkdir -p "$build/fuzz/$target"
  log=$build/fuzz/$target/log
  start=$SECONDS
  TIMEFORMAT='%U %S'
  time=$build/fuzz/$target/time
  { time "$here/run.sh" "$build" "$target" "$seconds" > "$log" 2>&1; } 2> "$time"
  code=$?
  cpu=$(awk '{ printf "%.0f", $1 + $2 }' "$time")
  state=$(grep -aE '^#[0-9]+.*cov: ' "$log" | tail -1)
  field() { sed -n "s/.* $1: \([0-9]*\).*/\1/p" <<< "$state"; }
  executions=$(sed -n 's/^#\([0-9]*\).*/\1/p' <<< "$state")
  result=clean
  [ $code -eq 0 ] || { result="exit $code: $(grep -aE 'SUMMARY|ERROR:' "$log" | tail -1)"; failed=1; }
  row=$(printf '%-12s %8s %8s %12s %7s %8s %8s  %s' "$target" $((SECONDS - start)) "$cpu" "$executions" "$(field cov)" "$(field ft)" \
    "$(field corp)" "$result")
  table+=$'\n'$row
  echo "$row"
done
echo
echo "$table"
exit $failed
