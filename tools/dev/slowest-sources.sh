#!/usr/bin/env bash
# Lists the steps of the last build that took longest, from ninja's log; most of the time is header parsing.
#   tools/dev/slowest-sources.sh [BUILD] [COUNT]
set -euo pipefail
log=${1:-build}/.ninja_log
[ -f "$log" ] || { echo "$log is missing: build first (tools/build.sh)" >&2; exit 1; }
awk -F'\t' 'NR > 1 { last[$4] = $2 - $1 } END { for (f in last) printf "%8.1f s  %s\n", last[f] / 1000, f }' "$log" |
  sort -rn | head -n "${2:-20}"
