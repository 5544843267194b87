"""PyTorch's optimizers and schedulers by the texts of --optimizer, --optimizer-group and --lr-schedule; Lion and LAMB, which PyTorch
does not have, as their papers define them. Needs torch and transformers."""

import fnmatch

import torch
from torch.optim import lr_scheduler


class Lion(torch.optim.Optimizer):
    """X. Chen et al., Symbolic Discovery of Optimization Algorithms, 2023, algorithm 2."""

    def __init__(self, parameters, lr, betas, weight_decay):
        super().__init__(parameters, dict(lr=lr, betas=betas, weight_decay=weight_decay))

    @torch.no_grad()
    def step(self):
        for group in self.param_groups:
            beta1, beta2 = group["betas"]
            for p in group["params"]:
                m = self.state[p].setdefault("m", torch.zeros_like(p))
                p.mul_(1 - group["lr"] * group["weight_decay"])
                p.sub_(torch.sign(m * beta1 + p.grad * (1 - beta1)) * group["lr"])
                m.mul_(beta2).add_(p.grad, alpha=1 - beta2)


class Lamb(torch.optim.Optimizer):
    """Y. You et al., Large Batch Optimization for Deep Learning, 2020, algorithm 2, with the identity as phi."""

    def __init__(self, parameters, lr, betas, eps, weight_decay):
        super().__init__(parameters, dict(lr=lr, betas=betas, eps=eps, weight_decay=weight_decay))

    @torch.no_grad()
    def step(self):
        for group in self.param_groups:
            beta1, beta2 = group["betas"]
            for p in group["params"]:
                state = self.state[p]
                m, v = state.setdefault("m", torch.zeros_like(p)), state.setdefault("v", torch.zeros_like(p))
                state["step"] = step = state.get("step", 0) + 1
                m.mul_(beta1).add_(p.grad, alpha=1 - beta1)
                v.mul_(beta2).addcmul_(p.grad, p.grad, value=1 - beta2)
                update = (m / (1 - beta1**step)) / ((v / (1 - beta2**step)).sqrt() + group["eps"]) + group["weight_decay"] * p
                size, length = p.norm(), update.norm()
                p.sub_(update * group["lr"] * (size / length if size > 0 and length > 0 else 1.0))


def values_of(text):
    """`lr=0.1,nesterov` as a dictionary."""
    pairs = (item.partition("=") for item in text.split(",") if item)
    return {key: float(value) if equals else 1.0 for key, equals, value in pairs}


# Names of hyperparameters in PyTorch, where they differ by more than `-`.
NAMES = {"beta1": None, "beta2": None, "eps1": None, "eps2": None, "beta2-decay": "beta2_decay", "lr-decay": "lr_decay"}
FLAGS = ("nesterov", "amsgrad", "centered")
KINDS = {
    "sgd": torch.optim.SGD, "adam": torch.optim.Adam, "adamw": torch.optim.AdamW, "lamb": Lamb, "lion": Lion,
    "rmsprop": torch.optim.RMSprop, "adagrad": torch.optim.Adagrad, "adafactor": torch.optim.Adafactor,
}


def keywords(values):
    """Arguments of PyTorch's optimizers."""
    found = {key.replace("-", "_"): bool(value) if key in FLAGS else value for key, value in values.items() if key not in NAMES}
    found |= {NAMES[key]: value for key, value in values.items() if NAMES.get(key)}
    if "beta1" in values:
        found["betas"] = (values["beta1"], values["beta2"])
    return found


def make_optimizer(text, named, groups=()):
    """The optimizer of the parameters `named`; `groups` are texts of --optimizer-group."""
    kind, _, rest = text.partition(":")
    parts = [([], {})]
    for group in groups:
        pattern, _, values = group.partition(":")
        no_decay = {"weight-decay": 0.0} if pattern == "no-decay" else {}
        parts.append(([], {**no_decay, **values_of(values)}))
    patterns = [group.partition(":")[0] for group in groups]
    for name, parameter in named.items():
        chosen = (i for i, p in enumerate(patterns, 1)
                  if (parameter.dim() <= 1 if p == "no-decay" else fnmatch.fnmatchcase(name, p)))
        parts[next(chosen, 0)][0].append(parameter)
    return KINDS[kind]([{"params": list(some), **keywords(values)} for some, values in parts if some], **keywords(values_of(rest)))


def warmup(optimizer, steps, start, later):
    """PyTorch's LinearLR from `start`, then the scheduler that `later` makes."""
    first = lr_scheduler.LinearLR(optimizer, start_factor=start, end_factor=1.0, total_iters=steps)
    return lr_scheduler.SequentialLR(optimizer, [first, later(optimizer)], milestones=[steps])


def transformers_schedule(name):
    """The function of transformers with this name."""
    def make(optimizer, *arguments, **options):
        import transformers

        return getattr(transformers, name)(optimizer, *arguments, **options)
    return make


# Schedulers for runs of `n` steps, by the text of --lr-schedule.
SCHEDULERS = {
    "constant:warmup=20,warmup-start=0.1": lambda o, n: lr_scheduler.LinearLR(o, start_factor=0.1, total_iters=20),
    "linear:warmup=10": lambda o, n: transformers_schedule("get_linear_schedule_with_warmup")(o, 10, n),
    "cosine:warmup=20,min-ratio=0.1": lambda o, n: transformers_schedule("get_cosine_with_min_lr_schedule_with_warmup")(
        o, 20, n, min_lr_rate=0.1),
    "polynomial:power=2": lambda o, n: lr_scheduler.PolynomialLR(o, total_iters=n, power=2.0),
    "step:every=50,gamma=0.5": lambda o, n: lr_scheduler.StepLR(o, step_size=50, gamma=0.5),
    "one-cycle": lambda o, n: lr_scheduler.OneCycleLR(
        o, max_lr=[g["lr"] for g in o.param_groups], total_steps=n, cycle_momentum=False),
    "wsd:warmup=10,decay=60": lambda o, n: transformers_schedule("get_wsd_schedule")(
        o, 10, 60, num_training_steps=n, decay_type="linear"),
}
