#!/usr/bin/env bash
# Formats the C++ sources that differ from main with clang-format 22, the version .clang-format is written for.
#   tools/dev/format.sh             formats them
#   tools/dev/format.sh --check     lists the violations instead; exit code 1 if there are any
#   tools/dev/format.sh --all …     all sources instead of those that differ
# Exit code 77: clang-format 22 is not installed.
set -euo pipefail
cd "$(dirname "$0")/../.."

formatter=
for candidate in clang-format-22 clang-format; do
  if "$candidate" --version 2>/dev/null | grep -q 'version 22\.'; then
    formatter=$candidate
    break
  fi
done
if [ -z "$formatter" ]; then
  echo "skipped: clang-format-22 is not installed: apt-get install clang-format-22" >&2
  exit 77
fi

mode=-i
list() { { git diff --name-only --diff-filter=d main -- ; git ls-files --others --exclude-standard; }; }
for option in "$@"; do
  case $option in
    --check) mode="--dry-run -Werror" ;;
    --all) list() { find dialects compiler passes runtime tools test -type f; } ;;
    *) echo "unknown option $option: expected --check or --all" >&2; exit 1 ;;
  esac
done

files=$(list | grep -E '^(dialects|compiler|passes|runtime|tools|test)/.*\.(h|cpp|cu|c)$' | sort -u || true)
[ -n "$files" ] || exit 0
# shellcheck disable=SC2086
"$formatter" $mode $files
