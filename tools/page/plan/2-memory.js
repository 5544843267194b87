// Memory over one step: where every buffer lies and when it lives, and what lives at the cursor.

const roles = ["parameter", "gradient", "state", "activation", "input", "workspace", "constant", "metric", "hyperparameter"];

function memorySection() {
  const programs = plan.programs.flatMap((program, p) => program.arenas.map((arena, a) => ({program, arena, a, p})))
    .filter(({arena}) => arena.bytes > 0);
  if (programs.length === 0) return;
  const where = el("select", {"aria-label": "memory of ranks", change: () => select(Number(where.value))},
    ...programs.map(({program, arena}, i) => el("option", {value: i}, `${arena.space} memory of ranks ${rangesText(program.ranks)}${program.kind === "evaluation" ? " in an evaluation" : ""}`)));
  const mode = el("button", {"aria-pressed": "false", click: () => {
    isStacked = !isStacked;
    mode.setAttribute("aria-pressed", isStacked);
    chart.redraw();
  }}, "stack by role");
  const list = el("div", {class: "below", id: "alive"});
  const left = 62; // of the picture: room for the bytes
  let isStacked = false, at = 0, top = 1, arena, buffers = [], positions = 1, live = [], marks = [];

  // Bytes per role at every position.
  function stacks() {
    const sums = roles.map(() => new Float64Array(positions + 1));
    for (const [, role, bytes, first, last] of buffers) {
      const sum = sums[Math.max(0, roles.indexOf(role))];
      sum[first] += bytes;
      sum[last + 1] -= bytes;
    }
    for (const sum of sums) for (let i = 1; i <= positions; ++i) sum[i] += sum[i - 1];
    return sums;
  }
  function draw(context, width, height) {
    const below = 18, above = 16, h = height - below, across = width - left;
    const x = (position) => left + position / positions * across, y = (bytes) => h - bytes / top * (h - above);
    const colors = roles.map((role) => color(colorOf(roles, role)));
    let drawn = 0;
    gridLines(context, roundValues(0, top, 5, 1024), y, left, width, bytesText);
    if (isStacked) {
      const sums = stacks();
      for (let pixel = left; pixel < width; ++pixel) {
        const position = Math.min(positions - 1, Math.floor((pixel - left) / across * positions));
        let base = 0;
        sums.forEach((sum, r) => {
          context.fillStyle = colors[r];
          context.fillRect(pixel, y(base + sum[position]), 1, y(base) - y(base + sum[position]));
          base += sum[position];
        });
      }
      drawn = roles.length;
    } else {
      for (const [, role, bytes, first, last, , offset] of buffers) {
        context.fillStyle = colors[Math.max(0, roles.indexOf(role))];
        const w = Math.max(1, x(last + 1) - x(first)), tall = Math.max(0.5, y(offset) - y(offset + bytes));
        context.fillRect(x(first), y(offset + bytes), w > 3 ? w - 0.5 : w, tall > 3 ? tall - 0.5 : tall);
        ++drawn;
      }
    }
    drawMarks(context, x, h);
    drawBudget(context, y, width, above);
    axis(context, 0, positions, x, h, (position) => String(position), "instruction");
    context.fillStyle = color("--ink");
    context.fillRect(x(at + 0.5), 0, 1, h);
    return drawn;
  }
  // Where segments and the backward pass begin; names that do not fit before the next mark are shortened or left out.
  function drawMarks(context, x, h) {
    context.fillStyle = color("--ink");
    marks.forEach(({position, text, short = ""}, m) => {
      const fits = (words) => x(position) + 6 + context.measureText(words).width < end;
      const end = m + 1 < marks.length ? x(marks[m + 1].position) : x(positions);
      context.globalAlpha = 0.5;
      context.fillRect(x(position), 0, 1, h);
      context.globalAlpha = 1;
      context.fillText([text, short].find(fits) || "", x(position) + 3, 11);
    });
  }
  // The budget of a device's memory: a line, or words where it lies far above.
  function drawBudget(context, y, width, above) {
    const budget = budgetOf(arena);
    if (!budget) return;
    const text = `budget ${bytesText(budget)}`;
    const isShown = budget <= top, words = isShown ? text : `${text}, above`, bottom = isShown ? y(budget) + 12 : above + 10;
    const wide = context.measureText(words).width + 8;
    context.fillStyle = color("--shade"); // not on the colours of buffers
    context.fillRect(width - wide, bottom - 11, wide, 15);
    context.fillStyle = color("--exposed");
    if (isShown) context.fillRect(left, Math.round(y(budget)), width - left, 1.5);
    context.fillText(words, width - wide + 4, bottom);
  }
  function select(index) {
    const chosen = programs[index];
    arena = chosen.arena;
    buffers = chosen.program.blocks.filter((block) => block[5] === chosen.a);
    positions = chosen.program.segments.reduce((sum, segment) => sum + segment.instructions.length, 0) || 1;
    live = new Float64Array(positions + 1);
    for (const [, , bytes, first, last] of buffers) {
      live[first] += bytes;
      live[last + 1] -= bytes;
    }
    for (let i = 1; i <= positions; ++i) live[i] += live[i - 1];
    const budget = budgetOf(arena);
    top = Math.max(arena.bytes, budget <= 2 * arena.bytes ? budget : 0, 1);
    marks = marksOf(chosen.program);
    chart.canvas.dataset.marks = marks.map(({text}) => text).join(", ");
    makers = chosen.program.segments.flatMap((segment) => segment.instructions.map((row) => row[0]));
    names = chosen.program.segments.flatMap((segment) => segment.instructions.map((row) => `${segment.name}: ${row[1]} ${row[0]}`));
    moveTo(live.slice(0, positions).indexOf(Math.max(...live.slice(0, positions))));
  }
  let names = [], makers = [];
  function moveTo(position) {
    at = Math.max(0, Math.min(positions - 1, position));
    const alive = buffers.filter(([, , , first, last]) => first <= at && at <= last).sort((a, b) => b[2] - a[2]);
    const many = 12, rest = alive.slice(many).reduce((sum, block) => sum + block[2], 0);
    list.replaceChildren(
      el("p", {role: "status"}, `At ${at}, ${names[at] || "?"}: ${bytesText(live[at])} in ${alive.length} buffers, of ` +
        `${bytesText(arena.bytes)} allocated; the peak is ${bytesText(arena.peak_bytes)}.`),
      scrolling(el("table", {}, el("tbody", {}, ...alive.slice(0, many).map(([name, role, bytes, first, last, , offset, shape]) =>
        el("tr", {}, el("td", {class: "number"}, bytesText(bytes)), el("td", {}, role), el("td", {class: "mono"}, breakable(name)),
           el("td", {class: "mono"}, breakable(first > 0 && makers[first] ? `from ${makers[first]}` : "")),
           el("td", {class: "mono"}, shape), el("td", {class: "number"}, `at ${offset}`),
           el("td", {class: "number"}, first === 0 && last === positions - 1 ? "always" : `${first} to ${last}`)))))),
      rest ? el("p", {}, `and ${alive.length - many} smaller ones: ${bytesText(rest)}`) : "");
    chart.redraw();
  }
  const toPosition = (event) => Math.floor((event.offsetX - left) / (chart.canvas.clientWidth - left) * positions);
  const chart = figure("memory-chart", "memory over the instructions of a step; arrow keys move the cursor", 300, draw, {
    pointermove: (event) => moveTo(toPosition(event)),
    keydown: (event) => {
      const moves = {ArrowLeft: -1, ArrowRight: 1, PageUp: -Math.ceil(positions / 20), PageDown: Math.ceil(positions / 20),
                     Home: -positions, End: positions};
      if (event.key in moves) { event.preventDefault(); moveTo(at + moves[event.key]); }
    }});
  section("memory", "Memory", "Every buffer, from its first to its last instruction (across), at its place in memory (up). Lines mark the parts of a step" +
          (budgetOf({space: "device"}) ? ", and the budget of a rank" : "") + ". Point at a moment, or use " +
          "the arrow keys, to see what lives then.", el("div", {class: "controls"}, programs.length > 1 ? where : null, mode),
          legend(roles, (role) => plan.programs.some(({blocks}) => blocks.some((block) => block[1] === role))), chart.box, list);
  select(0);
}

