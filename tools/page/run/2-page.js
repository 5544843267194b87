// The summary of one run or of several, their curves, what differs between them, and the memory of their ranks.

const median = (values) => values.slice().sort((a, b) => a - b)[Math.floor(values.length / 2)];
const numberText = (value) => Math.abs(value) >= 1e4 ? scaled(value, ["", "k", "M", "G", "T"], 1000).replace(" ", "") : Number(value.toPrecision(4)).toString();

// The usual seconds of a step, and the share of the devices' peak rate that its products take.
const usualSeconds = ({steps}) => median(steps.map((line) => line.seconds));
const utilizationOf = (run) => run.predicted.peak_seconds / (usualSeconds(run) * run.ranks);
const lossesOf = ({steps}) => steps.map((line) => line.loss).filter((value) => Number.isFinite(value));

function summaryOfOne(run) {
  const {steps, restarts, predicted: p} = run, usual = usualSeconds(run), losses = lossesOf(run), utilization = utilizationOf(run);
  const total = steps.reduce((sum, line) => sum + line.seconds, 0);
  const tiles = [tile(`${steps.length}`, `steps, ${steps[0].step} to ${steps[steps.length - 1].step}, in ${secondsText(total)}`),
                 tile(secondsText(usual), `a step (median); predicted ${secondsText(p.step_seconds)}`)];
  if (losses.length) tiles.unshift(tile(numberText(losses[losses.length - 1]), `loss at the end; ${numberText(losses[0])} at the beginning`));
  if (run.samples_per_step) tiles.push(tile(amountText(run.samples_per_step / usual, "samples/s"), "of all ranks"));
  if (utilization >= 0.001) tiles.push(tile(utilizationText(utilization), "MFU: model FLOPs by the devices' peak rate"));
  tiles.push(tile(countText(p.flops / usual, "FLOP/s"), `per rank, on ${run.ranks} rank${run.ranks > 1 ? "s" : ""}`),
             tile(bytesText(p.peak_bytes), "planned memory of the fullest rank"));
  const skipped = steps.filter((line) => line.skipped).length;
  return [run.error ? el("p", {class: "bad"}, run.error) : "",
          skipped || restarts.length ? el("p", {}, `${skipped} steps skipped, ${restarts.length} restarts`) : "",
          el("div", {class: "tiles"}, ...tiles)];
}

// The colour of a run in all charts.
const colorOfRun = (run) => palette[runs.indexOf(run) % palette.length];

// A row per run.
function summaryOfSeveral() {
  const columns = ["run", "ranks", "steps", "loss at the end", "least loss", "a step (median)", "predicted", "samples/s", "MFU", "planned memory", ""];
  const cells = (run) => {
    const losses = lossesOf(run), usual = usualSeconds(run), utilization = utilizationOf(run);
    return [String(run.ranks), String(run.steps.length), losses.length ? numberText(losses[losses.length - 1]) : "", losses.length ? numberText(Math.min(...losses)) : "",
            secondsText(usual), secondsText(run.predicted.step_seconds), run.samples_per_step ? numberText(run.samples_per_step / usual) : "",
            utilization >= 0.001 ? utilizationText(utilization) : "", bytesText(run.predicted.peak_bytes)];
  };
  return scrolling(el("table", {id: "runs", "data-drawn": runs.length},
    el("thead", {}, el("tr", {}, ...columns.map((title, c) => el("th", {scope: "col", class: 0 < c && c < 10 ? "number" : undefined}, title)))),
    el("tbody", {}, ...runs.map((run) => el("tr", {},
      el("td", {}, el("span", {class: "legend"}, el("i", {style: `background:var(${colorOfRun(run)})`}), run.name)),
      ...cells(run).map((text) => el("td", {class: "number"}, text)), el("td", {class: "bad prose"}, run.error))))));
}

function summary() {
  document.getElementById("summary").append(el("h1", {}, document.title), ...(isOne ? summaryOfOne(runs[0]) : [summaryOfSeveral()]));
}

// Options and facts of plans, where runs differ.
function differencesSection() {
  if (isOne) return;
  const names = [...new Set(runs.flatMap(({settings}) => Object.keys(settings)))];
  const rows = names.map((name) => [name, ...runs.map(({settings}) => settings[name] ?? "")]).filter(([, ...values]) => new Set(values).size > 1);
  if (rows.length === 0) return;
  section("differences", "Differences", "Options that were given, and what the plans decided, where not all runs have the same.",
    searchable("difference-table", [{title: "what", mono: true}, ...runs.map(({name}) => ({title: name, mono: true}))], rows));
}

