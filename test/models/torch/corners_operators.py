"""Corners of operators of rare use, of control flow, and of numbers that depend on data; see corners.py."""

import torch
from torch.nn import functional as F

from corner_values import random, positive, mix, TIES, ZEROS, SIGNS


def complex_parts(x):
    return torch.view_as_real(x) * 0.3


def window_function(name, *options, **named):
    return lambda p, i: mix(p, torch.cat([getattr(torch, name)(8, *options, **named), getattr(torch, name)(7, False, **named)]))


def short_time(length, step, size=None, **options):
    return lambda p, i: complex_parts(torch.stft(p, length, step, size, torch.hann_window(size or length), return_complex=True, **options))


def there_and_back(p, frame, step, size=None, length=None, **options):
    window = torch.hamming_window(size or frame)
    frequencies = torch.stft(p, frame, step, size, window, return_complex=True, **options)
    return torch.istft(frequencies * 2, frame, step, size, window, length=length, **options)


def unpooled(x, kernel, stride=None, padding=0, size=None):
    pool, unpool = (F.max_pool2d, F.max_unpool2d) if x.dim() == 4 else (F.max_pool1d, F.max_unpool1d)
    values, places = pool(x, kernel, stride, padding, return_indices=True)
    return unpool(values * values, places, kernel, stride, padding, size)


def for_each(p, i):
    a, b = [p * 1, p[:2] * 2], [p * 0.5, p[1:] * 3]
    torch._foreach_mul_(a, 0.5)
    torch._foreach_add_(a, b, alpha=2)
    more = torch._foreach_addcmul(a, b, b, value=0.1) + torch._foreach_maximum(a, b) + torch._foreach_div(a, [2.0, 4.0])
    more += torch._foreach_lerp(a, b, 0.25) + torch._foreach_exp([x * 0.1 for x in a]) + torch._foreach_sub(b, 1.0)
    return torch.cat([x.flatten() for x in a + list(more)] + [n.view(1) for n in torch._foreach_norm(a)])


BAG = {"input": lambda i: torch.tensor([1, 0, 3, 3, 1, 2]) + i * 0, "begins": lambda i: torch.tensor([0, 2, 2, 5]) + i[0]}


def bag(p, i, begins=BAG["begins"], **options):
    return F.embedding_bag(BAG["input"](i), p, begins(i), **options)


