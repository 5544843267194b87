"""Cases of borders.py, element by element: extremes, activations, functions of numbers, losses.

A case is the first values of a parameter `p` and a function of it. Several operands are rows of `p`.
"""

import math

import torch
from torch.nn import functional as F

INFINITY = math.inf
# Rows with the kinks of most activations.
KINKS = [-6.0, -4.0, -3.0, -2.0, -1.0, -0.5, -0.0, 0.0, 0.5, 1.0, 2.0, 3.0, 4.0, 6.0, 20.0]
# Two rows: ties at, above and below zero, and either one larger.
TIES = [[0.0, 1.0, -1.0, 0.0, 2.0, -0.0, 0.5], [0.0, 1.0, -1.0, 1.0, 0.0, 0.0, -0.5]]
AROUND = [[-1.0, 0.0, 1.0, 0.5, -2.0], [1.0, 1.0, 1.0, 2.0, -2.0], [-1.0, 0.0, -1.0, 0.5, -2.0]]


def number(value):
    return torch.tensor(value)


def nan_like(x, where):
    """x with NaN instead of its elements there."""
    return torch.where(torch.tensor(where), torch.nan, x)


def finite(x):
    """Without what is no finite number, so that a loss of it is one."""
    return torch.where(x.isfinite(), x, torch.zeros_like(x))


