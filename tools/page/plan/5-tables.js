// Decisions, collectives, rates of kernels, and remarks.

// The meshes that the planner tried, as bars of the seconds of a step.
function meshesSection() {
  const tried = plan.decisions.filter((decision) => decision.kind === "mesh");
  if (tried.length < 2) return;
  const order = (mesh) => mesh.choice === "chosen" ? 0 : mesh.seconds || Infinity;
  const meshes = tried.slice().sort((a, b) => order(a) - order(b)), longest = Math.max(...meshes.map((mesh) => mesh.seconds));
  const bar = (mesh) => el("div", {class: "bar", style: `width:${(100 * mesh.seconds / longest).toFixed(1)}%;background:var(${
    mesh.choice === "chosen" ? "--c0" : mesh.choice === "slower" ? "--c5" : "--line"})`});
  section("meshes", "Meshes tried", "The best step that was found on each mesh, and what one rank holds. Meshes whose bound promised little " +
          "or nothing have no plan: their steps take at least the time in the table.",
    scrolling(el("table", {id: "mesh-table"}, el("thead", {}, el("tr", {},
      ...["mesh", "step", "longer by", "one rank", "", ""].map((title, c) => el("th", {scope: "col", class: 1 <= c && c <= 3 ? "number" : undefined}, title)))),
      el("tbody", {}, ...meshes.map((mesh) => el("tr", {}, el("td", {class: "mono"}, mesh.name),
        el("td", {class: "number"}, mesh.seconds ? (mesh.choice === "at least" ? "≥ " : "") + secondsText(mesh.seconds) : ""),
        el("td", {class: "number"}, mesh.seconds > meshes[0].seconds ? (mesh.choice === "at least" ? "≥ " : "") +
           percentText(mesh.seconds / meshes[0].seconds - 1) : ""),
        el("td", {class: "number"}, mesh.bytes ? bytesText(mesh.bytes) : ""),
        el("td", {}, mesh.verdict),
        el("td", {class: "wide"}, mesh.seconds ? bar(mesh) : "")))))));
}

function decisionsSection() {
  if (plan.decision_rows.length === 0) return;
  const others = (decision) => decision.alternatives.length === 0 || /^([+-]|equally)/.test(decision.reason) ? decision.reason : el("span", {}, decision.reason, el("details", {},
    el("summary", {}, `${decision.alternatives.length} other${decision.alternatives.length > 1 ? "s" : ""}`),
    ...decision.alternatives.map((other) => el("div", {}, `${other.seconds >= 0 ? "+" : ""}${secondsText(other.seconds)}: ${other.choice}`))));
  const least = (decision) => Math.min(...decision.alternatives.map((other) => other.seconds), Infinity);
  const closest = (group) => group.reduce((best, decision) => least(decision) < least(best) ? decision : best);
  const nameOf = (group, name) => group.length === 1 ? breakable(name) : el("details", {},
    el("summary", {}, breakable(name), ` x ${group.length}`),
    ...group.map((decision) => el("div", {}, breakable(decision.name), decision.seconds ? `: ${secondsText(decision.seconds)}` : "")));
  const names = (group) => group.map((decision) => `${decision.name} ${decision.place || ""}`).join(" ");
  const why = (group) => group.map((decision) => decision.reason + decision.alternatives.map((a) => a.choice).join(" ")).join(" ");
  // A cell's value is searched: all names and reasons of a row; the element is made when it is shown.
  const row = ([name, indices]) => rowOf(indices.map((d) => plan.decisions[d]), name);
  const rowOf = (group, name) => Object.assign([group.reduce((sum, decision) => sum + decision.seconds, 0), group[0].kind, names(group), group[0].choice,
                                        why(group)], {group, name});
  section("decisions", "Decisions", "What the planner chose, what it costs in a step, and what the next best choices would cost in addition, all else equal. Equal layers " +
          "share a row, with the sum of their costs and the reason of the one whose next best choice is closest.",
    searchable("decision-table", [{title: "cost", number: true, show: (seconds) => seconds ? secondsText(seconds) : ""},
                                  {title: "kind"}, {title: "name", mono: true, show: (_, {group, name}) => nameOf(group, name)},
                                  {title: "choice", mono: true},
                                  {title: "why", prose: true, show: (_, {group}) => others(closest(group))}],
      plan.decision_rows.map(row), 1));
}

