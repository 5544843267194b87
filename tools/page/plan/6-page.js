// The summary, and the page from its parts.

function summary() {
  const p = plan.predicted, mesh = Object.entries(plan.mesh).map(([name, size]) => `${name} ${size}`).join(" x ");
  document.getElementById("summary").append(
    el("h1", {}, document.title),
    el("p", {}, plan.objection ? el("span", {class: "bad"}, plan.objection) : "The verifier found no defect."),
    el("div", {class: "tiles"},
      tile(secondsText(p.step_seconds), "a step, predicted"),
      tile(percentText(p.gap), `gap: ${plan.bound}`),
      p.samples_per_second ? tile(p.tokens_per_second ? amountText(p.tokens_per_second, "tokens/s") : amountText(p.samples_per_second, "samples/s"),
                                  `of all ranks${p.tokens_per_second ? `: ${amountText(p.samples_per_second, "samples/s")}` : ""}`) : null,
      p.mfu >= 0.001 ? tile(utilizationText(p.mfu), `MFU: model FLOPs by the devices' peak rate${p.peak_type ? ` in ${p.peak_type}` : ""}`) : null,
      tile(bytesText(p.peak_bytes), `memory of the fullest rank${p.budget_bytes ? ` of ${bytesText(p.budget_bytes)}${p.is_memory_binding ? ", binding" : ""}` : ""}`),
      tile(`${plan.ranks}`, `rank${plan.ranks > 1 ? "s" : ""}${mesh ? `, ${mesh}` : ""}, ${plan.device}`),
      tile(countText(p.flops / Math.max(p.step_seconds, 1e-30), "FLOP/s"), `per rank: ${countText(p.flops, "FLOP")} in a step`),
      tile(secondsText(p.communication_seconds), `of communication: ${bytesText(p.communication_bytes)} sent per rank`)),
    ...plan.decisions.filter(({kind}) => kind === "strategy").map(({name, reason}) =>
      el("p", {class: "axis"}, el("b", {}, name), reason && `: ${reason}`)),
    ...plan.decisions.filter(({kind, name}) => kind === "axis" && !name.endsWith("=1")).map(({name, reason}) =>
      el("p", {class: "axis"}, el("b", {}, name), ` ${reason}`)),
    plan.command_line ? el("details", {}, el("summary", {}, `made by ${plan.producer}${p.cluster ? ` for ${p.cluster}` : ""}`),
                           el("code", {}, plan.command_line)) : "");
}

summary();
meshSection();
modelSection();
memorySection();
timelineSection();
meshesSection();
decisionsSection();
rooflineSection();
collectivesSection();
remarksSection();

document.addEventListener("keydown", (event) => {
  if (event.key !== "/" || ["INPUT", "SELECT"].includes(document.activeElement.tagName)) return;
  event.preventDefault();
  document.getElementById("decision-table-search")?.focus();
});
drawFigures();