EXTREMES = {
    "maximum": (TIES, lambda p: torch.maximum(p[0], p[1])),
    "minimum": (TIES, lambda p: torch.minimum(p[0], p[1])),
    "max_other": (TIES, lambda p: torch.max(p[0], p[1]) - torch.min(p[0], p[1])),
    "maximum_itself": (TIES[0], lambda p: torch.maximum(p, p) + torch.maximum(p, p * 1)),
    "maximum_zeros": (KINKS, lambda p: torch.maximum(p, torch.zeros_like(p))),
    "maximum_zero": (KINKS, lambda p: torch.maximum(p, number(0.0))),
    "maximum_zero_first": (KINKS, lambda p: torch.maximum(number(0.0), p)),
    "minimum_zero": (KINKS, lambda p: torch.minimum(p, number(0.0))),
    "negative_minimum": (KINKS, lambda p: -torch.minimum(-p, number(0.0))),
    "maximum_negative_zero": (KINKS, lambda p: torch.maximum(p, number(-0.0))),
    "relu_by_maximum_squared": (KINKS, lambda p: torch.maximum(p, number(0.0)) ** 2 * 0.1),
    "between": (KINKS, lambda p: torch.minimum(torch.maximum(p, number(0.0)), number(1.0))),
    "between_six": (KINKS, lambda p: torch.minimum(torch.maximum(p, number(0.0)), number(6.0)) * 0.1),
    "broadcast": ([[0.0, 1.0], [1.0, 1.0], [2.0, -1.0]], lambda p: torch.maximum(p, p[:, :1]) + torch.minimum(p[0], p)),
    "fmax": (TIES, lambda p: torch.fmax(p[0], p[1])),
    "fmin": (TIES, lambda p: torch.fmin(p[0], p[1])),
    "fmax_zero": (KINKS, lambda p: torch.fmax(p, number(0.0))),
    "fmin_zero": (KINKS, lambda p: torch.fmin(number(0.0), p)),
    "fmax_nan": ([[0.0, 1.0, 2.0], [0.0, 1.0, 1.0]], lambda p: torch.fmax(nan_like(p[0], [False, True, False]), nan_like(p[1], [False, False, True]))),
    "fmin_nan": ([[0.0, 1.0, 2.0], [0.0, 1.0, 1.0]], lambda p: torch.fmin(nan_like(p[0], [False, True, False]), nan_like(p[1], [False, False, True]))),
    "fmax_both_nan": ([[0.0, 1.0], [0.0, 1.0]], lambda p: finite(torch.fmax(nan_like(p[0], [True, False]), nan_like(p[1], [True, False])))),
    "maximum_nan": ([[0.0, 1.0, 2.0], [0.0, 1.0, 1.0]], lambda p: finite(torch.maximum(nan_like(p[0], [False, True, False]), p[1]))),
    "clamp": (KINKS, lambda p: p.clamp(-1.0, 2.0)),
    "clamp_zero": (KINKS, lambda p: p.clamp(min=0)),
    "clamp_min": (KINKS, lambda p: torch.clamp_min(p, 0.5)),
    "clamp_max": (KINKS, lambda p: torch.clamp_max(p, 0.5)),
    "clip": (KINKS, lambda p: torch.clip(p, -0.5, 0.5)),
    "clamp_crossed": (KINKS, lambda p: p.clamp(1.0, -1.0)),
    "clamp_crossed_equal": (KINKS, lambda p: p.clamp(1.0, 1.0)),
    "clamp_twice": (KINKS, lambda p: p.clamp(min=0).clamp(max=1) + p.clamp(max=1).clamp(min=0)),
    "clamp_tensors": (AROUND, lambda p: torch.clamp(p[0], p[2], p[1])),
    "clamp_tensor_min": (TIES, lambda p: torch.clamp(p[0], min=p[1])),
    "clamp_tensor_max": (TIES, lambda p: torch.clamp(p[0], max=p[1])),
    "clamp_scalar_tensor": (KINKS, lambda p: torch.clamp(p, min=number(0.0))),
    "clamp_scalar_tensors": (KINKS, lambda p: torch.clamp(p, number(-1.0), number(1.0))),
    "clamp_tensors_crossed": (AROUND, lambda p: torch.clamp(p[0], p[1], p[2])),
    "clamp_wide_bound": ([0.0, 1.0, 2.0], lambda p: torch.clamp(p, min=(p.view(3, 1)))),
    "clamp_min_tensor": (TIES, lambda p: torch.clamp_min(p[0], p[1]) + torch.clamp_max(p[1], p[0])),
    "clamp_in_place": (KINKS, lambda p: (p * 1.0).clamp_(-1, 1)),
    "logaddexp": (TIES, lambda p: torch.logaddexp(p[0], p[1])),
    "logaddexp_zero": (KINKS, lambda p: torch.logaddexp(p, number(0.0))),
    "logaddexp_empty": (TIES, lambda p: torch.logaddexp(p[0], torch.full_like(p[1], -INFINITY))),
    "logaddexp_empties": (TIES, lambda p: finite(torch.logaddexp(p[0] - INFINITY, p[1] - INFINITY)) + p[0]),
    "logaddexp_empty_first": (TIES, lambda p: torch.logaddexp(torch.full_like(p[1], -INFINITY), p[1]) + p[0]),
    "logaddexp_infinite": (TIES, lambda p: finite(torch.logaddexp(p[0] + INFINITY, p[1])) + p[0]),
    "where_equal": (TIES, lambda p: torch.where(p[0] == p[1], p[0], p[1] * 2)),
    "where_max": (TIES, lambda p: torch.where(p[0] > p[1], p[0], p[1])),
    "where_min": (TIES, lambda p: torch.where(p[0] <= p[1], p[0], p[1])),
    "where_relu": (KINKS, lambda p: torch.where(p > 0, p, 0.0)),
    "where_relu_at_least": (KINKS, lambda p: torch.where(p >= 0, p, 0.0)),
    "mask_relu": (KINKS, lambda p: p * (p > 0) + p * (p >= 0)),
    "masked_fill_relu": (KINKS, lambda p: p.masked_fill(p < 0, 0.0)),
    "logistic": (KINKS, lambda p: torch.maximum(p, number(0.0)) - p * 0.3 + torch.log1p(torch.exp(-p.abs()))),
}

