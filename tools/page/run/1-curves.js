// Curves over the steps of a run, with a cursor.

const steps = data.lines.filter((line) => Number.isInteger(line.step) && !line.event);
const evaluations = data.lines.filter((line) => line.event === "eval");
const restarts = data.lines.filter((line) => line.event === "restart");

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

// A section with the values of all steps (or of other lines) as dots and their mean as a line. `level`: {at, text}, a line to compare with.
function curveSection(id, title, note, values, show, level, lines = steps) {
  const known = values.filter((value) => Number.isFinite(value));
  if (known.length === 0) return;
  const mean = smoothed(values), canBeLog = known.every((value) => value > 0), dot = known.length < 100 ? 4 : 2.5;
  const left = 62, right = 8; // of the curve: room for the numbers
  const say = el("p", {role: "status", id: `${id}-value`});
  const first = Math.min(steps[0].step, lines[0].step), last = steps[steps.length - 1].step;
  let isLog = false, at = lines.length - 1;
  const scale = (value) => isLog ? Math.log10(value) : value;
  function draw(context, width, height) {
    const h = height - 18, pad = 8;
    const shown = known.concat(level ? [level.at] : []).filter((value) => !isLog || value > 0).map(scale);
    const range = Math.max(...shown) - Math.min(...shown), span = range || Math.abs(shown[0]) || 1;
    const low = Math.min(...shown) - (range ? 0 : span / 2); // a constant is in the middle
    const x = (step) => (step - first) / Math.max(1, last - first) * (width - left - right) + left;
    const y = (value) => pad + (1 - (scale(value) - low) / span) * (h - 2 * pad);
    let drawn = 0;
    context.fillStyle = color("--c0");
    context.globalAlpha = dot > 3 ? 0.6 : 0.35;
    values.forEach((value, i) => {
      if (!Number.isFinite(value)) return;
      context.fillRect(x(lines[i].step) - dot / 2, y(value) - dot / 2, dot, dot);
      ++drawn;
    });
    context.globalAlpha = 1;
    context.strokeStyle = color("--c0");
    context.lineWidth = 1.6;
    context.beginPath();
    mean.forEach((value, i) => { if (value !== null) context.lineTo(x(lines[i].step), y(value)); });
    context.stroke();
    if (level) {
      context.fillStyle = color("--c4");
      context.fillRect(left, y(level.at), width - left - right, 1);
      context.fillText(level.text, left + 3, y(level.at) - 4);
    }
    context.fillStyle = color("--c4");
    for (const restart of restarts) {
      context.fillRect(x(restart.from_step), 0, 1, h);
      context.fillText(`restart ${restart.restart}`, x(restart.from_step) + 3, 12);
    }
    context.fillStyle = color("--faint");
    const marks = range ? [low, low + span] : [low + span / 2];
    context.textAlign = "right";
    for (const mark of marks) context.fillText(show(isLog ? 10 ** mark : mark), left - 6, y(isLog ? 10 ** mark : mark) + 4);
    context.textAlign = "left";
    axis(context, first, Math.max(last, first + 1), x, h, (step) => String(Math.round(step)));
    context.fillStyle = color("--ink");
    context.fillRect(x(lines[at].step), 0, 1, h);
    return drawn;
  }
  function moveTo(index) {
    at = Math.max(0, Math.min(lines.length - 1, index));
    const value = values[at];
    say.textContent = `step ${lines[at].step}: ${Number.isFinite(value) ? show(value) : "not finite"}` +
      (mean[at] === null || reachOf(values) === 0 ? "" : `, mean ${show(mean[at])}`) + (lines[at].skipped ? "; skipped" : "");
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
  section(id, title, note, canBeLog ? el("div", {class: "controls"}, toggle) : "", chart.box, say);
  moveTo(at);
}
