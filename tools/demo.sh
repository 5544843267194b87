#!/usr/bin/env bash
# From nothing to a trained model: installs missing packages, builds the tools that it uses, compiles the bundled GPT for four
# ranks on this machine, trains it on text, compares the run with one on one rank, and lets the trained model write.
#   STEPS=N tools/demo.sh    trains N steps instead of 300
set -euo pipefail
cd "$(dirname "$0")/.."
bin=build/bin
out=build/demo
steps=${STEPS:-300}
cat <<TEXT
This installs missing Debian packages, builds the compiler and the runtime, plans the training of a small GPT for 4 ranks, trains it
on this machine, and lets it write. From nothing it takes about 6 minutes on 2 cores, nearly all of it for building; later half a minute.

TEXT
tools/build.sh cleave-compile cleave-dump cleave-run
rm -rf "$out"
mkdir -p "$out"

# The training text: this project's own documents, as bytes.
find . -name build -prune -o -type f -name '*.md' -print0 | sort -z | xargs -0 cat >"$out/text.bin"

compile() { # PLAN OPTION…
  local plan=$1
  shift
  "$bin/cleave-compile" docs/examples/gpt/gpt.onnx --cluster local-cpu -o "$plan" "$@"
}
# RANKS OPTION…: compiles for and trains on this number of ranks. With the full learning rate from the first step, the gradients of some
# batches amplify rounding differences ten thousandfold, and the comparison with one rank would depend on the text.
train() {
  local name=$out/gpt-$1 ranks=$1
  shift
  compile "$name.plan" --train --loss softmax-cross-entropy:logits,labels --optimizer adamw:lr=2e-3 --clip-norm 1 --set batch=16 \
    --ranks "$ranks" >"$name.txt" 2>&1 || { cat "$name.txt" >&2; exit 1; }
  [ "$ranks" = 1 ] || grep -v -e '^note:' -e 'shows decisions' "$name.txt"
  "$bin/cleave-dump" "$name.plan" --json >"$name.json"
  echo; echo "== $steps steps on $(wc -c <"$out/text.bin") bytes of text; processes of this machine: $ranks"
  "$bin/cleave-run" "$name.plan" --data "$out/text.bin" --shuffle --steps "$steps" --lr-schedule constant:warmup=10% --threads 1 \
    --log "$name.jsonl" $quiet "$@"
}
# A bar on a terminal, nothing elsewhere.
quiet=$([ -t 1 ] || echo -q)

echo; echo "== the plan: how 4 ranks share one step of training"
train 4 --save "$out/trained" --report "$out/run.html"
"$bin/cleave-dump" "$out/gpt-4.plan" --html "$out/plan.html" >/dev/null
train 1
python3 tools/dev/compare-runs.py "$out/gpt-1.jsonl" "$out/gpt-4.jsonl" --plans "$out/gpt-1.json" "$out/gpt-4.json"

echo; echo "== what the model writes after $steps steps (it has seen one letter at a time, and little text)"
compile "$out/write.plan" --set batch=1 --ranks 1 -q
"$bin/cleave-run" "$out/write.plan" --weights "$out/trained" --prompt "The planner " --steps 300 -q

cat <<TEXT

== pages for a browser: $out/plan.html (decisions, memory, timeline), $out/run.html (curves of the run)
== next:
  $bin/cleave-dump $out/gpt-4.plan                             # every decision with its reason and the next best one
  $bin/cleave-dump $out/gpt-4.plan --explain head.weight       # all about one parameter
  $bin/cleave-run $out/gpt-4.plan --data $out/text.bin --resume $out/trained --steps $((steps + 200))   # trains on
TEXT
