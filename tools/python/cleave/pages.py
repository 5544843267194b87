"""What notebooks show of plans and runs, as small pieces of HTML without scripts."""

from __future__ import annotations

import html
import math
from typing import TYPE_CHECKING, Any, List, Sequence, Tuple

if TYPE_CHECKING:
    from .plan import Plan
    from .run import Run

WIDTH, HEIGHT = 480, 120  # of a curve, in pixels


def bytes_text(count: float) -> str:
    """1536 -> 1.5 KiB."""
    for unit in ("B", "KiB", "MiB", "GiB"):
        if count < 1024:
            return f"{count:.3g} {unit}"
        count /= 1024
    return f"{count:.3g} TiB"


def seconds_text(seconds: float) -> str:
    """0.0015 -> 1.5 ms."""
    for factor, unit in ((1, "s"), (1e3, "ms"), (1e6, "µs")):
        if seconds * factor >= 1:
            return f"{seconds * factor:.3g} {unit}"
    return f"{seconds * 1e9:.3g} ns"


def _table(rows: Sequence[Tuple[str, Any]]) -> str:
    cells = "".join(f"<tr><th style='text-align:left'>{html.escape(name)}</th><td style='text-align:left'>{html.escape(str(value))}</td></tr>"
                    for name, value in rows)
    return f"<table>{cells}</table>"


def plan_html(plan: Plan) -> str:
    """The numbers of a plan, and its summary to unfold."""
    predicted = plan.predicted
    mesh = ", ".join(f"{axis}={size}" for axis, size in plan.mesh.items())
    rows = [("plan", f"{'training' if plan.trains else 'inference'} on {plan.ranks} rank{'s' * (plan.ranks != 1)}{', mesh ' + mesh if mesh else ''}"),
            ("step", f"{seconds_text(predicted.step_seconds)} (predicted for {predicted.cluster or 'the cluster'}); "
                     f"without overlap no plan takes less than {seconds_text(predicted.bound_seconds)}, gap {predicted.gap:.1%}"),
            ("memory", f"{bytes_text(predicted.peak_bytes)} at the peak of the fullest rank"),
            ("inputs", ", ".join(f"{i.name} {i.dtype}[{', '.join(map(str, i.shape))}]" for i in plan.inputs))]
    return _table(rows) + f"<details><summary>decisions and reasons</summary><pre>{html.escape(plan.summary())}</pre></details>"


def curve(values: Sequence[float], title: str) -> str:
    """A line through values as SVG; values that are not finite leave a gap."""
    finite = [value for value in values if math.isfinite(value)]
    if len(finite) < 2:
        return ""
    low, high = min(finite), max(finite)
    height = (high - low) or 1.0
    parts: List[str] = []
    for i, value in enumerate(values):
        if math.isfinite(value):
            x, y = i / (len(values) - 1) * WIDTH, (high - value) / height * HEIGHT
            starts = i == 0 or not math.isfinite(values[i - 1])
            parts.append(f"{'M' if starts else 'L'}{x:.1f} {y:.1f}")
    return (f"<svg width='{WIDTH}' height='{HEIGHT + 20}' viewBox='-2 -12 {WIDTH + 4} {HEIGHT + 24}' role='img' aria-label='{html.escape(title)}'>"
            f"<path d='{' '.join(parts)}' fill='none' stroke='#1f77b4' stroke-width='1.5'/>"
            f"<text x='{WIDTH}' y='0' text-anchor='end' font-size='11' fill='currentColor'>{html.escape(title)} {low:.4g} … {high:.4g}</text></svg>")


def run_html(run: Run) -> str:
    """The numbers of a run and the curve of its loss."""
    rows: List[Tuple[str, Any]] = [("steps", len(run.steps))]
    if run.steps:
        seconds = sorted(step.seconds for step in run.steps)
        rows.append(("loss", f"{run.losses[0]:.5g} → {run.losses[-1]:.5g}"))
        rows.append(("step", f"{seconds_text(seconds[len(seconds) // 2])} in the median, predicted {seconds_text(run.plan.predicted.step_seconds)}"))
    if run.ranks:
        rows.append(("memory", f"{bytes_text(max(rank['allocated_bytes'] for rank in run.ranks))} allocated by the fullest rank"))
    if run.stopped:
        rows.append(("stopped by", run.stopped))
    if run.outputs:
        rows.append(("outputs", ", ".join(run.outputs)))
    return _table(rows) + curve(run.losses, "loss")