// The bytes that a rank may use of an arena's memory; 0 without a limit.
const budgetOf = (arena) => arena.space === "device" ? plan.predicted.budget_bytes || 0 : 0;

// Positions at which the segments of a program and its backward pass begin, with their names. A micro-batch begins forward.
function marksOf(program) {
  const marks = [];
  let position = 0;
  for (const [s, {name, runs, instructions}] of program.segments.entries()) {
    const count = runs > 1 ? ` x ${runs}` : "", end = position + instructions.length;
    const isBoth = position < program.backward && program.backward < end;
    if (instructions.length) marks.push({position, text: isBoth ? `${name}${count}: forward` : name + count, short: isBoth ? "forward" : name});
    if (isBoth) marks.push({position: program.backward, text: s + 1 < program.segments.length ? "backward" : "backward and update"});
    position = end;
  }
  return marks;
}

// [0, 1, 2, 5] as `0-2, 5`.
function rangesText(ranks) {
  const parts = [];
  for (let i = 0; i < ranks.length;) {
    let end = i;
    while (end + 1 < ranks.length && ranks[end + 1] === ranks[end] + 1) ++end;
    parts.push(end > i ? `${ranks[i]}-${ranks[end]}` : `${ranks[i]}`);
    i = end + 1;
  }
  return parts.join(", ");
}
