#!/usr/bin/env bash
# Writes the documentation as pages for a browser, with navigation and search; they need no server and no network.
#   tools/docs.sh [FOLDER]    FOLDER: default build/docs; the first page is FOLDER/index.html
set -euo pipefail
cd "$(dirname "$0")/.."
if [ ! -x "$(command -v mkdocs)" ] || [ ! -d /usr/share/mkdocs/themes/material ]; then
  echo "tools/docs.sh: found no MkDocs with the theme Material: apt install mkdocs mkdocs-material" >&2
  exit 1
fi
site=$(realpath -m "${1:-build/docs}")
# MkDocs empties the folder.
if [ -n "$(ls -A "$site" 2>/dev/null)" ] && [ ! -e "$site/search/search_index.js" ]; then
  echo "tools/docs.sh: $site has other files than pages of an earlier call: name another folder" >&2
  exit 1
fi
staged=$(mktemp -d)
trap 'rm -rf "$staged"' EXIT
python3 -B tools/docs/stage.py "$staged"
mkdocs build --quiet --strict --config-file "$staged/mkdocs.yml" --site-dir "$site"
python3 -B tools/docs/stage.py "$staged" --index "$site"
echo "$site/index.html"
