// The summary of a run, its curves, and the memory of its ranks.

const median = (values) => values.slice().sort((a, b) => a - b)[Math.floor(values.length / 2)];
const numberText = (value) => Math.abs(value) >= 1e4 ? scaled(value, ["", "k", "M", "G", "T"], 1000).replace(" ", "") : Number(value.toPrecision(4)).toString();

function summary() {
  const seconds = steps.map((line) => line.seconds), p = data.predicted;
  const total = seconds.reduce((sum, value) => sum + value, 0), usual = median(seconds);
  const losses = steps.map((line) => line.loss).filter((value) => Number.isFinite(value));
  const tiles = [tile(`${steps.length}`, `steps, ${steps[0].step} to ${steps[steps.length - 1].step}, in ${secondsText(total)}`),
                 tile(secondsText(usual), `a step (median); predicted ${secondsText(p.step_seconds)}`)];
  if (losses.length) tiles.unshift(tile(numberText(losses[losses.length - 1]), `loss at the end; ${numberText(losses[0])} at the beginning`));
  if (data.samples_per_step) tiles.push(tile(amountText(data.samples_per_step / usual, "samples/s"), "of all ranks"));
  const utilization = p.peak_seconds / (usual * data.ranks);
  if (utilization >= 0.001) tiles.push(tile(utilizationText(utilization), "MFU: model FLOPs by the devices' peak rate"));
  tiles.push(tile(countText(p.flops / usual, "FLOP/s"), `per rank, on ${data.ranks} rank${data.ranks > 1 ? "s" : ""}`),
             tile(bytesText(p.peak_bytes), "planned memory of the fullest rank"));
  const skipped = steps.filter((line) => line.skipped).length;
  document.getElementById("summary").append(el("h1", {}, document.title),
    data.error ? el("p", {class: "bad"}, data.error) : "",
    skipped || restarts.length ? el("p", {}, `${skipped} steps skipped, ${restarts.length} restarts`) : "",
    el("div", {class: "tiles"}, ...tiles));
}

// `grad_norm` as `Grad norm`; the learning rate of a group of parameters, `lr/GROUP`, as that.
function titleOf(name) {
  const text = name.replace(/^lr\//, "learning rate of ").replace(/^lr$/, "learning rate").replaceAll("_", " ");
  return text[0].toUpperCase() + text.slice(1);
}

// Whether a number of the steps has a chart: rates follow from the seconds, of which one is enough, and a constant learning rate has no curve.
function isShown(name) {
  if (["step", "seconds", "skipped", "epoch", "mfu", "host_seconds"].includes(name)) return false;
  if (name === "samples_per_second") return !steps.some((line) => "tokens_per_second" in line);
  return !/^lr(\/|$)/.test(name) || steps.some((line) => line[name] !== steps[0][name]);
}

// Numbers of the steps. Where evaluations have the same one, it is in the same chart.
function metricSections() {
  for (const name of [...new Set(steps.flatMap(Object.keys))].filter(isShown)) {
    const curves = [series("training", steps, steps.map((line) => line[name]), "--c0")];
    if (evaluations.some((line) => `eval_${name}` in line))
      curves.push(series("evaluation", evaluations, evaluations.map((line) => line[`eval_${name}`]), "--c1"));
    curveSection(name, titleOf(name), "Each step as a dot; the line is the mean of the steps around." +
                 (curves.length > 1 ? " An evaluation is at the step before it." : ""), curves, numberText);
  }
}

// Numbers of the evaluations alone.
function evaluationSections() {
  const names = [...new Set(evaluations.flatMap(Object.keys))].filter((name) => !["event", "step", "seconds"].includes(name));
  for (const name of names.filter((name) => !steps.some((line) => name.replace(/^eval_/, "") in line)))
    curveSection(name, name.replace("eval_", "Evaluation: ").replaceAll("_", " "), "Each evaluation as a dot, at the step before it.",
                 [series("evaluation", evaluations, evaluations.map((line) => line[name]), "--c1")], numberText);
}

function memorySection() {
  const ranks = data.lines.filter((line) => "planned_bytes" in line);
  if (ranks.length === 0) return;
  section("memory", "Memory", "Planned is what the plan's memory takes, allocated what the run took for it; resident is the whole process.",
    searchable("rank-table", [{title: "rank", number: true}, {title: "planned", number: true, show: bytesText},
                              {title: "allocated", number: true, show: bytesText}, {title: "resident at most", number: true, show: bytesText}],
      ranks.map((line) => [line.rank, line.planned_bytes, line.allocated_bytes, line.peak_rss_bytes])));
}

function restartSection() {
  if (restarts.length === 0) return;
  section("restarts", "Restarts", "What ended the attempts before.",
    searchable("restart-table", [{title: "restart", number: true}, {title: "from step", number: true}, {title: "ranks", number: true}, {title: "reason", prose: true}],
      restarts.map((line) => [line.restart, line.from_step, line.ranks, line.reason])));
}

document.querySelector("main").classList.add("curves");
summary();
metricSections();
evaluationSections();
curveSection("seconds", "Seconds of a step", "Measured on rank 0, beside the prediction.",
             [series("seconds", steps, steps.map((line) => line.seconds), "--c0")], secondsText, {at: data.predicted.step_seconds, text: "predicted"});
memorySection();
restartSection();
drawFigures();
