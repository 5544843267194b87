#!/usr/bin/env bash
# Formats the C++ sources that differ from main, with clang-format 14 (Debian 12's), which .clang-format is written for.
#   tools/dev/format.sh             formats them
#   tools/dev/format.sh --check     only says which are not formatted; exit code 1 if there are any
#   tools/dev/format.sh --all …     all sources instead of the changed ones
set -euo pipefail
cd "$(dirname "$0")/../.."

formatter=$(command -v clang-format-14 || command -v clang-format || true)
if [ -z "$formatter" ]; then
  echo "clang-format is not installed: apt-get install clang-format-14" >&2
  exit 1
fi

mode=-i
list() { { git diff --name-only --diff-filter=d main -- ; git ls-files --others --exclude-standard; }; }
for option in "$@"; do
  case $option in
    --check) mode="--dry-run -Werror" ;;
    --all) list() { git ls-files; } ;;
    *) echo "unknown option $option: expected --check or --all" >&2; exit 1 ;;
  esac
done

files=$(list | grep -E '^(dialects|compiler|passes|runtime|tools|test)/.*\.(h|cpp|cu|c)$' | sort -u || true)
[ -n "$files" ] || exit 0
# shellcheck disable=SC2086
"$formatter" $mode $files
