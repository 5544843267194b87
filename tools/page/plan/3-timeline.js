// The predicted timeline of a step: what the ranks of each program compute and communicate when. Ranks of one program share rows.

const kinds = ["matmul", "attention", "convolution", "kernel", "communication", "copy or fill", "other"];
const lanes = ["compute", "communication", "transfers"];

function kindOf([, kind, lane]) {
  if (lane === 1) return "communication";
  const named = {launch: "kernel", copy: "copy or fill", fill: "copy or fill", "attention gradient": "attention",
                 "grouped matmul": "matmul", "grouped weight gradient": "matmul"}[kind] || kind;
  return kinds.includes(named) ? named : "other";
}

const steps = () => plan.programs.filter((program) => program.kind === "step");

// `4 ranks (0-3)`
const ranksText = (ranks) => ranks.length === 1 ? `rank ${ranks[0]}` : `${ranks.length} ranks (${rangesText(ranks)})`;

// The bars of the runs of a segment after the first, each as long as the first.
function laterRuns(segment, rowOf) {
  const {instructions, later_begins: begins} = segment, ends = instructions.map((bar) => bar[3] + bar[4]);
  const lane = instructions.some((bar) => bar[2] === 0) ? 0 : instructions[0]?.[2], seconds = ends.reduce((a, b) => Math.max(a, b), segment.begin) - segment.begin;
  return begins.map((begin, r) => ({row: rowOf[lane] ?? rowOf[0], begin, segment, isLater: true, bar: [segment.name, `run ${r + 2} of`, lane, begin, seconds, 0, 0, ""]}));
}

// Rows {title, isExposed}, one per program and lane that takes time and one of exposed communication; bars, spans of exposed communication and the
// begins of segments, with their rows and times. What takes no time, in a lane without a row, is among what is computed. Segments lie one behind the other;
// each has its bars in its first run, and one bar in each later run that the stages of a pipeline have. All times are those of the simulated step.
function layOutTimeline() {
  const rows = [], bars = [], marks = [], exposed = [];
  let end = 0;
  for (const program of steps()) {
    const segments = program.segments, rowOf = {};
    lanes.forEach((lane, l) => {
      if (l > 0 && !segments.some((segment) => segment.instructions.some((bar) => bar[2] === l && bar[4] > 0))) return;
      rowOf[l] = rows.push({title: `${ranksText(program.ranks)}: ${lane}`}) - 1;
      if (l === 1) rowOf.exposed = rows.push({title: "exposed: nothing is computed meanwhile", isExposed: true}) - 1;
    });
    for (const segment of segments) {
      for (const bar of segment.instructions)
        bars.push({bar, row: rowOf[bar[2]] ?? rowOf[0], begin: bar[3], segment});
      bars.push(...laterRuns(segment, rowOf));
      if (program === plan.programs[0]) marks.push({at: segment.begin, text: segment.name + (segment.runs > 1 ? ` x ${segment.runs}` : "")});
    }
    for (const [first, last] of program.exposed)
      exposed.push({row: rowOf.exposed, begin: first, end: last});
  }
  for (const {bar, begin} of bars) end = Math.max(end, begin + bar[4]);
  marks.sort((a, b) => a.at - b.at);
  return {rows, bars, marks, exposed, end};
}

