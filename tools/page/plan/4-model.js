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

// `stages`: those of the node around it, which are not repeated.
function moduleBox(node, path, longest, stages = "") {
  const name = path + node.name, own = "stage" in plan.mesh ? `stage ${rangesText(node.stages)}` : "";
  const head = el("div", {class: "head"},
    el("button", {class: "mono", disabled: node.decisions.length === 0, "aria-label": `decisions about ${name}`, click: () => showDecisions(node, name)}, breakable(node.name)),
    node.count > 1 ? el("b", {}, `x ${node.count}`) : null,
    el("span", {class: "note"}, [own !== stages && own, node.parts.length ? "" : rematText(node)].filter(Boolean).join("; ")),
    el("span", {class: "number"}, secondsText(secondsOf(node))));
  return el("div", {class: `module${node.parts.length ? " outer" : ""}`}, head,
    node.parameters.length ? el("div", {class: "mono note"}, layoutsText(node.parameters)) : null,
    node.parts.length ? null : secondsBar(node, longest),
    ...node.parts.map((part) => moduleBox(part, `${name}.`, longest, own)));
}

function modelSection() {
  const leaves = leavesOf(plan.model);
  if (leaves.length < 2) return;
  const longest = Math.max(...leaves.map(secondsOf), 1e-30);
  section("model", "Model", "The modules in the order of their parameters; equal layers share a box. An op without parameters belongs to the next one with some. " +
          "Seconds are those of a rank in a step, of all equal modules together. A name shows the decisions about the module.",
    legend(kinds, (kind) => leaves.some((leaf) => secondsByKind(leaf)[kinds.indexOf(kind)] > 0)),
    el("div", {id: "modules", "data-drawn": leaves.length}, ...plan.model.map((node) => moduleBox(node, "", longest))));
}