ACTIVATIONS = {
    name: (KINKS, function)
    for name, function in {
        "relu": F.relu, "relu6": lambda p: F.relu6(p) * 0.2, "hardtanh": F.hardtanh, "hardtanh_2": lambda p: F.hardtanh(p, -2.0, 0.5),
        "hardsigmoid": F.hardsigmoid, "hardswish": F.hardswish, "hardshrink": F.hardshrink, "hardshrink_2": lambda p: F.hardshrink(p, 2.0),
        "hardshrink_0": lambda p: F.hardshrink(p, 0.0), "softshrink_0": lambda p: F.softshrink(p, 0.0),
        "softshrink": F.softshrink, "softshrink_2": lambda p: F.softshrink(p, 2.0), "leaky_relu": lambda p: F.leaky_relu(p, 0.25),
        "leaky_relu_negative": lambda p: F.leaky_relu(p, -0.5), "leaky_relu_0": lambda p: F.leaky_relu(p, 0.0),
        "threshold": lambda p: F.threshold(p, 0.5, 7.0), "threshold_0": lambda p: F.threshold(p, 0.0, 0.0),
        "threshold_negative": lambda p: F.threshold(p, -1.0, 2.0), "elu": F.elu, "elu_2": lambda p: F.elu(p, 2.0), "selu": F.selu,
        "celu": F.celu, "celu_2": lambda p: F.celu(p, 2.0), "softplus": F.softplus, "softplus_beta": lambda p: F.softplus(p, 2.0, 1.0),
        "softplus_threshold": lambda p: F.softplus(p, 1.0, 2.0), "softsign": F.softsign, "logsigmoid": F.logsigmoid, "mish": F.mish,
        "silu": F.silu, "gelu": F.gelu, "gelu_tanh": lambda p: F.gelu(p, approximate="tanh"), "tanhshrink": F.tanhshrink,
        "relu_squared": lambda p: F.relu(p) ** 2 * 0.1, "relu_difference": lambda p: F.relu(p) - F.relu(-p),
        "relu6_product": lambda p: p * F.relu6(p + 3) / 36, "hardsigmoid_written": lambda p: F.relu6(p + 3) / 6,
        "leaky_relu_maximum": lambda p: torch.maximum(p, p * 0.1), "relu_clamped": lambda p: F.relu(p).clamp(max=1),
        "relu_absolute": lambda p: (p + p.abs()) * 0.5, "relu_in_place": lambda p: F.relu_(p * 1.0),
    }.items()
}
ACTIVATIONS["prelu"] = (KINKS, lambda p: F.prelu(p, p[:1] * 0 + 0.25))
ACTIVATIONS["prelu_number"] = (KINKS, lambda p: torch.stack([F.prelu(x, p[:1] * 0 + 0.25) for x in p.unbind()]))
ACTIVATIONS["prelu_scalar"] = (KINKS, lambda p: F.prelu(p, p[0] * 0 + 0.25))
ACTIVATIONS["prelu_slope"] = ([[0.0, 1.0, -1.0], [0.25, 0.5, -0.5]], lambda p: F.prelu(p[:1], p[1]))
ACTIVATIONS["glu"] = ([[0.0, 1.0, 0.0, -1.0]], lambda p: F.glu(p))
ACTIVATIONS["rrelu"] = (KINKS, lambda p: F.rrelu(p, 0.1, 0.3, training=False))

POWERS = [[0.0, 0.0, 1.0, 2.0, 0.0, 4.0], [0.0, 1.0, 0.0, 2.0, 2.0, 0.5]]