function collectivesSection() {
  const rows = plan.programs[0].collectives.map((call) => [call.seconds, call.kind, call.axes, call.group_size, call.bytes, call.runs, call.name]);
  if (rows.length === 0) return;
  section("collectives", "Collectives", `Those of rank 0 in one step, ${bytesText(plan.predicted.communication_bytes)} sent per rank.`,
    searchable("collective-table", [{title: "predicted", number: true, show: secondsText}, {title: "kind"}, {title: "over"},
                                    {title: "ranks", number: true}, {title: "bytes", number: true, show: bytesText},
                                    {title: "runs", number: true}, {title: "for", mono: true}], rows, 1));
}

// Rates of instructions against their arithmetic intensity, on logarithmic scales.
function rooflineSection() {
  const points = plan.programs[0].segments.flatMap((segment) => segment.instructions)
    .filter(([, , , , seconds, flops, bytes]) => seconds > 0 && flops > 0 && bytes > 0)
    .map((bar) => ({bar, x: Math.log10(bar[5] / bar[6]), y: Math.log10(bar[5] / bar[4]), seconds: bar[4]}));
  if (points.length === 0) return;
  const width = 900, height = 340, left = 84, bottom = 36, right = 44;
  const range = (values) => [Math.floor(Math.min(...values)), Math.ceil(Math.max(...values) + 0.05)];
  const [x0, x1] = range(points.map((p) => p.x)), [y0, y1] = range(points.map((p) => p.y));
  const x = (v) => left + (v - x0) / Math.max(1, x1 - x0) * (width - left - right);
  const y = (v) => 10 + (y1 - v) / Math.max(1, y1 - y0) * (height - bottom - 10);
  const most = Math.max(...points.map((p) => p.y)), bandwidth = Math.max(...points.map((p) => p.y - p.x));
  const total = Math.max(...points.map((p) => p.seconds));
  const lines = [];
  for (let v = x0; v <= x1; ++v)
    lines.push(el("line", {x1: x(v), x2: x(v), y1: 10, y2: height - bottom, stroke: "var(--line)"}),
               el("text", {x: x(v), y: height - bottom + 14, "text-anchor": "middle"}, String(Number((10 ** v).toPrecision(1)))));
  for (let v = y0; v <= y1; ++v)
    lines.push(el("line", {x1: left, x2: width - right, y1: y(v), y2: y(v), stroke: "var(--line)"}),
               el("text", {x: left - 6, y: y(v) + 4, "text-anchor": "end"}, countText(10 ** v, "FLOP/s").replace(".00", "").replace(".0", "")));
  lines.push(el("text", {x: (left + width - right) / 2, y: height - 4, "text-anchor": "middle"}, "FLOPs per byte"));
  const bend = Math.min(x1, most - bandwidth);
  lines.push(el("path", {d: `M ${x(x0)} ${y(Math.max(y0, x0 + bandwidth))} L ${x(bend)} ${y(bend + bandwidth)} L ${x(x1)} ${y(most)}`,
                         fill: "none", stroke: "var(--ink)", "stroke-dasharray": "4 4"}));
  const circles = points.map(({bar, x: px, y: py, seconds}) => el("circle", {
    cx: x(px), cy: y(py), r: (3 + 9 * Math.sqrt(seconds / total)).toFixed(1), fill: `var(${colorOf(kinds, kindOf(bar))})`, "fill-opacity": 0.7},
    el("title", {}, `${bar[1]} ${bar[0]}: ${secondsText(seconds)}, ${countText(bar[5] / bar[4], "FLOP/s")}, ` +
                    `${countText(bar[6] / bar[4], "B/s")}`)));
  section("rates", "Rates", "Predicted FLOP/s of every instruction of rank 0 against its FLOPs per byte; larger dots take longer. The dashed " +
          `lines are the highest rates of this plan: ${countText(10 ** most, "FLOP/s")} and ${countText(10 ** bandwidth, "B/s")}.`,
          legend(kinds, (kind) => points.some(({bar}) => kindOf(bar) === kind)),
          el("div", {class: "figure"}, scrolling(el("svg", {id: "roofline", viewBox: `0 0 ${width} ${height}`, "data-drawn": points.length,
             style: "display:block;width:100%;min-width:760px;font-size:11px;fill:var(--faint)", role: "img", "aria-label": "rates of instructions"}, ...lines, ...circles))));
}

function remarksSection() {
  const rows = plan.decisions.filter((decision) => decision.kind === "remark")
    .map((decision) => [decision.name, `${decision.choice} ${decision.reason}`.trim()]);
  if (rows.length === 0) return;
  section("remarks", "Remarks", "What the compiler noticed.",
          searchable("remark-table", [{title: "about", mono: true}, {title: "remark", prose: true}], rows, 0));
}
