"""The page of published_runs.py: runs that others measured and their predictions, a table for each model."""

import collections
import math

HEAD = """# Predicted beside published

Training runs that others measured, priced by Cleave as they were run: model, batch, micro-batches, layout, recomputation, card. *Predicted* are the seconds of
the plan's simulated step, in which communication overlaps with computation. No number of the cost model was fitted to these runs; it comes from
[microbenchmarks of each card](decisions/0086-prices-come-from-microbenchmarks-of-each-card.md). A ratio below 1 is a prediction that is too fast.
Known causes of the differences: [benchmarks](../test/bench/README.md).

{count} runs: geometric mean of predicted / published {mean:.2f}, spread × {spread:.2f}, from {least:.2f} to {most:.2f}. `test/bench/published_runs.py --page` wrote this
page.
{omitted}
"""


def source_of(run):
    """The source as a link, where it is an address."""
    if run.source.startswith("http"):
        return f"[{run.release or run.source.split('/')[2]}]({run.source})"
    return run.source


def layout_of(run):
    return f"{run.pipeline()}," * bool(run.pipeline()) + run.mesh()


def table(rows):
    yield "| GPUs | tokens | samples | layout | storage | recomputed | published | predicted | ratio | source |"
    yield "|---|---|---|---|---|---|---|---|---|---|"
    for row in rows:
        run = row.run
        yield (f"| {run.ranks()} {run.gpu} | {run.seq} | {run.batch} by {run.micro} | {layout_of(run)} | {run.storage} | {run.recompute or 'nothing'} "
               f"| {run.seconds:.3g} s | {row.predicted:.3g} s | {row.ratio:.2f} | {source_of(run)} |")


def omitted_text(omitted):
    reasons = "".join(f"\n* {count}: {reason}" for reason, count in omitted.most_common())
    return f"\n{sum(omitted.values())} runs are not priced:\n{reasons}" if omitted else ""


def page(rows, omitted):
    """The page as Markdown. `rows` are those of published_runs.py, with `run`, `predicted` and `ratio`; `omitted` counts other runs by reason."""
    logarithms = [math.log(row.ratio) for row in rows]
    mean = sum(logarithms) / len(rows)
    spread = math.sqrt(sum((value - mean)**2 for value in logarithms) / len(rows))
    models = collections.defaultdict(list)
    for row in rows:
        models[row.run.model].append(row)
    lines = [HEAD.format(count=len(rows), mean=math.exp(mean), spread=math.exp(spread), least=math.exp(min(logarithms)), most=math.exp(max(logarithms)),
                         omitted=omitted_text(omitted))]
    for model, group in models.items():
        lines += [f"## {'GPT ' if model[0].isdigit() else ''}{model}", "", *table(group), ""]
    return "\n".join(lines)
