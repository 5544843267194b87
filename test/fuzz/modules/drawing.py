"""Draws a whole case: inputs, families of blocks, the ending, and the options of its run."""

import functools
import re

import layers
import losses
import movement
import pointwise
import state
from maker import Maker, Reject

FAMILIES = pointwise.FAMILIES | movement.FAMILIES | layers.FAMILIES | state.FAMILIES | losses.FAMILIES
ALWAYS = ("pointwise", "linear")
STEPS = 3
# Chances of the formats; forms.py says what each cannot hold.
FORMS = ["pt2"] * 8 + ["strict"] * 2 + ["decomposed"] * 2 + ["script"] * 2 + ["trace"] * 2 + ["noopt"] * 2 + ["dynamo"] + ["legacy"]
LIVES = [(1, "all"), (2, "all"), (1, "least"), (2, "least"), (3, "least")]  # on three ranks, even sizes leave a remainder


def draw(seed, forms=FORMS, skip=None, families=None):
    """The case of a seed; `families` are those of all cases, by default others in each."""
    m = Maker(seed, skip)
    names = families or [name for name in FAMILIES if m.chance(0.3)]
    m.case.double = m.chance(0.4 if "positions" in names else 0.85)  # roundings of positions show in low types only
    draw_inputs(m, "positions" in names)
    m.rebuild()
    m.scope = list(m.case.inputs)
    m.blocks = [block for name in dict.fromkeys([*names, *ALWAYS]) for block in FAMILIES[name]]
    m.blocks.sort(key=lambda block: (block.__module__, block.__qualname__))
    m.take(layers.linear)
    for _ in range(m.pick([3, 5, 8, 12, 18])):
        m.take(m.random.choice(m.blocks))
    if m.chance(0.3):
        m.case.declarations.append("[p.data.mul_(4).round_().div_(4) for p in self.parameters()]")
    draw_run(m, forms)
    return m.case


def draw_inputs(m, needsNumbers):
    rank = m.pick([1, 2, 2, 2, 3, 3])
    shape = tuple(m.pick([1, 2, 3, 4, 5, 6, 7]) for _ in range(rank - 1 if rank > 1 else 1))
    if m.chance(0.25):
        shape = (m.between(1, 4), m.between(2, 5), m.between(2, 5))
    whole = ", ".join(["n", *map(str, shape)])
    m.case.inputs["x"] = f"torch.randn({whole}, generator=g)" + m.pick(["", ".mul(2).round().div(2)", ".relu()", ".mul(0)"])
    if needsNumbers or m.chance(0.5):
        shape = m.pick([(), (), (3,), (2,), shape[:1]])
        low, high = m.pick([(0, 4), (0, 7), (-3, 4), (0, 1)])
        m.case.inputs["k"] = f"torch.randint({low}, {high}, ({', '.join(['n', *map(str, shape)])},), generator=g)"
    if m.chance(0.2):
        m.case.inputs["z"] = f"torch.randn({whole}, generator=g).sign()"


def draw_run(m, forms):
    run, case = m.case.run, m.case
    run |= {"form": m.random.choice(forms), "lives": m.random.sample(LIVES, m.pick([1, 1, 2])), "steps": STEPS, "batch": m.batch, "micro": 1}
    values = [name for name in m.values() if name not in case.inputs and m.tensor(name).numel()]
    while not (trained := [name for name in values if m.tensor(name).requires_grad and m.tensor(name).numel()]):
        m.take(layers.linear)
        values = [name for name in m.values() if name not in case.inputs and m.tensor(name).numel()]
    run["losses"] = []
    wanted = [name for name in m.wanted if name in trained]
    if not wanted and not m.chance(0.45):
        draw_losses(m, [trained, values], run["losses"])
    if not run["losses"]:
        draw_terms(m, trained, values, wanted)
        run["losses"] = [{"kind": "output", "options": {}}]
    # AdamW divides each gradient by its own size. Symmetric samplings have gradients that are rounding errors alone.
    run["optimizer"] = m.pick(["sgd:lr=0.5", "sgd:lr=0.125", "sgd:lr=1", "sgd:lr=0.25,momentum=0.5", *["adamw:lr=0.0625"] * (not wanted)])
    if m.chance(0.3) and "counted" not in case.features():  # Cleave takes such means over the whole step
        run["micro"] = m.pick([2, 3])
    run["resume"] = m.pick([0, 0, 1, 2])
    run["eval"] = m.chance(0.4) and "spectral_norm" not in "".join(case.declarations)  # a file has one mode, in which they iterate
    run["dynamic"] = m.chance(0.2)
    if m.chance(0.3) and run["losses"][0]["kind"] != "output" and run["micro"] == 1:
        hasClasses = all(spec["kind"] in ("softmax-cross-entropy", "nll") for spec in run["losses"])  # padded labels need them
        run["last"] = m.pick(["wrap", "drop", *["pad"] * 4 * hasClasses])
    if not case.double and "torch.autocast" not in case.text() and m.chance(0.8 if wanted else 0.4):
        run["dtype"] = "bf16"


def draw_terms(m, trained, values, wanted):
    """The loss as a sum over some values, so that most statements count. Beside wanted values there are few others."""
    terms = [value for value in values if m.chance(0.1 if wanted else 0.5)] + (wanted or trained[-1:])
    for value in dict.fromkeys(terms):
        m.case.terms.append(m.pick(["{0}.square().mean()", "{0}.mean()", "{0}.sum() / 8", "({0} - 1).square().mean()", "{0}.abs().mean()", "{0}.sin().mean()"]).format(value))


def draw_losses(m, pools, found):
    for _ in range(m.pick([1, 1, 2])):
        for _ in range(6):
            try:
                value = m.pick(pools[0] if not found else m.pick(pools))
                expression = m.pick(["{0}", "{0}", "{0}.log_softmax(-1)", "{0}.reshape({1}, -1)"]).format(value, m.batch)
                if expression in m.case.outputs:
                    raise Reject
                if m.chance(0.5):
                    expression += f" + 0.5 * {m.pick(pools[1])}.mean()"
                spec, labels = losses.draw(m, expression)
            except Reject:
                continue
            m.case.labels[f"label{len(found)}"] = labels
            m.case.outputs.append(expression)
            found.append(spec)
            break
