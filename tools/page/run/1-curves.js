// Curves over the steps of runs, with a cursor.

// Each run with the lines of its log by what they are about.
const runs = data.runs.map((run) => ({...run,
  steps: run.lines.filter((line) => Number.isInteger(line.step) && !line.event),
  evaluations: run.lines.filter((line) => line.event === "eval"),
  restarts: run.lines.filter((line) => line.event === "restart"),
  memory: run.lines.filter((line) => "planned_bytes" in line)}));
const isOne = runs.length === 1;

// How many steps on each side count for the mean.
const reachOf = (values) => Math.floor(values.length / 40);

// The mean of the steps around each one; those that are no numbers are left out.
function smoothed(values) {
  const reach = reachOf(values);
  return values.map((_, i) => {
    const near = values.slice(Math.max(0, i - reach), i + reach + 1).filter((value) => Number.isFinite(value));
    return near.length ? near.reduce((sum, value) => sum + value, 0) / near.length : null;
  });
}

// Values at the steps of some lines as one curve of a chart: dots, and their mean as a line.
function series(name, lines, values, color) {
  const dot = values.length < 100 ? 4 : 2.5;
  return {name, lines, values, color, mean: smoothed(values), dot};
}

function drawSeries(context, {lines, values, mean, dot, color: name}, x, y) {
  let drawn = 0;
  context.fillStyle = context.strokeStyle = color(name);
  context.globalAlpha = dot > 3 ? 0.6 : 0.35;
  values.forEach((value, i) => {
    if (!Number.isFinite(value)) return;
    context.fillRect(x(lines[i].step) - dot / 2, y(value) - dot / 2, dot, dot);
    ++drawn;
  });
  context.globalAlpha = 1;
  context.lineWidth = 1.6;
  context.beginPath();
  mean.forEach((value, i) => { if (value !== null) context.lineTo(x(lines[i].step), y(value)); });
  context.stroke();
  return drawn;
}

// The values at which a chart has lines across it; of a logarithmic one, powers of 10 with 2 and 5 times them if they are few.
function gridValues(low, high, isLog) {
  if (!isLog) return roundValues(low, high, 5);
  const found = [];
  for (let power = Math.floor(low); power <= Math.ceil(high); ++power)
    for (const factor of high - low < 2 ? [1, 2, 5] : [1])
      if (low <= power + Math.log10(factor) && power + Math.log10(factor) <= high) found.push(factor * 10 ** power);
  return found.length > 1 ? found : [10 ** low, 10 ** high];
}

// A section with one or several curves. `levels`: {at, text, color}, lines to compare with. The cursor moves over the values of the first curve.
function curveSection(id, title, note, curves, show, levels = []) {
  const known = curves.flatMap(({values}) => values).filter((value) => Number.isFinite(value));
  if (known.length === 0) return;
  const [{lines, values, mean}, ...others] = curves, canBeLog = known.every((value) => value > 0);
  const left = 62, right = 8; // of the curve: room for the numbers
  const say = el("p", {role: "status", id: `${id}-value`});
  const ends = [...curves.map((curve) => curve.lines), ...runs.map(({steps}) => steps)].flatMap((all) => [all[0].step, all[all.length - 1].step]);
  const first = Math.min(...ends), last = Math.max(...ends);
  let isLog = false, at = lines.length - 1;
  const scale = (value) => isLog ? Math.log10(value) : value;
  function draw(context, width, height) {
    const h = height - 18, pad = 8;
    const shown = known.concat(levels.map(({at}) => at)).filter((value) => !isLog || value > 0).map(scale);
    const range = Math.max(...shown) - Math.min(...shown), span = range || Math.abs(shown[0]) || 1;
    const low = Math.min(...shown) - (range ? 0 : span / 2); // a constant is in the middle
    const x = (step) => (step - first) / Math.max(1, last - first) * (width - left - right) + left;
    const y = (value) => pad + (1 - (scale(value) - low) / span) * (h - 2 * pad);
    gridLines(context, range ? gridValues(low, low + span, isLog) : [known[0]], y, left, width - right, show);
    const drawn = curves.reduce((sum, curve) => sum + drawSeries(context, curve, x, y), 0);
    levels.forEach(({at: value, text, color: name}, l) => {
      context.fillStyle = color(name);
      context.fillRect(left, y(value), width - left - right, 1);
      context.fillText(text, left + 3 + l * (width - left - right) / levels.length, y(value) - 4);
    });
    context.fillStyle = color("--c4");
    for (const restart of isOne ? runs[0].restarts : []) {
      context.fillRect(x(restart.from_step), 0, 1, h);
      context.fillText(`restart ${restart.restart}`, x(restart.from_step) + 3, 12);
    }
    axis(context, first, Math.max(last, first + 1), x, h, (step) => String(Math.round(step)), "step");
    context.fillStyle = color("--ink");
    context.fillRect(x(lines[at].step), 0, 1, h);
    return drawn;
  }
  // The last value of another curve up to a step.
  function upTo(step, {name, lines: own, values: theirs}) {
    const i = own.findLastIndex((line, l) => line.step <= step && Number.isFinite(theirs[l]));
    return i < 0 ? "" : `; ${name} ${show(theirs[i])}${own[i].step < step ? ` after step ${own[i].step}` : ""}`;
  }
  function moveTo(index) {
    at = Math.max(0, Math.min(lines.length - 1, index));
    const value = values[at];
    say.textContent = `step ${lines[at].step}: ${isOne ? "" : `${curves[0].name} `}${Number.isFinite(value) ? show(value) : "not finite"}` +
      (mean[at] === null || reachOf(values) === 0 ? "" : `, mean ${show(mean[at])}`) + (lines[at].skipped ? "; skipped" : "") +
      others.map((other) => upTo(lines[at].step, other)).join("");
    chart.redraw();
  }
  const chart = figure(`${id}-chart`, `${title} over the steps; arrow keys move the cursor`, 240, draw, {
    pointermove: (event) => {
      const step = first + (event.offsetX - left) / (chart.canvas.clientWidth - left - right) * (last - first);
      const behind = lines.findIndex((line) => line.step >= step), i = behind < 0 ? lines.length - 1 : behind;
      moveTo(i > 0 && step - lines[i - 1].step < lines[i].step - step ? i - 1 : i); // the nearest one
    },
    keydown: (event) => {
      const moves = {ArrowLeft: -1, ArrowRight: 1, PageUp: -20, PageDown: 20, Home: -lines.length, End: lines.length};
      if (event.key in moves) { event.preventDefault(); moveTo(at + moves[event.key]); }
    }});
  const toggle = el("button", {"aria-pressed": "false", click: () => {
    isLog = !isLog;
    toggle.setAttribute("aria-pressed", isLog);
    chart.redraw();
  }}, "logarithmic");
  const names = isOne && others.length === 0 ? [] : curves.map((curve) =>
    el("span", {}, el("i", {style: `background:var(${curve.color})`}), curve.name));
  section(id, title, note, el("div", {class: "controls"}, canBeLog ? toggle : "", el("div", {class: "legend"}, ...names)), chart.box, say);
  moveTo(at);
}