# The most frequent ones: embedding bags, places in memory, elements at a place that depends on data.
BAGS = {
    "bag_sum": (random(4, 3), lambda p, i: bag(p, i, mode="sum")),
    "bag_mean": (random(4, 3), lambda p, i: bag(p, i, mode="mean")),
    "bag_max": (random(4, 3), lambda p, i: bag(p, i, mode="max")),
    "bag_max_ties": (TIES + [[2.0, 3.0, 3.0, 2.0]], lambda p, i: bag(p, i, mode="max")),
    "bag_last_offset": (random(4, 3), lambda p, i: bag(p, i, lambda i: torch.tensor([0, 1, 1, 6]) + i[0], mode="mean", include_last_offset=True)),
    "bag_weights": (random(4, 3), lambda p, i: bag(p, i, mode="sum", per_sample_weights=i * 0.3 + p[0, 0])),
    "bag_padding_sum": (random(4, 3), lambda p, i: bag(p, i, mode="sum", padding_idx=3)),
    "bag_padding_mean": (random(4, 3), lambda p, i: bag(p, i, mode="mean", padding_idx=1)),
    "bag_padding_max": (random(4, 3), lambda p, i: bag(p, i, mode="max", padding_idx=3)),
    "bag_padding_negative": (random(4, 3), lambda p, i: bag(p, i, mode="mean", padding_idx=-1)),
    "bag_known": (random(4, 3), lambda p, i: bag(p, i, lambda i: torch.tensor([0, 1, 4]), mode="max")),
    "bag_rows": (random(4, 3), lambda p, i: F.embedding_bag(i.view(2, 3) % 4, p, mode="mean", padding_idx=2)),
    "bag_rows_max": (random(4, 3), lambda p, i: F.embedding_bag(i.view(2, 3) % 4, p, mode="max", padding_idx=0)),
    "bag_rows_empty": (random(4, 3), lambda p, i: F.embedding_bag(i.view(3, 2) // 2, p, mode="mean", padding_idx=1)),
}

PLACES = {
    "strided_diagonal": (random(4, 3), lambda p, i: (p * 2).as_strided((3,), (4,))),
    "strided_windows": (random(12), lambda p, i: (p * 2).as_strided((4, 5), (2, 1), 1)),
    "strided_transposed": (random(4, 3), lambda p, i: (p * 2).as_strided((3, 4), (1, 3))),
    "strided_repeated": (random(4, 3), lambda p, i: (p * 2).as_strided((2, 3, 2), (0, 3, 0), 2)),
    "strided_view": (random(4, 3), lambda p, i: (p * 2)[1:].as_strided((2, 2), (3, 1), 4)),
    "strided_turned": (random(4, 3), lambda p, i: (p * 2).t().as_strided((12,), (1,))),
    "strided_written": (random(4, 3), lambda p, i: strided_written(p * 2)),
    "table_negative": (random(4, 3), lambda p, i: p[(i % 4) - 4] + p[-1 - i[:1]]),
    "take_scalar": (random(6, 3), lambda p, i: p.select(0, i[2].item()) * 2 + p.select(1, i[1].item()).sum()),
    "take_scalar_negative": (random(6, 3), lambda p, i: p[i[2].item() - 4]),
    "take_scalar_sum": (random(6, 3), lambda p, i: p[i[:3].sum().item()] + p[i[1].item() + i[2].item()]),
    "scalar_factor": (random(6), lambda p, i: p * i[3].item() + i.float().mean().item() / 3),
    "scalar_of_data": (random(6), lambda p, i: p * p.sum().item()),
    "max_unpool": (random(1, 2, 4, 6), lambda p, i: unpooled(p, 2)),
    "max_unpool_padding": (random(1, 2, 4, 4), lambda p, i: unpooled(p, 2, 2, 1, (5, 5))),
    "max_unpool_line": (random(2, 6), lambda p, i: unpooled(p, 2)),
    "max_pool_places": (random(1, 2, 5, 4), lambda p, i: mix(p, F.max_pool2d(p, 3, 2, 1, return_indices=True)[1])),
    "max_pool_places_ceil": (random(1, 2, 5, 5), lambda p, i: mix(p, F.max_pool2d(p, 2, 3, 1, ceil_mode=True, return_indices=True)[1])),
    "index_reduce_prod": (positive(6, 2), lambda p, i: torch.ones(4, 2, dtype=p.dtype).index_reduce(0, i % 3, p, "prod")),
    "index_reduce_mean": (random(6, 2), lambda p, i: p[:4].index_reduce(0, i % 3, p, "mean")),
    "index_reduce_fresh": (random(6, 2), lambda p, i: p[:4].index_reduce(0, i % 3, p, "amax", include_self=False)),
    "index_reduce_amin": (random(2, 6), lambda p, i: p[:, :4].index_reduce(1, i % 3, p, "amin")),
}


def strided_written(y):
    y.as_strided((3,), (4,)).mul_(3)
    y.as_strided((2, 2), (6, 1), 1).add_(1)
    return y


COUNTS = {
    "bincount": (random(6), lambda p, i: mix(p, torch.bincount(i % 3, minlength=4))),
    "bincount_weights": (random(6), lambda p, i: mix(p, torch.bincount(i % 3, p.detach(), minlength=3))),
    "bincount_places": (random(6, 4), lambda p, i: mix(p, torch.bincount(p.argmax(1), minlength=4))),
    "searchsorted": ([1.0, 2.0, 2.0, 5.0], lambda p, i: mix(p, torch.searchsorted(p, torch.tensor([[0.0, 2.0], [3.0, 9.0]])))),
    "searchsorted_right": ([1.0, 2.0, 2.0, 5.0], lambda p, i: mix(p, torch.searchsorted(p, torch.tensor([0.0, 2.0, 5.0]), right=True))),
    "searchsorted_rows": (random(2, 6), lambda p, i: mix(p, torch.searchsorted(p.sort().values, p[:, :4].contiguous(), side="left"))),
    "searchsorted_scalar": ([1.0, 2.0, 2.0, 5.0], lambda p, i: mix(p, torch.searchsorted(p, 2.0, out_int32=True))),
    "searchsorted_sorter": (random(6), lambda p, i: mix(p, torch.searchsorted(p, torch.tensor([0.0, 0.5]), sorter=p.argsort()))),
    "bucketize": (random(6), lambda p, i: mix(p, torch.bucketize(i, torch.tensor([1, 3, 3])) + torch.bucketize(i, torch.tensor([1, 3, 3]), right=True))),
    "bucketize_floats": (random(6), lambda p, i: mix(p, torch.bucketize(p, torch.tensor([-1.0, 0.0, 1.0])))),
    "quantile": (random(4, 5), lambda p, i: torch.quantile(p, 0.3) + torch.quantile(p, torch.tensor([0.0, 0.25, 1.0]), dim=1)),
    "quantile_keep": (random(4, 5), lambda p, i: torch.quantile(p, torch.tensor([0.1, 0.9]), dim=0, keepdim=True) + torch.quantile(p, 0.5, keepdim=True)),
    "quantile_between": (random(4, 5), lambda p, i: torch.stack([torch.quantile(p, 0.3, dim=1, interpolation=k) for k in ("lower", "higher", "nearest", "midpoint")])),
    "nanquantile": (random(4, 5), lambda p, i: torch.nanquantile(torch.where(p > 0.5, float("nan"), p), torch.tensor([0.2, 0.7]), dim=1)),
    "quantile_nan": (random(6), lambda p, i: mix(p, torch.quantile(torch.where(i > 3, float("nan"), p), 0.5).isnan())),
    "mode": ([[1.0, 3.0, 3.0, 2.0], [4.0, 0.0, 4.0, 0.0], [-1.0, -2.0, -3.0, -2.0]], lambda p, i: p.mode(1).values + p.mode(0, keepdim=True).values.sum()),
    "isclose": (SIGNS, lambda p, i: mix(p, p.isclose(p + 1e-6)) + mix(p, p.isclose(p + 1e-3, rtol=1e-5, atol=2e-3))),
    "isclose_nan": (SIGNS, lambda p, i: mix(p, torch.isclose(p.log(), p.log()).int() + torch.isclose(p.log(), p.log(), equal_nan=True) * 2)),
}

FUNCTIONS = {
    "erfinv": ([-0.999999, -0.9, -0.3, 0.0, 1e-9, 0.2, 0.75, 0.99, 0.9999999], lambda p, i: p.erfinv()),
    "erfinv_bounds": ([-1.0, 1.0, 2.0], lambda p, i: mix(p, torch.stack([p.detach().erfinv().isinf(), p.detach().erfinv().isnan(), p.detach().erfinv() > 0]))),
    "sinc": ([0.0, 1e-5, 0.5, 1.0, -2.3, 3.0], lambda p, i: p.sinc()),
    "cross": (random(4, 3, 3), lambda p, i: torch.cross(p, p.flip(0), dim=-1) + torch.linalg.cross(p, p[:1]) + p.cross(p.roll(1, 0), dim=1)),
    "copysign": ([2.0, -2.0, 0.5, -0.5, 0.0, -3.0], lambda p, i: p.copysign(torch.tensor([-1.0, -1.0, 1.0, 2.0, -0.0, -0.0])) + p.copysign(-1.0) * 2),
    "logaddexp2": (SIGNS, lambda p, i: torch.logaddexp2(p, p.flip(0))),
    "logcumsumexp": (random(4, 7), lambda p, i: p.logcumsumexp(1) + (p * 300).logcumsumexp(0) * 0.01),
    "xlog1py": ([0.0, 0.5, -0.5, 2.0, 0.0, 3.0], lambda p, i: torch.special.xlog1py(p.detach(), p.exp()) + torch.special.xlog1py(p, i * 0.5) + torch.special.xlog1py(p.detach() * 0, -p.detach().abs() - 1)),
    "xlogy_zero": ([0.0, 0.5, -0.5, 2.0, 0.0, 3.0], lambda p, i: torch.xlogy(p, i + 1) + torch.xlogy(i * 0, p.detach() - 3)),
    "special": (positive(6), lambda p, i: torch.special.entr(p) + torch.special.ndtr(p) + torch.special.expit(p) + torch.special.exp2(p)),
    "heaviside": (SIGNS, lambda p, i: mix(p, torch.heaviside(i - 3.0, torch.tensor(0.25)))),
    "signbit": (SIGNS, lambda p, i: mix(p, torch.signbit(p) + torch.signbit(p * 0) * 2)),
    "matrix_exp": (random(2, 3, 3), lambda p, i: torch.matrix_exp(p)),
    "matrix_exp_large": (random(4, 4), lambda p, i: torch.matrix_exp(p * 4) * 1e-3),
    "renorm": (random(4, 3), lambda p, i: p.renorm(2, 0, 1.0) + p.renorm(1, 1, 2.0)),
    "pdist": ([[1.0, 2.0], [1.0, 2.0], [0.0, 4.0], [3.0, -1.0]], lambda p, i: F.pdist(p) + F.pdist(p, 1.0)),
    "multi_margin": (random(4, 3), lambda p, i: F.multi_margin_loss(p, i[:4] % 3) + F.multi_margin_loss(p, i[:4] % 3, p=2, margin=0.5, weight=torch.tensor([1.0, 2.0, 0.5]), reduction="none")),
    "multi_margin_vector": (random(5), lambda p, i: F.multi_margin_loss(p, i[2], reduction="sum")),
    "multilabel_margin": (random(3, 4), lambda p, i: F.multilabel_margin_loss(p, torch.tensor([[0, 2, -1, 1], [3, -1, -1, -1], [1, 2, 0, 3]]), reduction="none")),
    "multilabel_margin_vector": (random(4), lambda p, i: F.multilabel_margin_loss(p, torch.tensor([2, 0, -1, 0]))),
}

SIGNALS = {
    "hann": (random(2), window_function("hann_window")),
    "hamming": (random(2), window_function("hamming_window")),
    "blackman": (random(2), window_function("blackman_window")),
    "bartlett": (random(2), window_function("bartlett_window")),
    "kaiser": (random(2), window_function("kaiser_window")),
    "stft": (random(2, 40), short_time(16, 4)),
    "stft_vector": (random(40), short_time(16, 8, center=False)),
    "stft_options": (random(40), short_time(16, 5, size=10, normalized=True, onesided=False, pad_mode="constant")),
    "istft": (random(2, 40), lambda p, i: there_and_back(p, 16, 4)),
    "istft_length": (random(40), lambda p, i: there_and_back(p, 16, 4, 12, length=38, normalized=True)),
}


def doubled(x):
    return x * 2


def branches(p, i, where):
    """The square root has no finite slope where its branch is not taken."""
    return torch.cond(where, lambda x: (x.abs().sqrt(), x.sum()), lambda x: (x * 2 + 1, x.prod()), (p,))


def nested(p, i):
    inner = lambda x: torch.cond(i[1] > 3, lambda x: x.sin(), lambda x: x.cos() * 2, (x,))
    return torch.cond(i.sum() > 3, inner, lambda x: x * 3, (p,))


def while_loop(p, i):
    from torch._higher_order_ops.while_loop import while_loop

    return while_loop(lambda k, x, y: k < 3, lambda k, x, y: (k + 1, (x * y).sin(), y + 0.1), (torch.tensor(0), p.clone(), p * 0.5))[1]


def scan(p, i, reverse=False):
    from torch._higher_order_ops.scan import scan

    last, all_of_them = scan(lambda c, x: (c * 0.5 + x @ p[:3, :3], c.sin() + x), p[0] * 1, p, reverse=reverse)
    return torch.cat([last[None], all_of_them])


def mapped(p, i):
    from torch._higher_order_ops.map import map

    return map(lambda x, y: x.sin() * (x + y).sum(), p, p[0] * 2)


def associative(p, i):
    from torch._higher_order_ops.associative_scan import associative_scan

    return associative_scan(lambda a, b: a * 0.5 + b, p, 0, combine_mode="generic")


CONTROL = {
    "for_each": (random(3), for_each),
    "cond": (random(4, 3), lambda p, i: branches(p, i, i.sum() > 3)[0] + branches(p, i, i.sum() > 99)[1]),
    "cond_guarded": (ZEROS, lambda p, i: branches(p, i, i[0] > 3)[0]),
    "cond_of_numbers": (random(4, 3), lambda p, i: torch.cond(i[1].item() > 3, torch.sin, doubled, (p,))),
    "cond_known": (random(4, 3), lambda p, i: torch.cond(torch.tensor(True), torch.sin, doubled, (p,))),
    "cond_nested": (random(4, 3), nested),
    "while_loop": (random(4, 3), while_loop),
    "scan": (random(4, 3), scan),
    "scan_reverse": (random(4, 3), lambda p, i: scan(p, i, reverse=True)),
    "map": (random(4, 3), mapped),
    "associative_scan": (random(5, 3), associative),
    "vmap": (random(4, 3), lambda p, i: torch.vmap(lambda x: (x * x.sum()).sin())(p)),
    "vmap_several": (random(4, 3), lambda p, i: torch.vmap(lambda x, k, y: x.index_select(0, k) * y, in_dims=(0, 0, None))(p, i[:4].view(4, 1) % 3, p.sum(0))),
    "vmap_nested": (random(2, 4, 3), lambda p, i: torch.vmap(torch.vmap(lambda x: x.softmax(0) + x.max(), in_dims=1))(p)),
    "vmap_product": (random(4, 3), lambda p, i: torch.vmap(lambda x, y: (x.exp(), x @ y), (0, 1))(p, p.t())[1]),
}
