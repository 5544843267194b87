// Curves over the steps of a run, with a cursor.

const steps = data.lines.filter((line) => Number.isInteger(line.step) && !line.event);
const evaluations = data.lines.filter((line) => line.event === "eval");
const restarts = data.lines.filter((line) => line.event === "restart");

// The mean of the steps around each one; those that are no numbers are left out.
function smoothed(values) {
  const reach = Math.floor(values.length / 40);
  return values.map((_, i) => {
    const near = values.slice(Math.max(0, i - reach), i + reach + 1).filter((value) => Number.isFinite(value));
    return near.length ? near.reduce((sum, value) => sum + value, 0) / near.length : null;
  });
}

// A section with the values of all steps (or of other lines) as dots and their mean as a line. `level`: {at, text}, a line to compare with.
function curveSection(id, title, note, values, show, level, lines = steps) {
  const known = values.filter((value) => Number.isFinite(value));
  if (known.length === 0) return;
  const mean = smoothed(values), canBeLog = known.every((value) => value > 0);
  const say = el("p", {role: "status", id: `${id}-value`});
  let isLog = false, at = lines.length - 1;
  const scale = (value) => isLog ? Math.log10(value) : value;
  function draw(context, width, height) {
    const h = height - 18, pad = 8;
    const shown = known.concat(level ? [level.at] : []).filter((value) => !isLog || value > 0).map(scale);
    const low = Math.min(...shown), span = Math.max(...shown) - low || Math.abs(low) || 1;
    const first = Math.min(steps[0].step, lines[0].step), last = steps[steps.length - 1].step;
    const x = (step) => (step - first) / Math.max(1, last - first) * (width - 2 * pad) + pad;
    const y = (value) => pad + (1 - (scale(value) - low) / span) * (h - 2 * pad);
    let drawn = 0;
    context.fillStyle = color("--c0");
    context.globalAlpha = 0.35;
    values.forEach((value, i) => {
      if (!Number.isFinite(value)) return;
      context.fillRect(x(lines[i].step) - 1, y(value) - 1, 2.5, 2.5);
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
      context.fillRect(0, y(level.at), width, 1);
      context.fillText(level.text, pad, y(level.at) - 4);
    }
    context.fillStyle = color("--c4");
    for (const restart of restarts) {
      context.fillRect(x(restart.from_step), 0, 1, h);
      context.fillText(`restart ${restart.restart}`, x(restart.from_step) + 3, 12);
    }
    context.fillStyle = color("--faint");
    context.fillText(show(isLog ? 10 ** (low + span) : low + span), 3, pad + 6);
    context.fillText(show(isLog ? 10 ** low : low), 3, h - 4);
    axis(context, first, Math.max(last, first + 1), x, h, (step) => String(Math.round(step)));
    context.fillStyle = color("--ink");
    context.fillRect(x(lines[at].step), 0, 1, h);
    return drawn;
  }
  function moveTo(index) {
    at = Math.max(0, Math.min(lines.length - 1, index));
    const value = values[at];
    say.textContent = `step ${lines[at].step}: ${Number.isFinite(value) ? show(value) : "not finite"}` +
      (mean[at] === null ? "" : `, mean ${show(mean[at])}`) + (lines[at].skipped ? "; skipped" : "");
    chart.redraw();
  }
  const chart = figure(`${id}-chart`, `${title} over the steps; arrow keys move the cursor`, 240, draw, {
    pointermove: (event) => moveTo(Math.round(event.offsetX / chart.canvas.clientWidth * (lines.length - 1))),
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
