#!/usr/bin/env python3
"""Records in reference.json the learning rates that the schedulers of PyTorch and of transformers give.

    python3 test/unit/hyperparameters/make-reference.py

Needs torch and transformers. Each entry has the text of --lr-schedule, the steps of the run, and the rates of all steps for
two groups of parameters, whose rates are BASES.
"""

import json
import pathlib

import torch
import transformers
from torch.optim import lr_scheduler as torch_lr

BASES = (0.1, 0.004)
STEPS = 40


def with_warmup(optimizer, steps, start, later):
    """PyTorch's LinearLR from `start`, then the schedule that `later` makes."""
    warm = torch_lr.LinearLR(optimizer, start_factor=start, end_factor=1.0, total_iters=steps)
    return torch_lr.SequentialLR(optimizer, [warm, later(optimizer)], milestones=[steps])


MAX = list(BASES)
SCHEDULES = {
    "constant": lambda o: torch_lr.ConstantLR(o, factor=1.0),
    "constant:warmup=5": lambda o: transformers.get_constant_schedule_with_warmup(o, 5),
    "constant:warmup=20,warmup-start=0.25": lambda o: torch_lr.LinearLR(o, start_factor=0.25, total_iters=20),
    "linear": lambda o: transformers.get_linear_schedule_with_warmup(o, 0, STEPS),
    "linear:warmup=10": lambda o: transformers.get_linear_schedule_with_warmup(o, 10, STEPS),
    "linear:steps=30,min-ratio=0.2": lambda o: torch_lr.LinearLR(o, start_factor=1.0, end_factor=0.2, total_iters=30),
    "cosine": lambda o: torch_lr.CosineAnnealingLR(o, T_max=STEPS),
    "cosine:min=0.001": lambda o: torch_lr.CosineAnnealingLR(o, T_max=STEPS, eta_min=0.001),
    "cosine:warmup=10%": lambda o: transformers.get_cosine_schedule_with_warmup(o, 4, STEPS),
    "cosine:cycles=1.5": lambda o: transformers.get_cosine_schedule_with_warmup(o, 0, STEPS, num_cycles=1.5),
    "cosine:warmup=5,min-ratio=0.1": lambda o: transformers.get_cosine_with_min_lr_schedule_with_warmup(o, 5, STEPS, min_lr_rate=0.1),
    "polynomial:power=2": lambda o: torch_lr.PolynomialLR(o, total_iters=STEPS, power=2.0),
    "polynomial:steps=25": lambda o: torch_lr.PolynomialLR(o, total_iters=25),
    "polynomial:warmup=6,power=3": lambda o: transformers.get_polynomial_decay_schedule_with_warmup(o, 6, STEPS, lr_end=0.0, power=3.0),
    "step:every=7": lambda o: torch_lr.StepLR(o, step_size=7),
    "step:every=1,gamma=0.9": lambda o: torch_lr.ExponentialLR(o, gamma=0.9),
    "step:every=10,gamma=0.5,warmup=4,warmup-start=0.1": lambda o: with_warmup(o, 4, 0.1, lambda o: torch_lr.StepLR(o, 10, 0.5)),
    "one-cycle": lambda o: torch_lr.OneCycleLR(o, max_lr=MAX, total_steps=STEPS),
    "one-cycle:pct-start=0.25,anneal=linear,div-factor=10,final-div-factor=100": lambda o: torch_lr.OneCycleLR(
        o, max_lr=MAX, total_steps=STEPS, pct_start=0.25, anneal_strategy="linear", div_factor=10, final_div_factor=100),
    "one-cycle:three-phase": lambda o: torch_lr.OneCycleLR(o, max_lr=MAX, total_steps=STEPS, three_phase=True),
    "wsd:warmup=5,decay=12,shape=linear": lambda o: transformers.get_wsd_schedule(o, 5, 12, num_training_steps=STEPS, decay_type="linear"),
    "wsd:warmup=5,decay=12,shape=cosine": lambda o: transformers.get_wsd_schedule(o, 5, 12, num_training_steps=STEPS, decay_type="cosine"),
    "wsd:decay=25%,shape=1-sqrt,min-ratio=0.05": lambda o: transformers.get_wsd_schedule(
        o, 0, 10, num_training_steps=STEPS, decay_type="1-sqrt", min_lr_ratio=0.05),
}


def rates(make):
    """Per group the rate of every step."""
    groups = [{"params": [torch.nn.Parameter(torch.zeros(1))], "lr": base} for base in BASES]
    optimizer = torch.optim.SGD(groups, momentum=0.9)
    scheduler = make(optimizer)
    steps = []
    for _ in range(STEPS):
        steps.append([group["lr"] for group in optimizer.param_groups])
        optimizer.step()
        if len(steps) < STEPS:
            scheduler.step()
    return [list(group) for group in zip(*steps)]


def main():
    entries = [{"schedule": text, "rates": rates(make)} for text, make in SCHEDULES.items()]
    content = {"torch": torch.__version__, "transformers": transformers.__version__, "steps": STEPS, "bases": BASES, "entries": entries}
    path = pathlib.Path(__file__).with_name("reference.json")
    lines = ",\n".join(json.dumps(entry) for entry in entries)
    head = json.dumps({key: value for key, value in content.items() if key != "entries"})
    path.write_text(f'{head[:-1]}, "entries": [\n{lines}\n]}}\n')


if __name__ == "__main__":
    main()