// `grad_norm` as `Grad norm`; the learning rate of a group of parameters, `lr/GROUP`, as that.
function titleOf(name) {
  const text = name.replace(/^lr\//, "learning rate of ").replace(/^lr$/, "learning rate").replaceAll("_", " ");
  return text[0].toUpperCase() + text.slice(1);
}

// Whether a number of the steps has a chart: rates follow from the seconds, of which one is enough, and a constant learning rate has no curve.
function isShown(name) {
  const steps = runs.flatMap((run) => run.steps);
  if (["step", "seconds", "skipped", "epoch", "mfu", "host_seconds"].includes(name)) return false;
  if (name === "samples_per_second") return !steps.some((line) => "tokens_per_second" in line);
  return !/^lr(\/|$)/.test(name) || steps.some((line) => line[name] !== steps[0][name]);
}

// The names of numbers in some lines of all runs.
const namesIn = (linesOf) => [...new Set(runs.flatMap(linesOf).flatMap(Object.keys))];

// A curve of a number for each run that has it. Of one run, the curve has another name than that of the run.
const curvesOf = (linesOf, name, ofOne, colorOfOne = "--c0") => runs.filter((run) => linesOf(run).some((line) => name in line)).map((run) =>
  series(isOne ? ofOne : run.name, linesOf(run), linesOf(run).map((line) => line[name]), isOne ? colorOfOne : colorOfRun(run)));

const stepsOf = (run) => run.steps, evaluationsOf = (run) => run.evaluations;

// Numbers of the steps. Where evaluations of one run have the same one, it is in the same chart.
function metricSections() {
  for (const name of namesIn(stepsOf).filter(isShown)) {
    const curves = curvesOf(stepsOf, name, "training");
    const evaluated = isOne ? curvesOf(evaluationsOf, `eval_${name}`, "evaluation", "--c1") : [];
    curveSection(name, titleOf(name), "Each step as a dot; the line is the mean of the steps around." +
                 (evaluated.length ? " An evaluation is at the step before it." : ""), [...curves, ...evaluated], numberText);
  }
}

// Numbers of the evaluations alone.
function evaluationSections() {
  const ofSteps = isOne ? namesIn(stepsOf) : [];
  for (const name of namesIn(evaluationsOf).filter((name) => !["event", "step", "seconds"].includes(name) && !ofSteps.includes(name.replace(/^eval_/, ""))))
    curveSection(name, name.replace("eval_", "Evaluation: ").replaceAll("_", " "), "Each evaluation as a dot, at the step before it.",
                 curvesOf(evaluationsOf, name, "evaluation", "--c1"), numberText);
}

// The seconds of every step; the prediction as a line.
function secondsSection() {
  const levels = runs.map((run) => ({at: run.predicted.step_seconds, text: isOne ? "predicted" : `predicted for ${run.name}`, color: isOne ? "--c4" : colorOfRun(run)}));
  curveSection("seconds", "Seconds of a step", "Measured on rank 0, beside the prediction.", curvesOf(stepsOf, "seconds", "seconds"), secondsText, levels);
}

// Columns of a table of several runs begin with the name of the run.
const ofRuns = (columns) => isOne ? columns : [{title: "run", mono: true}, ...columns];
const rowOf = (run, row) => isOne ? row : [run.name, ...row];

function memorySection() {
  const rows = runs.flatMap((run) => run.memory.map((line) => rowOf(run, [line.rank, line.planned_bytes, line.allocated_bytes, line.peak_rss_bytes])));
  if (rows.length === 0) return;
  section("memory", "Memory", "Planned is what the plan's memory takes, allocated what the run took for it; resident is the whole process.",
    searchable("rank-table", ofRuns([{title: "rank", number: true}, {title: "planned", number: true, show: bytesText},
                              {title: "allocated", number: true, show: bytesText}, {title: "resident at most", number: true, show: bytesText}]), rows));
}

function restartSection() {
  const rows = runs.flatMap((run) => run.restarts.map((line) => rowOf(run, [line.restart, line.from_step, line.ranks, line.reason])));
  if (rows.length === 0) return;
  section("restarts", "Restarts", "What ended the attempts before.",
    searchable("restart-table", ofRuns([{title: "restart", number: true}, {title: "from step", number: true}, {title: "ranks", number: true}, {title: "reason", prose: true}]), rows));
}

document.querySelector("main").classList.add("curves");
summary();
metricSections();
evaluationSections();
secondsSection();
differencesSection();
memorySection();
restartSection();
drawFigures();
