#!/usr/bin/env bash
# From nothing to a trained model: installs missing packages, builds the tools, compiles the bundled GPT for four ranks on
# this machine, prints the decisions with their reasons, trains on text, and compares the losses with those of one rank.
set -euo pipefail
cd "$(dirname "$0")/.."
tools/build.sh
bin=build/bin
out=build/demo
steps=${STEPS:-300}
mkdir -p "$out"

# The training text: this project's own sources and documents, as bytes.
find . -name build -prune -o -type f \( -name '*.md' -o -name '*.h' -o -name '*.cpp' -o -name '*.td' \) -print0 |
  sort -z | xargs -0 cat >"$out/text.bin"

compile() { # RANKS PLAN
  "$bin/cleave-compile" docs/examples/gpt/gpt.onnx --train --loss softmax-cross-entropy:logits,labels \
    --optimizer adamw:lr=1e-3 --set batch=16 --cluster local-cpu --ranks "$1" -o "$2"
}

echo; echo "== compiling docs/examples/gpt/gpt.onnx for 4 ranks of this machine"
compile 4 "$out/gpt-4.plan"
echo; echo "== its decisions and their reasons"
"$bin/cleave-dump" "$out/gpt-4.plan"
echo; echo "== training it: 4 processes, $steps steps on $(wc -c <"$out/text.bin") bytes of text"
"$bin/cleave-run" "$out/gpt-4.plan" --data "$out/text.bin" --steps "$steps" --threads 1 --log "$out/gpt-4.jsonl"
echo; echo "== the same on one rank"
compile 1 "$out/gpt-1.plan" >/dev/null
"$bin/cleave-run" "$out/gpt-1.plan" --data "$out/text.bin" --steps "$steps" --threads 1 --log "$out/gpt-1.jsonl"
echo
python3 tools/dev/compare-losses.py "$out/gpt-1.jsonl" "$out/gpt-4.jsonl"
