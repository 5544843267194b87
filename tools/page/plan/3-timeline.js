// The predicted timeline of a step: what each kind of ranks computes and communicates when.

const kinds = ["matmul", "attention", "convolution", "kernel", "communication", "copy or fill", "other"];
const lanes = ["compute", "communication", "transfers"];

function kindOf([, kind, lane]) {
  if (lane === 1) return "communication";
  const named = {launch: "kernel", copy: "copy or fill", fill: "copy or fill", "attention gradient": "attention"}[kind] || kind;
  return kinds.includes(named) ? named : "other";
}

// The spans [begin, end] in which communication runs and nothing is computed.
function exposedSpans(segment) {
  const edges = [], spans = [];
  for (const [, , lane, begin, seconds] of segment.instructions)
    edges.push([begin, lane, 1], [begin + seconds, lane, -1]);
  edges.sort((a, b) => a[0] - b[0]);
  const running = [0, 0, 0];
  let before = 0;
  for (const [at, lane, change] of edges) {
    if (running[1] > 0 && running[0] === 0 && at > before) {
      if (spans.length && spans.at(-1)[1] >= before) spans.at(-1)[1] = at;
      else spans.push([before, at]);
    }
    running[lane] += change;
    before = at;
  }
  return spans;
}

const exposedSeconds = (segment) => exposedSpans(segment).reduce((sum, [begin, end]) => sum + end - begin, 0);

function timelineSection() {
  // One row per program and lane that is used; segments one behind the other, each once.
  const rows = [], bars = [], marks = [], exposedBars = [];
  let end = 0;
  for (const program of plan.programs) {
    let begin = 0;
    const rowOf = {};
    for (const segment of program.segments) {
      let length = 0;
      for (const bar of segment.instructions) {
        if (rowOf[bar[2]] === undefined)
          rowOf[bar[2]] = rows.push(`ranks ${rangesText(program.ranks)}: ${lanes[bar[2]]}`) - 1;
        bars.push({bar, row: rowOf[bar[2]], begin: begin + bar[3], segment});
        length = Math.max(length, bar[3] + bar[4]);
      }
      for (const [first, last] of exposedSpans(segment))
        exposedBars.push({row: rowOf[1], begin: begin + first, end: begin + last});
      if (program === plan.programs[0]) marks.push({at: begin, text: segment.name + (segment.runs > 1 ? ` x ${segment.runs}` : "")});
      begin += length;
    }
    end = Math.max(end, begin);
  }
  if (bars.length === 0 || end === 0) return;
  let from = 0, to = end, chosen = -1, drag = null;
  const tall = 26, top = 18, height = top + rows.length * (tall + 16) + 20;
  const detail = el("div", {class: "below mono", id: "instruction", role: "status"}, "Point at a bar to see its instruction.");
  const toX = (seconds, width) => (seconds - from) / (to - from) * width;
  function draw(context, width) {
    let drawn = 0;
    const colors = Object.fromEntries(kinds.map((kind) => [kind, color(colorOf(kinds, kind))]));
    rows.forEach((name, r) => {
      context.fillStyle = color("--faint");
      context.fillText(name, 4, top + r * (tall + 16) + 11);
    });
    bars.forEach(({bar, row, begin}, b) => {
      const x = toX(begin, width), w = Math.max(0.7, bar[4] / (to - from) * width);
      if (x + w < 0 || x > width) return;
      context.fillStyle = b === chosen ? color("--ink") : colors[kindOf(bar)];
      context.fillRect(x, top + row * (tall + 16) + 15, w > 3 ? w - 0.5 : w, tall);
      ++drawn;
    });
    context.fillStyle = color("--c4");
    for (const {row, begin, end: last} of exposedBars)
      context.fillRect(toX(begin, width), top + row * (tall + 16) + 15 + tall + 1, Math.max(0.7, toX(last, width) - toX(begin, width)), 4);
    context.fillStyle = color("--ink");
    for (const {at, text} of marks) {
      context.fillRect(toX(at, width), 0, 1, height - 20);
      context.fillText(text, toX(at, width) + 3, 11);
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
    const width = chart.canvas.clientWidth, row = Math.floor((event.offsetY - top) / (tall + 16));
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
  const total = plan.programs[0].segments.reduce((sum, segment) => sum + segment.runs * segment.instructions
    .reduce((all, bar) => all + (bar[2] === 1 ? bar[4] : 0), 0), 0);
  const exposed = plan.programs[0].segments.reduce((sum, segment) => sum + segment.runs * exposedSeconds(segment), 0);
  section("timeline", "Timeline", "The step as predicted, each segment once. Drag to move, + and - (or the wheel with Shift) to zoom. " +
          (total === 0 ? "" : `Communication takes ${secondsText(total)} of a step; ${secondsText(exposed)} of it are exposed, ` +
          "that is, nothing is computed meanwhile: underlined in the chart."),
          el("div", {class: "controls"}, button("+", () => zoom(0.6, (from + to) / 2)), button("-", () => zoom(1 / 0.6, (from + to) / 2)),
             button("whole step", () => { from = 0; to = end; chart.redraw(); })),
          legend(kinds, (kind) => bars.some(({bar}) => kindOf(bar) === kind)), chart.box, detail);
}
