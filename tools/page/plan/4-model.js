// The modules of the model: what is stored how, kept or recomputed, and where the seconds go.

// Seconds of a node per kind of instruction.
function secondsByKind({seconds}) {
  const sums = kinds.map(() => 0);
  for (const [kind, lane, value] of seconds) sums[kinds.indexOf(kindOf([null, kind, lane]))] += value;
  return sums;
}
const secondsOf = ({seconds}) => seconds.reduce((sum, [, , value]) => sum + value, 0);

// Nodes without parts, those of all parts of the nodes.
const leavesOf = (nodes) => nodes.flatMap((node) => node.parts.length ? leavesOf(node.parts) : [node]);

// The seconds of a node as a bar that is divided by kind; `longest` fills the width.
function secondsBar(node, longest) {
  const sums = secondsByKind(node);
  return el("div", {class: "kinds", title: kinds.map((kind, k) => sums[k] ? `${kind} ${secondsText(sums[k])}` : "").filter(Boolean).join(", ")},
    ...kinds.map((kind, k) => sums[k] ? el("i", {style: `width:${(100 * sums[k] / longest).toFixed(2)}%;background:var(${colorOf(kinds, kind)})`}) : null));
}

// `weight [tp, _], bias [tp]`
const layoutsText = (parameters) => parameters.map(([name, layout]) => `${name} ${layout}`).join(", ");

function rematText({kept, recomputed}) {
  return [kept && `keeps ${bytesText(kept)}`, recomputed && `recomputes ${bytesText(recomputed)}`].filter(Boolean).join(", ");
}

// Shows the decisions of a node alone in their table.
function showDecisions(node, name) {
  document.getElementById("decision-table").dispatchEvent(new CustomEvent("only", {detail: {
    name, isShown: ({group}) => group.some((decision) => node.decisions.includes(plan.decisions.indexOf(decision)))}}));
  document.getElementById("decisions").scrollIntoView();
}

// The nodes of the model, each before its parts: {node, name, parent, box, isClosed}. `parent` is the index of the node around it, -1 at the top;
// a closed box shows no parts.
const modules = [];

// Adds the node and its parts to `modules`. `stages`: those of the node around it, which are not repeated.
function moduleBox(node, parent, longest, stages = "") {
  const name = (parent < 0 ? "" : `${modules[parent].name}.`) + node.name, own = "stage" in plan.mesh ? `stage ${rangesText(node.stages)}` : "";
  const index = modules.push({node, name, parent, isClosed: false}) - 1, isOuter = node.parts.length > 0;
  const stageText = own !== stages && own, remat = rematText(node);
  const head = el("div", {class: "head"},
    isOuter ? el("button", {class: "toggle", "aria-expanded": "true", "aria-label": `parts of ${name}`,
                            click: () => { closeModule(index, !modules[index].isClosed); drawEdges(); }}) : null,
    el("button", {class: "mono", disabled: node.decisions.length === 0, "aria-label": `decisions about ${name}`, click: () => showDecisions(node, name)}, breakable(node.name)),
    node.count > 1 ? el("b", {}, `x ${node.count}`) : null,
    stageText ? el("span", {class: "note"}, stageText) : null,
    remat ? el("span", {class: "note whole"}, remat) : null,
    el("span", {class: "number"}, secondsText(secondsOf(node))));
  const box = el("div", {class: `module${isOuter ? " outer" : ""}`}, head,
    node.parameters.length ? el("div", {class: "mono note"}, layoutsText(node.parameters)) : null,
    isOuter ? null : secondsBar(node, longest));
  modules[index].box = box;
  box.append(...node.parts.map((part) => moduleBox(part, index, longest, own)));
  return box;
}

function closeModule(index, isClosed) {
  const {box, node} = modules[index];
  if (node.parts.length === 0) return;
  modules[index].isClosed = isClosed;
  box.classList.toggle("closed", isClosed);
  box.querySelector(".toggle").setAttribute("aria-expanded", String(!isClosed));
}

function closeAll(isClosed) {
  modules.forEach((_, index) => closeModule(index, isClosed));
  drawEdges();
}

function modelSection() {
  const leaves = leavesOf(plan.model);
  if (leaves.length < 2) return;
  const longest = Math.max(...leaves.map(secondsOf), 1e-30);
  const boxes = el("div", {id: "modules", "data-drawn": leaves.length}, ...plan.model.map((node) => moduleBox(node, -1, longest)));
  section("model", "Model", "The modules in the order of their parameters; equal layers share a box. An op without parameters belongs to the next one with some. " +
          "Seconds are those of a rank in a step, of all equal modules together. A name shows the decisions about the module. " +
          "Lines lead from a module to those that read its results in the forward pass.",
    legend(kinds, (kind) => leaves.some((leaf) => secondsByKind(leaf)[kinds.indexOf(kind)] > 0)),
    ...edgeLegend(),
    leaves.length < modules.length ? el("div", {class: "controls"}, el("button", {click: () => closeAll(true)}, "close all"), el("button", {click: () => closeAll(false)}, "open all")) : "",
    ...edgeGraph(boxes));
}