NUMBERS = {
    "abs": (KINKS, torch.abs), "sign": (KINKS, lambda p: torch.sign(p) * p), "sgn": (KINKS, lambda p: torch.sgn(p) + p),
    "heaviside_like": (KINKS, lambda p: (p > 0) * 1.0 + p), "square": (KINKS, lambda p: torch.square(p) * 0.1),
    "sqrt": ([0.0, 1.0, 4.0], torch.sqrt), "sqrt_of_square": ([0.0, 1.0, -4.0], lambda p: torch.sqrt(p * p)),
    "sqrt_of_sum": ([[0.0, 0.0], [3.0, 4.0]], lambda p: (p * p).sum(1).sqrt()), "sqrt_eps": ([0.0, 1.0], lambda p: (p * p + 1e-6).sqrt()),
    "pow_half": ([0.0, 1.0, 4.0], lambda p: p**0.5), "pow_third": ([0.0, 1.0, 8.0], lambda p: p ** (1 / 3)),
    "pow_0": ([0.0, 1.0, -2.0], lambda p: p**0 + p), "pow_1": ([0.0, 1.0, -2.0], lambda p: p**1), "pow_2": ([0.0, 1.0, -2.0], lambda p: p**2),
    "pow_3": ([0.0, 1.0, -2.0], lambda p: p**3), "pow_4": ([0.0, 1.0, -2.0], lambda p: p**4), "pow_1_5": ([0.0, 1.0, 2.0], lambda p: p**1.5),
    "pow_tensor": (POWERS, lambda p: torch.pow(p[0], p[1])), "pow_base": ([0.0, 1.0, 2.0], lambda p: torch.pow(2.0, p)),
    "pow_base_0": ([0.0, 1.0, 2.0], lambda p: torch.pow(0.0, p) + p), "pow_exponents": ([0.0, 1.0, 2.0], lambda p: p ** torch.tensor([0.0, 1.0, 2.0])),
    "pow_negative_base": ([-2.0, -1.0, 0.0], lambda p: torch.pow(p, torch.tensor([2.0, 3.0, 1.0]))),
    "pow_zero_exponents": ([[0.0, 0.0, 0.0], [0.0, 0.5, 1.0]], lambda p: torch.pow(p[0].detach(), p[1]) + p[0]),
    "float_power": ([0.0, 1.0, 4.0], lambda p: torch.float_power(p, 2)), "cube_root": ([0.0, 1.0], lambda p: p.pow(2).pow(0.5)),
    "log1p": ([0.0, 1.0, -0.5], torch.log1p), "expm1": ([0.0, 1.0, -0.5], torch.expm1),
    "acos": ([-1.0, 0.0, 1.0, 0.5], torch.acos), "asin": ([-1.0, 0.0, 1.0, 0.5], torch.asin), "atan": ([0.0, 1.0, -1.0], torch.atan),
    "acosh": ([1.0, 2.0], torch.acosh), "asinh": (KINKS, torch.asinh), "atanh": ([0.0, 0.5, -0.5], torch.atanh),
    "atan2": ([[0.0, 0.0, 1.0, -1.0, 0.0, 1.0, -1.0, 2.0], [0.0, 1.0, 0.0, 0.0, -1.0, 1.0, -1.0, -2.0]], lambda p: torch.atan2(p[0], p[1])),
    "hypot": ([[0.0, 0.0, 3.0, -0.0], [0.0, 1.0, 4.0, -2.0]], lambda p: torch.hypot(p[0], p[1])),
    "xlogy": ([[0.0, 0.0, 1.0, 2.0], [1.0, 2.0, 1.0, 0.5]], lambda p: torch.xlogy(p[0], p[1])),
    "xlogy_zero": ([[0.0, 0.0], [0.0, 1.0]], lambda p: torch.xlogy(p[0], p[1])),
    "xlogy_constant": ([0.0, 1.0, 2.0], lambda p: torch.xlogy(p, torch.tensor([0.0, 1.0, 2.0]))),
    "xlogy_number": ([0.0, 1.0, 2.0], lambda p: torch.xlogy(p, 2.0) + torch.xlogy(2.0, p + 1)),
    "entropy": ([0.0, 0.5, 1.0], lambda p: torch.special.entr(p)),
    "fmod": ([[4.0, -4.0, 7.0, -7.0, 6.0], [2.0, 2.0, 3.5, -3.5, 4.0]], lambda p: torch.fmod(p[0], p[1])),
    "remainder": ([[4.0, -4.0, 7.0, -7.0, 6.0], [2.0, 2.0, 3.5, -3.5, 4.0]], lambda p: torch.remainder(p[0], p[1])),
    "fmod_number": (KINKS, lambda p: torch.fmod(p, 2.0)), "remainder_number": (KINKS, lambda p: torch.remainder(p, -2.0)),
    "div_floor": (KINKS, lambda p: torch.div(p, 2.0, rounding_mode="floor") + p), "floor": (KINKS, lambda p: p.floor() + p.ceil() + p.round() + p.trunc() + p),
    "frac": (KINKS, torch.frac), "lerp": ([[0.0, 1.0, 1.0], [0.0, 1.0, 2.0], [0.0, 0.5, 1.0]], lambda p: torch.lerp(p[0], p[1], p[2])),
    "lerp_number": ([[0.0, 1.0, 1.0], [0.0, 1.0, 2.0]], lambda p: torch.lerp(p[0], p[1], 0.5) + torch.lerp(p[0], p[1], 0.0)),
    "sinc": ([0.0, 0.5, 1.0], torch.sinc), "logit": ([0.2, 0.5, 0.8], lambda p: torch.logit(p, 0.2)), "logit_out": ([0.1, 0.5, 0.9, 0.25], lambda p: torch.logit(p, 0.25)),
    "nan_to_num": ([0.0, 0.0, 1.0], lambda p: torch.nan_to_num(p + torch.tensor([INFINITY, -INFINITY, 0.0]), 0.0, 1.0, -1.0)),
    "nan_to_num_nan": ([0.0, 1.0], lambda p: torch.nan_to_num(nan_like(p, [True, False]), 0.5)),
    "copysign": ([[0.0, -0.0, 1.0, -1.0], [1.0, -1.0, 0.0, -0.0]], lambda p: torch.copysign(p[0], p[1])),
    "erf": ([0.0, 1.0], lambda p: torch.erf(p) + torch.erfc(p)), "erfinv": ([0.0, 0.5], torch.erfinv),
    "tanh_large": ([0.0, 40.0, -40.0], torch.tanh), "sigmoid_large": ([0.0, 800.0, -800.0], torch.sigmoid),
    "softplus_large": ([0.0, 800.0, -800.0], lambda p: F.softplus(p) * 0.001), "log_sigmoid_large": ([0.0, 800.0, -800.0], lambda p: F.logsigmoid(p) * 0.001),
    "rsqrt": ([1.0, 4.0], torch.rsqrt), "reciprocal": ([1.0, -4.0], torch.reciprocal), "deg2rad": (KINKS, torch.deg2rad),
    "addcdiv": ([[0.0, 1.0], [0.0, 1.0], [2.0, 1.0]], lambda p: torch.addcdiv(p[0], p[1], p[2])),
    "logsigmoid_sum": (KINKS, lambda p: torch.log(torch.sigmoid(p))), "tan": ([0.0, 1.0], torch.tan), "cosh": ([0.0, 1.0], lambda p: torch.cosh(p) + torch.sinh(p)),
    "exp2": ([0.0, 1.0], torch.exp2), "log2": ([1.0, 2.0], lambda p: torch.log2(p) + torch.log10(p)), "lgamma_like": ([1.0, 2.0], lambda p: p.log()),
    "rounded": (KINKS, lambda p: p + (p.round() - p).detach()), "polar_angle": ([[0.0, 1.0], [1.0, 0.0]], lambda p: torch.atan2(p[0], p[1]) * p[0]),
    "nextafter_like": ([0.0, 1.0], lambda p: p.clamp(min=torch.finfo(p.dtype).tiny).log() * 0.001),
    "log_clamped": ([0.0, 1e-8, 0.5], lambda p: p.clamp(min=1e-8).log() * 0.1),
}

