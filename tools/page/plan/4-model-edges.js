// The edges of the model: which module feeds which, as lines in a gutter left of the boxes. The edges that leave a box share a line, which
// branches to each reader. An edge that ends inside a closed box is drawn to the box.

let edgeLines = [], chosenLine = -1;

// The box that shows a module: the outermost closed one around it, or its own.
function shownModule(index) {
  let shown = index;
  for (let around = index; around >= 0; around = modules[around].parent) if (modules[around].isClosed) shown = around;
  return shown;
}

// The edges between shown boxes {from, to, edges, isSkip, isCopies, isMoved}, in the order of the boxes. An edge within a box has no line, unless it leads
// from one of the equal layers of the box to another.
function shownEdges() {
  const lines = new Map();
  for (const edge of plan.model_edges) {
    const from = shownModule(edge.from), to = shownModule(edge.to), isCopies = !!edge.copies;
    if (from === to && !(isCopies && modules[from].node.count > 1)) continue;
    const key = `${from} ${to} ${isCopies}`;
    if (!lines.has(key)) lines.set(key, {from, to, isCopies, isSkip: true, isMoved: false, edges: []});
    const line = lines.get(key);
    line.edges.push(edge);
    line.isSkip &&= !!edge.skip;
    line.isMoved ||= edge.values.some(([, , , passage]) => passage);
  }
  return [...lines.values()].sort((a, b) => a.from - b.from || a.to - b.to);
}

// Gives each line a lane of the gutter, 0 next to the boxes; returns their number. Lines of one source in one direction share a lane, and
// others that do not overlap. A line leaves at the bottom of a box and enters at the top.
function assignLanes(lines) {
  const groups = new Map(), lanes = [];
  for (const line of lines) {
    const key = `${line.from} ${line.to <= line.from}`, group = groups.get(key) || {lines: [], begin: Infinity, end: -Infinity};
    group.lines.push(line);
    group.begin = Math.min(group.begin, line.from + 0.6, line.to + 0.3);
    group.end = Math.max(group.end, line.from + 0.6, line.to + 0.3);
    groups.set(key, group);
  }
  for (const group of [...groups.values()].sort((a, b) => a.end - a.begin - (b.end - b.begin))) {
    let lane = lanes.findIndex((others) => others.every((other) => other.end < group.begin || group.end < other.begin));
    if (lane < 0) lane = lanes.push([]) - 1;
    lanes[lane].push(group);
    for (const line of group.lines) line.lane = lane;
  }
  return lanes.length;
}

// `f32[2x128x768], 768 KiB, [_, _] partial(tp), all-reduce over tp`
const passingText = ([type, bytes, layout, passage]) => [type, bytesText(bytes), layout, passage].filter(Boolean).join(", ");

// What passes along a line, a text per pair of modules.
function lineTexts({edges, isSkip, isCopies}) {
  const note = [isSkip && "skip connection", isCopies && "to another layer of the box"].filter(Boolean).join(", ");
  return edges.map(({names: [from, to], values}) => `${from} → ${to}${note ? ` (${note})` : ""}: ${values.map(passingText).join("; ")}`);
}

function chooseLine(index) {
  const shownAtMost = 4;
  chosenLine = index;
  edgeLines.forEach(({group}, l) => group.classList.toggle("chosen", l === index));
  const line = edgeLines[index];
  modules.forEach(({box}, m) => box.classList.toggle("end", !!line && (m === line.from || m === line.to)));
  line?.group.parentNode.append(line.group); // above the others
  const texts = line ? lineTexts(line) : ["Point at a line to see what passes."], more = texts.length - shownAtMost;
  document.getElementById("edge").replaceChildren(...texts.slice(0, shownAtMost).map((text) => el("div", {}, breakable(text))),
                                                  more > 0 ? `and ${more} more; open the boxes to see them` : "");
}

