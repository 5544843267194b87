#!/usr/bin/env bash
# Which sources take longest to compile, from ninja's own log: header parsing is what a build of Cleave costs.
#   tools/dev/slowest-sources.sh [BUILD] [COUNT]
set -euo pipefail
log=${1:-build}/.ninja_log
[ -f "$log" ] || { echo "$log is missing: build first (tools/build.sh)" >&2; exit 1; }
awk -F'\t' 'NR > 1 { last[$4] = $2 - $1 } END { for (f in last) printf "%8.1f s  %s\n", last[f] / 1000, f }' "$log" |
  sort -rn | head -n "${2:-20}"