SIGNS = torch.tensor([1.0, -1.0, 1.0, -1.0, 1.0])
MARGINS = [[-1.0, -0.5, 0.0, 1.0, 0.5], [0.0, 0.5, 0.0, -0.0, 1.5]]

LOSSES = {
    "l1": (TIES, lambda p: F.l1_loss(p[0], p[1], reduction="none")),
    "smooth_l1": (KINKS, lambda p: F.smooth_l1_loss(p, torch.zeros_like(p), reduction="none")),
    "smooth_l1_half": (KINKS, lambda p: F.smooth_l1_loss(p, torch.zeros_like(p), beta=0.5, reduction="sum") * 0.1),
    "smooth_l1_zero": (KINKS, lambda p: F.smooth_l1_loss(p, torch.zeros_like(p), beta=0.0, reduction="none")),
    "smooth_l1_both": (TIES, lambda p: F.smooth_l1_loss(p[0], p[1], reduction="none")),
    "huber": (KINKS, lambda p: F.huber_loss(p, torch.zeros_like(p), reduction="none")),
    "huber_2": (KINKS, lambda p: F.huber_loss(p, torch.zeros_like(p), delta=2.0)),
    "huber_both": (TIES, lambda p: F.huber_loss(p[0], p[1], reduction="none")),
    "hinge_embedding": (MARGINS[0] + [1.0], lambda p: F.hinge_embedding_loss(p, torch.tensor([1.0, -1.0, 1.0, -1.0, 1.0, -1.0]), reduction="none")),
    "margin_ranking": (MARGINS, lambda p: F.margin_ranking_loss(p[0], p[1], SIGNS, margin=0.5, reduction="none")),
    "margin_ranking_0": (TIES, lambda p: F.margin_ranking_loss(p[0], p[1], torch.ones(7))),
    "triplet": ([[0.0, 0.0], [3.0, 4.0], [1.0, 1.0]], lambda p: F.triplet_margin_loss(p, p.roll(1, 0), p.roll(1, 0), margin=1.0, reduction="none")),
    "triplet_swap": ([[0.0, 0.0], [3.0, 4.0], [1.0, 1.0]], lambda p: F.triplet_margin_loss(p, p.roll(1, 0), p * 2, swap=True, reduction="none")),
    "triplet_same": ([[1.0, 2.0]], lambda p: F.triplet_margin_loss(p, p * 1, p * 1.0, margin=0.5, eps=0.0)),
    "hinge": (KINKS, lambda p: torch.clamp(1 - p, min=0)),
    "hinge_relu": (KINKS, lambda p: F.relu(1 - p)), "hinge_maximum": (KINKS, lambda p: torch.maximum(1 - p, number(0.0))),
    "squared_hinge": (KINKS, lambda p: torch.clamp(1 - p, min=0) ** 2 * 0.1),
    "soft_margin": (MARGINS[0], lambda p: F.soft_margin_loss(p, SIGNS, reduction="none")),
    "multi_margin": ([[0.0, 1.0, 0.0], [1.0, 1.0, 0.0]], lambda p: F.multi_margin_loss(p, torch.tensor([0, 1]))),
    "multilabel_margin": ([[0.0, 1.0, 0.0], [1.0, 1.0, 0.0]], lambda p: F.multilabel_margin_loss(p, torch.tensor([[0, -1, 1], [1, 2, -1]]))),
    "multilabel_soft_margin": ([[0.0, 1.0, 0.0]], lambda p: F.multilabel_soft_margin_loss(p, torch.tensor([[0.0, 1.0, 1.0]]))),
    "cosine_embedding": ([[0.0, 0.0], [3.0, 4.0], [1.0, 1.0]], lambda p: F.cosine_embedding_loss(p, p.roll(1, 0), torch.tensor([1, -1, -1]), reduction="none")),
    "bce": ([0.0, 1.0, 0.5, 0.25], lambda p: F.binary_cross_entropy(p, torch.tensor([0.0, 1.0, 0.5, 1.0]), reduction="none")),
    "bce_saturated": ([0.0, 1.0, 0.5], lambda p: F.binary_cross_entropy(p, torch.tensor([1.0, 0.0, 0.5]), reduction="none") * 0.01),
    "bce_logits": (KINKS, lambda p: F.binary_cross_entropy_with_logits(p, torch.full_like(p, 0.25), reduction="none")),
    "bce_logits_weight": (KINKS, lambda p: F.binary_cross_entropy_with_logits(p, torch.full_like(p, 0.25), pos_weight=number(2.0), reduction="none") * 0.1),
    "kl_zero": ([[0.5, 0.0, 0.25], [0.1, 0.2, 0.3]], lambda p: F.kl_div(p, torch.tensor([[0.0, 1.0, 0.0], [0.5, 0.0, 0.5]]), reduction="sum")),
    "kl_target": ([[0.0, 0.5, 0.5]], lambda p: F.kl_div(torch.zeros(1, 3), p, reduction="none")),
    "poisson": ([0.0, 1.0, -1.0], lambda p: F.poisson_nll_loss(p, torch.tensor([0.0, 1.0, 2.0]), full=True, reduction="none")),
    "poisson_0": ([0.0, 1.0, 2.0], lambda p: F.poisson_nll_loss(p, torch.tensor([0.0, 1.0, 2.0]), log_input=False, reduction="none") * 0.1),
    "cross_entropy": ([[0.0, 0.0, 0.0], [1.0, 1.0, 0.0]], lambda p: F.cross_entropy(p, torch.tensor([0, 2]), label_smoothing=0.1)),
    "focal_like": (KINKS, lambda p: torch.sigmoid(p) ** 2 * F.softplus(p)),
}