// Down or up to the next line, or to the first or last one.
function moveLine(event) {
  const last = edgeLines.length - 1;
  const next = {ArrowDown: Math.min(last, chosenLine + 1), ArrowRight: Math.min(last, chosenLine + 1), ArrowUp: Math.max(0, chosenLine - 1),
                ArrowLeft: Math.max(0, chosenLine - 1), Home: 0, End: last}[event.key];
  if (next === undefined || last < 0) return;
  event.preventDefault();
  chooseLine(next);
  modules[edgeLines[next].to].box.querySelector(".head").scrollIntoView({block: "nearest"});
}

// From the bottom of a box along a lane to the top of another, with round corners.
function linePath(fromX, fromY, toX, toY, lane) {
  const sign = Math.sign(toY - fromY) || 1, r = Math.min(5, Math.abs(toY - fromY) / 2, fromX - lane, toX - lane);
  return `M${fromX} ${fromY}H${lane + r}Q${lane} ${fromY} ${lane} ${fromY + sign * r}V${toY - sign * r}Q${lane} ${toY} ${lane + r} ${toY}H${toX - 4}`;
}

// Draws the lines anew for the boxes that are open now.
function drawEdges() {
  const svg = document.getElementById("model-edges"), graph = svg?.parentNode, chosen = edgeLines[chosenLine];
  if (!svg) return; // a model without edges
  edgeLines = shownEdges();
  const lanes = assignLanes(edgeLines), step = Math.max(3, Math.min(9, 0.2 * graph.clientWidth / Math.max(1, lanes))), gutter = Math.round(lanes * step + 8);
  graph.style.paddingLeft = `${gutter}px`;
  const area = graph.getBoundingClientRect();
  svg.setAttribute("height", area.height);
  for (const line of edgeLines) {
    const from = modules[line.from].box, source = from.getBoundingClientRect(), target = modules[line.to].box.getBoundingClientRect();
    const isOpen = from.classList.contains("outer") && !from.classList.contains("closed"); // its parts are below the head
    const fromY = isOpen ? source.top - area.top + 22 : source.bottom - area.top - 7, toY = target.top - area.top + 12, toX = target.left - area.left;
    const path = linePath(source.left - area.left, fromY, toX, toY, gutter - 6 - (line.lane + 0.5) * step);
    line.group = el("g", {class: ["edge", line.isSkip && "skip", line.isCopies && "copies"].filter(Boolean).join(" ")},
      el("path", {class: "line", d: path}), el("path", {class: "arrow", d: `M${toX} ${toY}l-6 -3.5v7z`}),
      line.isMoved ? el("circle", {class: "moved", cx: toX - 11, cy: toY, r: 3}) : null,
      el("path", {class: "near", d: path, pointerenter: () => chooseLine(edgeLines.indexOf(line))}), el("title", {}, lineTexts(line).join("\n")));
  }
  svg.replaceChildren(...edgeLines.map(({group}) => group));
  Object.assign(svg.dataset, {drawn: edgeLines.length, skips: edgeLines.filter(({isSkip}) => isSkip).length, lanes});
  chooseLine(edgeLines.findIndex((line) => chosen && line.from === chosen.from && line.to === chosen.to && line.isCopies === chosen.isCopies));
}

// The legend of the line styles that occur.
function edgeLegend() {
  const edges = plan.model_edges, sample = (name, text) => el("span", {}, el("i", {class: `sample ${name}`}), text);
  return edges.length === 0 ? [] : [el("div", {class: "legend"}, sample("", "feeds"),
    edges.some(({skip}) => skip) ? sample("skip", "skip connection") : null,
    edges.some(({copies}) => copies) ? sample("copies", "to the next of equal layers") : null,
    edges.some(({values}) => values.some(([, , , passage]) => passage)) ? sample("moved", "by a collective or a message") : null)];
}

// The boxes with the lines, and the place for what passes along the chosen line.
function edgeGraph(boxes) {
  if (plan.model_edges.length === 0) return [boxes];
  figures.push(drawEdges);
  return [el("div", {class: "graph"},
            el("svg", {id: "model-edges", tabindex: 0, role: "img", "aria-label": "which module feeds which; arrow keys step through the lines", keydown: moveLine}), boxes),
          el("div", {class: "below mono note", id: "edge", role: "status"})];
}