function timelineSection() {
  const {rows, bars, marks, exposed, end} = layOutTimeline();
  if (bars.length === 0 || end === 0) return;
  let from = 0, to = end, chosen = -1, drag = null;
  const tall = 26, low = 10, gap = 16; // of rows, of those of exposed communication, and between them
  let height = 18;
  for (const row of rows) {
    row.top = height + gap;
    row.tall = row.isExposed ? low : tall;
    height = row.top + row.tall;
  }
  height += 24;
  const detail = el("div", {class: "below mono", id: "instruction", role: "status"}, "Point at a bar to see its instruction.");
  const toX = (seconds, width) => (seconds - from) / (to - from) * width;
  function draw(context, width) {
    let drawn = 0;
    const colors = Object.fromEntries(kinds.map((kind) => [kind, color(colorOf(kinds, kind))])), later = color("--line");
    context.fillStyle = color("--faint");
    for (const row of rows) context.fillText(row.title, 4, row.top - 4);
    bars.forEach(({bar, row, begin, isLater}, b) => {
      const x = toX(begin, width), w = Math.max(0.15, bar[4] / (to - from) * width); // narrow ones are faint
      if (x + w < 0 || x > width) return;
      context.fillStyle = b === chosen ? color("--ink") : isLater ? later : colors[kindOf(bar)];
      context.fillRect(x, rows[row].top, w > 3 ? w - 0.5 : w, rows[row].tall);
      ++drawn;
    });
    context.fillStyle = color("--exposed");
    for (const {row, begin, end: last} of exposed)
      context.fillRect(toX(begin, width), rows[row].top, Math.max(0.15, toX(last, width) - toX(begin, width)), rows[row].tall);
    context.fillStyle = color("--ink");
    let next = Infinity; // where the mark behind stands: names that do not fit before it are left out
    for (const {at, text} of marks.toReversed()) {
      const x = toX(at, width);
      context.fillRect(x, 0, 1, height - 20);
      const textWidth = context.measureText(text).width, isCut = x + 3 + textWidth > width; // at the right edge, the name stands before the mark
      if (x + 6 + textWidth < next || isCut) context.fillText(text, isCut ? x - 3 - textWidth : x + 3, 11);
      next = isCut ? x - 3 - textWidth : x;
    }
    axis(context, from, to, (at) => toX(at, width), height - 18, secondsText);
    return drawn;
  }
  function choose(index) {
    chosen = index;
    if (index >= 0) {
      const {bar, begin, segment} = bars[index];
      const [name, kind, , , seconds, flops, bytes, text] = bar;
      detail.replaceChildren(
        el("div", {}, el("b", {}, `${kind} ${name}`), `, ${segment.name}: ${secondsText(seconds)} from ${secondsText(begin)}` +
           (flops ? `; ${countText(flops, "FLOP")}, ${countText(flops / seconds, "FLOP/s")}` : "") +
           (bytes ? `; ${bytesText(bytes)}` : "")),
        el("div", {class: "note"}, text));
    }
    chart.redraw();
  }
  function zoom(factor, center) {
    const length = Math.min(end, Math.max(end * 1e-4, (to - from) * factor));
    from = Math.max(0, Math.min(end - length, center - (center - from) * length / (to - from)));
    to = from + length;
    chart.redraw();
  }
  function pan(share) {
    const length = to - from;
    from = Math.max(0, Math.min(end - length, from + share * length));
    to = from + length;
    chart.redraw();
  }
  // The shortest bar under the pointer, within two pixels.
  function barAt(event) {
    const width = chart.canvas.clientWidth, row = rows.findIndex((r) => r.top - gap <= event.offsetY && event.offsetY < r.top + r.tall);
    const at = from + event.offsetX / width * (to - from), slack = 2 / width * (to - from);
    let best = -1;
    bars.forEach(({bar, row: r, begin}, b) => {
      if (r === row && begin - slack <= at && at <= begin + bar[4] + slack && (best < 0 || bar[4] < bars[best].bar[4])) best = b;
    });
    return best;
  }
  const chart = figure("timeline-chart", "predicted timeline; arrow keys choose an instruction, plus and minus zoom", height, draw, {
    wheel: (event) => {
      if (!event.ctrlKey && !event.shiftKey) return;
      event.preventDefault();
      zoom(event.deltaY > 0 ? 1.25 : 0.8, from + event.offsetX / chart.canvas.clientWidth * (to - from));
    },
    pointerdown: (event) => { drag = event.offsetX; chart.canvas.setPointerCapture(event.pointerId); },
    pointerup: () => { drag = null; },
    pointermove: (event) => {
      if (drag !== null && event.buttons) {
        pan((drag - event.offsetX) / chart.canvas.clientWidth);
        drag = event.offsetX;
      } else {
        const bar = barAt(event);
        if (bar >= 0 && bar !== chosen) choose(bar);
      }
    },
    keydown: (event) => {
      const center = chosen >= 0 ? bars[chosen].begin : (from + to) / 2;
      if (event.key === "+" || event.key === "=") zoom(0.6, center);
      else if (event.key === "-") zoom(1 / 0.6, center);
      else if (event.key === "ArrowRight") choose(Math.min(bars.length - 1, chosen + 1));
      else if (event.key === "ArrowLeft") choose(Math.max(0, chosen - 1));
      else if (event.key === "Home" || event.key === "0") { from = 0; to = end; chart.redraw(); }
      else return;
      event.preventDefault();
      if (chosen >= 0 && (bars[chosen].begin < from || bars[chosen].begin > to)) pan((bars[chosen].begin - (from + to) / 2) / (to - from));
    }});
  const button = (text, action) => el("button", {click: action}, text);
  const {seconds: total, exposed: waited} = plan.communication;
  const alike = steps().length === 1 && plan.ranks > 1 ? `All ${plan.ranks} ranks run the same program, each on its part of the tensors: a row is ` +
    "that of every rank. " : "";
  const hasLater = bars.some(({isLater}) => isLater);
  section("timeline", "Timeline", `The step as predicted, ${hasLater ? "each segment in its first run; later runs are grey" : "each segment once"}. ${alike}` +
          (total === 0 ? "" : `Communication takes ${secondsText(total)} of a step; ${secondsText(waited)} of it are exposed: ` +
          "nothing is computed meanwhile. ") + "Drag to move, + and - (or the wheel with Shift) to zoom.",
          el("div", {class: "controls"}, button("+", () => zoom(0.6, (from + to) / 2)), button("-", () => zoom(1 / 0.6, (from + to) / 2)),
             button("whole step", () => { from = 0; to = end; chart.redraw(); })),
          legend(kinds, (kind) => bars.some(({bar, isLater}) => !isLater && kindOf(bar) === kind)), chart.box, detail);
}
