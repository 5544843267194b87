"""Cases of borders.py along dims: reductions, order, products, scatters, pools, samples, sizes; see borders_elementwise.py."""

import torch
from torch.nn import functional as F

from borders_elementwise import INFINITY, finite, nan_like

TIES = [[1.0, 3.0, 3.0, 2.0], [0.0, 0.0, 0.0, 0.0], [-1.0, -2.0, -1.0, -2.0]]
ROWS = [[0.0, 0.0, 0.0], [3.0, -4.0, 0.0], [1.0, -1.0, 1.0]]
ZEROS = [[2.0, 0.0, 3.0], [0.0, 0.0, 2.0], [1.0, 2.0, 4.0], [0.0, 0.0, 0.0]]


def norm(p, **options):
    return lambda x: torch.linalg.vector_norm(x, ord=p, **options)


REDUCTIONS = {
    "amax": (TIES, lambda p: p.amax(1)), "amin": (TIES, lambda p: p.amin(1, keepdim=True)), "amax_dims": (TIES, lambda p: p.amax((0, 1)) + p.amin((0, 1))),
    "max_all": (TIES, lambda p: p.max() + p.min()), "max_dim": (TIES, lambda p: p.max(1).values + p.min(1).values),
    "max_dim_0": (TIES, lambda p: p.max(0)[0] - p.min(0, keepdim=True)[0]), "aminmax": (TIES, lambda p: sum(torch.aminmax(p, dim=1))),
    "aminmax_all": (TIES, lambda p: sum(torch.aminmax(p))), "max_nan": (TIES, lambda p: finite(nan_like(p, [True, False, False, False]).max(1)[0]) + p.sum()),
    "norm_0": (ROWS, lambda p: norm(0, dim=1)(p) + p.sum(1)), "norm_1": (ROWS, norm(1, dim=1)), "norm_2": (ROWS, norm(2, dim=1)), "norm_3": (ROWS, norm(3, dim=1)),
    "norm_half": ([[1.0, 2.0], [3.0, 4.0]], norm(0.5, dim=1)), "norm_1_5": (ROWS, norm(1.5, dim=1)),
    "norm_inf": (ROWS, norm(INFINITY, dim=1)), "norm_minus_inf": (ROWS, norm(-INFINITY, dim=1)), "norm_all": ([[0.0, 0.0], [0.0, 0.0]], torch.linalg.norm),
    "norm_all_inf": ([[0.0, 0.0], [0.0, 0.0]], norm(INFINITY)), "norm_minus_1": ([[1.0, 2.0], [-3.0, 4.0]], norm(-1, dim=1)),
    "norm_keep": (ROWS, norm(2, dim=(0, 1), keepdim=True)), "norm_old": (ROWS, lambda p: p.norm(dim=1) + p.norm(1, dim=1) + p.norm(INFINITY, dim=1)),
    "norm_old_3": (ROWS, lambda p: p.norm(3, dim=1) + p.norm(2.5, dim=0)), "frobenius": ([[0.0, 0.0], [0.0, 0.0]], lambda p: torch.linalg.matrix_norm(p)),
    "normalize": (ROWS, lambda p: F.normalize(p, dim=1)), "normalize_1": (ROWS, lambda p: F.normalize(p, p=1.0, dim=1)),
    "normalize_inf": (ROWS, lambda p: F.normalize(p, p=INFINITY, dim=1)), "normalize_eps": ([[0.0, 0.5], [3.0, 4.0]], lambda p: F.normalize(p, dim=1, eps=0.5)),
    "cosine": (ROWS, lambda p: F.cosine_similarity(p, p.roll(1, 0), dim=1)), "cosine_zero": (ROWS, lambda p: F.cosine_similarity(p, torch.ones(3), dim=1)),
    "cosine_eps": ([[3.0, 4.0], [0.3, 0.4]], lambda p: F.cosine_similarity(p, p * 1.0, dim=1, eps=0.5)),
    "cosine_eps_tie": ([[3.0, 4.0]], lambda p: F.cosine_similarity(p, torch.tensor([[6.0, 8.0]]), dim=1, eps=5.0)),
    "cdist": (ROWS, lambda p: torch.cdist(p, p)), "cdist_1": (ROWS, lambda p: torch.cdist(p, p, 1.0)), "cdist_inf": (ROWS, lambda p: torch.cdist(p, p, INFINITY)),
    "cdist_3": (ROWS, lambda p: torch.cdist(p, p.flip(0), 3.0)), "cdist_0": (ROWS, lambda p: torch.cdist(p, p, 0.0) + p.sum()),
    "cdist_half": (ROWS, lambda p: torch.cdist(p, p.flip(0) + 3.0, 0.5) * 0.01), "cdist_1_5": (ROWS, lambda p: torch.cdist(p, p, 1.5)),
    "cdist_partly": ([[0.0, 1.0], [0.0, 3.0]], lambda p: torch.cdist(p, p, 1.0) + torch.cdist(p, p, 1.5) + torch.cdist(p, p, INFINITY)),
    "pdist": (ROWS, lambda p: F.pdist(p)), "pdist_equal": ([[1.0, 2.0], [1.0, 2.0], [3.0, 2.0]], lambda p: F.pdist(p)),
    "pdist_1": ([[1.0, 2.0], [1.0, 2.0], [3.0, 2.0]], lambda p: F.pdist(p, 1.0)), "pdist_inf": ([[1.0, 2.0], [1.0, 2.0], [3.0, 4.0]], lambda p: F.pdist(p, INFINITY)),
    "pdist_3": ([[1.0, 2.0], [1.0, 2.0], [3.0, 2.0]], lambda p: F.pdist(p, 3.0)), "pdist_0": ([[1.0, 2.0], [1.0, 2.0]], lambda p: F.pdist(p, 0.0) + p.sum()),
    "pairwise": (ROWS, lambda p: F.pairwise_distance(p, p * 1.0)), "pairwise_0": (ROWS, lambda p: F.pairwise_distance(p, p.roll(1, 0), eps=0.0)),
    "pairwise_1": (ROWS, lambda p: F.pairwise_distance(p, p * 1.0, p=1.0, eps=0.0)), "pairwise_inf": (ROWS, lambda p: F.pairwise_distance(p, -p, p=INFINITY, eps=0.0)),
    "dist": (ROWS, lambda p: torch.dist(p, p * 1.0) + torch.dist(p, p.flip(0), 1)), "dist_inf": (ROWS, lambda p: torch.dist(p, p * 1.0, INFINITY)),
    "std_equal": ([[1.0, 1.0, 1.0], [1.0, 2.0, 3.0]], lambda p: p.std(1)), "std_one": ([[1.0], [2.0]], lambda p: p.std(1, correction=0)),
    "std_equal_biased": ([[1.0, 1.0, 1.0], [1.0, 2.0, 3.0]], lambda p: p.std(1, unbiased=False)), "var_equal": ([[1.0, 1.0], [1.0, 3.0]], lambda p: p.var(1)),
    "var_one": ([[1.0], [2.0]], lambda p: p.var(1, correction=0) + p.sum()), "std_mean": ([[1.0, 1.0], [1.0, 3.0]], lambda p: sum(torch.std_mean(p, 1))),
    "std_one_unbiased": ([[1.0], [2.0]], lambda p: finite(p.std(1)) + p.sum()), "var_one_unbiased": ([[1.0], [2.0]], lambda p: finite(p.var(1)) + p.sum()),
    "std_no_freedom": ([[1.0, 2.0]], lambda p: finite(p.std(1, correction=2)) + p.sum()), "std_all": ([1.0, 1.0], lambda p: p.std()),
    "logsumexp": (TIES, lambda p: p.logsumexp(1)), "logsumexp_part": (TIES, lambda p: p.masked_fill(p < 0, -INFINITY)[:2].logsumexp(1)),
    "logsumexp_empty": (TIES, lambda p: finite(p.masked_fill(p < 0, -INFINITY).logsumexp(1))), "logsumexp_all": ([[0.0, 0.0], [0.0, 1.0]], lambda p: finite((p + torch.tensor([[-INFINITY], [0.0]])).logsumexp(1))),
    "logsumexp_infinite": ([[0.0, 0.0], [0.0, 1.0]], lambda p: finite((p + torch.tensor([[INFINITY, 0.0], [0.0, 0.0]])).logsumexp(1))), "logsumexp_dims": (TIES, lambda p: p.logsumexp((0, 1))),
    "logsumexp_written": ([[0.0, 0.0], [0.0, 1.0]], lambda p: (p + torch.tensor([[-INFINITY, 0.0], [0.0, 0.0]])).exp().sum(1).log()),
    "softmax_masked": (TIES, lambda p: p.masked_fill(p > 2, -INFINITY).softmax(1)), "log_softmax": (TIES, lambda p: finite(p.masked_fill(p > 2, -INFINITY).log_softmax(1))),
    "softmax_empty_row": (TIES, lambda p: torch.nan_to_num(p.masked_fill(p < 0, -INFINITY).softmax(1)) + p),
    "mean_abs": (ROWS, lambda p: p.abs().mean(1)), "prod": (ZEROS, lambda p: p.prod(1)), "prod_all": (ZEROS, lambda p: p.prod() + p[2].prod()), "prod_keep": (ZEROS, lambda p: p.prod(0, keepdim=True)),
    "prod_one": ([[0.0], [2.0]], lambda p: p.prod(1)), "cumprod": (ZEROS, lambda p: p.cumprod(1)), "cumprod_0": (ZEROS, lambda p: p.cumprod(0)),
    "nansum": (ZEROS, lambda p: nan_like(p, [True, False, False]).nansum(1)), "nanmean": (ZEROS, lambda p: nan_like(p, [True, False, False]).nanmean(1)),
    "layer_norm": ([[1.0, 1.0, 1.0], [1.0, 2.0, 3.0]], lambda p: F.layer_norm(p, (3,))), "group_norm": ([[1.0, 1.0], [1.0, 2.0]], lambda p: F.group_norm(p, 1)),
    "instance_norm": ([[[1.0, 1.0], [1.0, 2.0]]], lambda p: F.instance_norm(p)), "rms_norm": ([[0.0, 0.0], [1.0, 2.0]], lambda p: F.rms_norm(p, (2,))),
    "batch_norm": ([[1.0, 1.0], [1.0, 2.0]], lambda p: F.batch_norm(p, None, None, training=True)), "local_response": ([[[0.0, 1.0], [2.0, 0.0]]], lambda p: F.local_response_norm(p, 2)),
}

ORDER = {
    "sort": (TIES, lambda p: p.sort(1)[0]), "sort_down": (TIES, lambda p: torch.sort(p, dim=1, descending=True, stable=True)[0]), "sort_0": (TIES, lambda p: p.sort(0).values),
    "msort": (TIES, torch.msort), "argsort_gather": (TIES, lambda p: p.gather(1, torch.argsort(p, dim=1, stable=True))), "topk": (TIES, lambda p: p[0].topk(1)[0] + p[0].topk(3)[0]),
    "topk_all": (TIES, lambda p: p.topk(4)[0]), "topk_smallest": ([[1.0, 2.0, 3.0]], lambda p: p.topk(2, largest=False)[0]), "kthvalue": ([[1.0, 3.0, 2.0]], lambda p: p.kthvalue(2, 1)[0]),
    "kthvalue_ties": (TIES, lambda p: p.kthvalue(4, 1)[0] + p.kthvalue(1, 1)[0]), "median": (TIES, lambda p: p.median(1)[0]), "median_all": (TIES, lambda p: p.median()),
    "median_all_ties": ([[1.0, 1.0, 1.0], [1.0, 2.0, 0.0]], lambda p: p.median()), "median_odd": ([[1.0, 3.0, 3.0], [0.0, 0.0, 0.0]], lambda p: p.median(1)[0] + p.median(0)[0].sum()),
    "nanmedian": (TIES, lambda p: p.nanmedian()), "nanmedian_dim": (TIES, lambda p: nan_like(p, [True, False, False, False]).nanmedian(1)[0]), "mode": (TIES, lambda p: p.mode(1)[0]),
    "mode_0": ([[1.0, 2.0], [2.0, 2.0], [1.0, 0.0]], lambda p: p.mode(0)[0]), "quantile": ([[1.0, 3.0, 2.0], [0.0, 0.0, 0.0]], lambda p: torch.quantile(p, 0.25, dim=1)),
    "quantiles": ([1.0, 3.0, 2.0, 2.0], lambda p: torch.quantile(p, torch.tensor([0.0, 0.5, 1.0]))),
    "cummax": (TIES, lambda p: p.cummax(1)[0]), "cummin": (TIES, lambda p: p.cummin(1)[0]), "cummax_0": (TIES, lambda p: p.cummax(0).values), "cummax_nan": ([0.0, 1.0, 2.0], lambda p: finite(nan_like(p, [False, True, False]).cummax(0)[0])),
    "argmax_gather": (TIES, lambda p: p.gather(1, p.argmax(1, keepdim=True)) + p.gather(1, p.argmin(1, keepdim=True))),
    "cumsum": (TIES, lambda p: p.cumsum(1)), "logcumsumexp": (TIES, lambda p: p.logcumsumexp(1)), "logcumsumexp_empty": ([[0.0, 0.0, 0.0, 1.0]], lambda p: finite((p + torch.tensor([-INFINITY, 0.0, -INFINITY, 0.0])).logcumsumexp(1))),
    "unique_max": (TIES, lambda p: (p == p.amax(1, keepdim=True)) * p), "flip": (TIES, lambda p: p.flip(0) + p.flip((0, 1)) + p.flip(-1)),
}

SCALAR = [[0.5, -1.5]]
ZERO = torch.tensor(0)


def scalar(function):
    """Of a tensor without dims."""
    return (SCALAR, lambda p: function(p.sum()))


RANK_0 = {
    "flip": scalar(lambda z: z.flip(0)), "flip_none": scalar(lambda z: z.flip(())), "sort": scalar(lambda z: z.sort()[0] + z.sort(descending=True, stable=True)[1]), "argsort": scalar(lambda z: z + z.argsort()),
    "argsort_0": scalar(lambda z: z + z.argsort(0)), "msort": scalar(torch.msort), "cummax": scalar(lambda z: z.cummax(0)[0] + z.cummin(-1)[1]), "topk": scalar(lambda z: z.topk(1)[0]), "topk_dim": scalar(lambda z: sum(z.topk(1, 0))),
    "median": scalar(lambda z: z.median()), "median_dim": scalar(lambda z: sum(z.median(0))), "kthvalue": scalar(lambda z: sum(z.kthvalue(1))), "mode": scalar(lambda z: z.mode()[0]), "nanmedian": scalar(lambda z: z.nanmedian() + z.nanmedian(0)[0]),
    "movedim": scalar(lambda z: z.movedim(0, 0) + z.movedim((), ())), "moveaxis": scalar(lambda z: torch.moveaxis(z, -1, 0)), "index_select": scalar(lambda z: z.index_select(0, torch.tensor([0])) + z.index_select(0, ZERO)),
    "scatter": scalar(lambda z: z.scatter(0, ZERO, z * 2)), "scatter_value": scalar(lambda z: z + z.scatter(0, ZERO, 3.0)), "scatter_add": scalar(lambda z: z.scatter_add(0, ZERO, z * 2)),
    "scatter_reduce": scalar(lambda z: z.scatter_reduce(0, ZERO, z * 2, "amax") + z.scatter_reduce(0, ZERO, z, "mean", include_self=False)), "index_add": scalar(lambda z: z.index_add(0, torch.tensor([0]), z * 2)),
    "index_add_0": scalar(lambda z: z.index_add(0, ZERO, z * 2, alpha=0.5)), "index_fill": scalar(lambda z: z + z.index_fill(0, ZERO, 2.0)), "index_copy": scalar(lambda z: z.index_copy(0, ZERO, z * 3)),
    "gather": scalar(lambda z: z.gather(0, ZERO)), "take": scalar(lambda z: z.take(ZERO)), "take_along_dim": scalar(lambda z: z.take_along_dim(torch.tensor([0]))), "roll": scalar(lambda z: z.roll(1)), 
    "cumsum": scalar(lambda z: z.cumsum(0) + z.cumprod(-1)), "sum": scalar(lambda z: z.sum(0) + z.mean(-1) + z.prod(0) + z.amax(0) + z.amin(-1) + z.amax(())), "max": scalar(lambda z: sum(z.max(0)) + sum(z.min(-1))),
    "argmax": scalar(lambda z: z + z.argmax() + z.argmin(0)), "softmax": scalar(lambda z: z.softmax(0) + z.log_softmax(-1) + z), "logsumexp": scalar(lambda z: z.logsumexp(0)), "norm": scalar(lambda z: z.norm() + torch.linalg.vector_norm(z, dim=0)),
    "var": scalar(lambda z: z.var(correction=0) + z.std(0, correction=0) + z), "unsqueeze": scalar(lambda z: z.unsqueeze(0) + z.unsqueeze(-1)), "squeeze": scalar(lambda z: z.squeeze() + z.squeeze(0) + z.squeeze(-1)),
    "transpose": scalar(lambda z: z.transpose(0, -1) + z.t() + z.permute(())), "expand": scalar(lambda z: z.expand(2, 3) + z.repeat(2, 1) + z.broadcast_to(3)), "flatten": scalar(lambda z: z.flatten() + z.ravel() + z.reshape(1)), "tile": scalar(lambda z: z.tile((2,))),
    "stack": scalar(lambda z: torch.stack([z, z * 2]) + torch.hstack([z, z])), "atleast": scalar(lambda z: torch.atleast_1d(z) + torch.atleast_2d(z)), "diag_embed": scalar(lambda z: torch.diag_embed(z.view(1))),
    "all_any": scalar(lambda z: z + z.all() + z.any(0) + (z > 0).all(0)), "where": scalar(lambda z: torch.where(z > 0, z, -z)), "masked_fill": scalar(lambda z: z.masked_fill(z > 0, 3.0) + z), "repeat_interleave": scalar(lambda z: z.repeat_interleave(2)),
    "dropout": scalar(lambda z: F.dropout(z, 0.0)), "unflatten": scalar(lambda z: z.view(1).unflatten(0, (1, 1))), "narrow": scalar(lambda z: z[None].narrow(0, 0, 1)), "count_nonzero": scalar(lambda z: z + z.count_nonzero() + z.count_nonzero(0)),
    "matmul": scalar(lambda z: torch.dot(z.view(1), z.view(1)) + torch.outer(z.view(1), z.view(1))), "einsum": scalar(lambda z: torch.einsum(",->", z, z) + torch.einsum(",a->a", z, torch.ones(2))), "index": scalar(lambda z: z[...] + z[None] + z[()]),
    "index_put": scalar(lambda z: torch.index_put(z.view(1), (torch.tensor([0]),), z * 2)), "logcumsumexp": scalar(lambda z: z.logcumsumexp(0)), "renorm_like": scalar(lambda z: F.normalize(z, dim=0)), "chunk": scalar(lambda z: z.view(1).chunk(1)[0]),
    "rot90": scalar(lambda z: torch.rot90(z.view(1, 1))), "fliplr": scalar(lambda z: torch.fliplr(z.view(1, 1)) + torch.flipud(z.view(1))), "select_scatter": scalar(lambda z: torch.select_scatter(z.view(1), z * 2, 0, 0)), "diff": scalar(lambda z: torch.cat([z.view(1), z.view(1) * 3]).diff()),
    "meshgrid": scalar(lambda z: torch.meshgrid(z, z, indexing="ij")[0]), "quantile": scalar(lambda z: torch.quantile(z, 0.5)), "minmax": scalar(lambda z: sum(torch.aminmax(z)) + z.min() + z.max()), "logical": scalar(lambda z: z + torch.logical_not(z)),
}

EINSUM = {
    "one": (TIES, lambda p: torch.einsum("ab,cb->ac", p, p[:, :1])), "one_batch": (TIES, lambda p: torch.einsum("ab,ab->a", p[:1], p)), "one_both": (TIES, lambda p: torch.einsum("ab,ab->ab", p[:1], p[:, :1])),
    "one_kept": (TIES, lambda p: torch.einsum("ab,cb->abc", p[:, :1], p)), "one_alone": (TIES, lambda p: torch.einsum("ab->b", p[:1])), "one_all": (TIES, lambda p: torch.einsum("ab,ab->", p[:1, :1], p[:1, :1])),
    "one_three": (TIES, lambda p: torch.einsum("ab,b,cb->ac", p, p[0, :1], p)), "one_sum": (TIES, lambda p: torch.einsum("ab,cd->ac", p[:, :1], p)), "ellipsis": (TIES, lambda p: torch.einsum("...b,cb->...c", p, p[:, :1])),
    "ellipsis_one": ([TIES, TIES], lambda p: torch.einsum("...ab,...bc->...ac", p[:1], p.transpose(1, 2))), "diagonal": ([[1.0, 2.0], [3.0, 4.0]], lambda p: torch.einsum("aa,ab->b", p, p[:, :1] @ p[:1])), "one_parameter": (TIES, lambda p: torch.einsum("ab,b->a", p, p[0, :1])),
}

INDEX = torch.tensor([[0, 0, 1, 1], [1, 1, 0, 0]])
SELF = [[0.0, 1.0, 2.0, 0.0], [1.0, 0.0, 2.0, 1.0]]
SOURCE = torch.tensor([[0.0, 1.0, 2.0, 3.0], [1.0, 1.0, 0.0, 0.0]])
BOTH = [SELF, [[0.0, 1.0, 2.0, 3.0], [1.0, 1.0, 0.0, 0.0]]]
MANY = torch.tensor([[0, 0, 0, 0], [0, 1, 0, 1]])


def scattered(how, index=INDEX, dim=0, **options):
    return (BOTH, lambda p: p[0].scatter_reduce(dim, index, p[1], how, **options))


def indexed(how, **options):
    return (BOTH, lambda p: p[0].index_reduce(0, torch.tensor([1, 1]), p[1], how, **options))


SCATTERS = {}
for how in ("sum", "prod", "mean", "amax", "amin"):
    for include in (True, False):
        suffix = "" if include else "_without"
        SCATTERS[f"{how}{suffix}"] = scattered(how, include_self=include)
        SCATTERS[f"{how}_many{suffix}"] = scattered(how, MANY, 1, include_self=include)
        if how != "sum":
            SCATTERS[f"index_{how}{suffix}"] = indexed(how, include_self=include)
SCATTERS |= {
    "amin_of_zeros": ([[0.0, 0.0, 0.0]], lambda p: torch.zeros_like(p).scatter_reduce(-1, torch.zeros_like(p, dtype=torch.long), p, "amin")),
    "amax_of_zeros": ([[0.0, 0.0, 0.0]], lambda p: torch.zeros_like(p).scatter_reduce(-1, torch.zeros_like(p, dtype=torch.long), p, "amax")),
    "amax_of_itself": (SELF, lambda p: p.scatter_reduce(0, INDEX, p, "amax")), "prod_of_itself": (SELF, lambda p: p.scatter_reduce(0, INDEX, p, "prod")),
    "amax_short": (SELF, lambda p: p[:1].scatter_reduce(1, torch.tensor([[0, 0]]), SOURCE[:1, :2], "amax")), "prod_zeros": (BOTH, lambda p: (p[0] * 0).scatter_reduce(0, INDEX, p[1] * 0, "prod") + p.sum()),
    "scatter": (BOTH, lambda p: p[0].scatter(0, torch.tensor([[0, 1, 0, 1]]), p[1, :1])), "scatter_add": (BOTH, lambda p: p[0].scatter_add(0, INDEX, p[1])), "scatter_multiply": (BOTH, lambda p: (p[0] * 1.0).index_add(0, torch.tensor([1, 1]), p[1])),
    "index_add": (BOTH, lambda p: p[0].index_add(1, torch.tensor([0, 0, 1, 3]), p[1], alpha=2)), "index_put": (BOTH, lambda p: torch.index_put(p[0], (torch.tensor([0, 0]),), p[1], accumulate=True)),
    "embedding_max": (SELF, lambda p: F.embedding_bag(torch.tensor([[0, 1], [1, 1]]), p, mode="max")), "masked_scatter": (SELF, lambda p: (p * 2).masked_scatter(SOURCE > 0, p * 3)),
    "segment_like": (BOTH, lambda p: torch.full((2, 4), -INFINITY).scatter_reduce(0, INDEX, p[1], "amax", include_self=False)),
}

IMAGE = [[[[1.0, 1.0, 0.0, 2.0, 2.0], [1.0, 1.0, 2.0, 2.0, 0.0], [0.0, 0.0, 0.0, 0.0, 0.0], [3.0, 1.0, 3.0, -1.0, -1.0], [0.0, 3.0, 0.0, -1.0, -1.0]]]]
LINE = [[[0.0, 1.0, 1.0, -1.0, -1.0, 2.0, 2.0]]]
HOLE = torch.tensor(IMAGE) == 3.0

POOLS = {
    "max": (IMAGE, lambda p: F.max_pool2d(p, 2)), "max_overlap": (IMAGE, lambda p: F.max_pool2d(p, 3, 1)), "max_padded": (IMAGE, lambda p: F.max_pool2d(p, 3, 2, 1)), "max_dilated": (IMAGE, lambda p: F.max_pool2d(p, 2, 1, 0, 2)),
    "max_ceil": (IMAGE, lambda p: F.max_pool2d(p, 2, ceil_mode=True)), "max_1d": (LINE, lambda p: F.max_pool1d(p, 2, 1)), "max_1d_padded": (LINE, lambda p: F.max_pool1d(p, 3, 2, 1)), "max_3d": ([[[[[0.0, 0.0], [0.0, 0.0]], [[0.0, 0.0], [0.0, 1.0]]]]], lambda p: F.max_pool3d(p, (1, 2, 2))),
    "max_indices": (IMAGE, lambda p: sum(F.max_pool2d(p, 2, return_indices=True))), "max_nan": (IMAGE, lambda p: finite(F.max_pool2d(torch.where(HOLE, torch.nan, p), 2)) + p.sum()), "max_empty": (IMAGE, lambda p: finite(F.max_pool2d(torch.where(p >= 1, -INFINITY, p), 2, 1))),
    "max_zeros": ([[[[0.0] * 4] * 4]], lambda p: F.max_pool2d(p, 2)), "max_relu": (IMAGE, lambda p: F.max_pool2d(F.relu(p - 1), 2)), "adaptive_max": (IMAGE, lambda p: F.adaptive_max_pool2d(p, 2)), "adaptive_max_1": (IMAGE, lambda p: F.adaptive_max_pool2d(p, 1)),
    "adaptive_max_uneven": (IMAGE, lambda p: F.adaptive_max_pool2d(p, (3, 4))), "adaptive_max_mixed": (IMAGE, lambda p: F.adaptive_max_pool2d(p, (1, 5)) + F.adaptive_max_pool2d(p, (2, 1))), "adaptive_max_1d": (LINE, lambda p: F.adaptive_max_pool1d(p, 3)),
    "adaptive_max_all": (LINE, lambda p: F.adaptive_max_pool1d(p, 1)), "adaptive_average": (IMAGE, lambda p: F.adaptive_avg_pool2d(p, (2, 3))), "average": (IMAGE, lambda p: F.avg_pool2d(p, 3, 2, 1) + F.avg_pool2d(p, 3, 2, 1, count_include_pad=False)),
    "average_ceil": (IMAGE, lambda p: F.avg_pool2d(p, 2, ceil_mode=True)), "lp": (IMAGE, lambda p: F.lp_pool2d(p, 2, 2)), "lp_1": (IMAGE, lambda p: F.lp_pool2d(p.abs(), 1, 2)), "lp_3": ([[[[1.0, 2.0], [2.0, 1.0]]]], lambda p: F.lp_pool2d(p, 3, 2)),
    "lp_zeros": ([[[[0.0, 0.0], [0.0, 0.0]]]], lambda p: F.lp_pool2d(p, 2, 2)), "global_max": (IMAGE, lambda p: p.amax((2, 3)) + p.flatten(2).max(2)[0]), "max_by_unfold": (IMAGE, lambda p: F.unfold(p, 2).amax(1) + F.unfold(p, 2).max(1)[0]),
    "adaptive_max_3d": ([[[[[0.0, 0.0], [1.0, 1.0]], [[0.0, 1.0], [0.0, 1.0]]]]], lambda p: F.adaptive_max_pool3d(p, (1, 2, 1))), "fractional_like": (LINE, lambda p: p.unfold(2, 3, 2).amax(-1)), "max_no_batch": (IMAGE, lambda p: F.max_pool2d(p[0], 2)),
    "unpool_like": (IMAGE, lambda p: F.max_pool2d(p, 5)), "max_stride_2": (IMAGE, lambda p: F.max_pool2d(p, (3, 2), (1, 2), (1, 0))), "minimum_pool": (IMAGE, lambda p: -F.max_pool2d(-p, 2)),
}

# The sizes are powers of two, so that positions are exact: whether x * 1.5 - 0.5 is rounded once or twice decides on which side of a pixel
# it lies, and PyTorch does what the processor offers.
PICTURE = torch.tensor([[[[0.3, 1.2, -0.4, 0.8], [0.9, -1.1, 0.2, 0.5]]]])
# Corners and edges of the image and of its pixels, the middle, and places far out, whichever way corners are aligned.
PLACES = [-3.0, -2.0, -1.5, -1.25, -1.0, -0.75, -0.5, -1 / 3, 0.0, 1 / 3, 0.5, 0.75, 1.0, 1.25, 1.5, 2.0, 3.0]
GRID = [[[[x, y] for x in PLACES] for y in (-1.0, -0.5, 0.25, 1.0, 2.0)]]
VOLUME = torch.arange(16.0).view(1, 1, 2, 2, 4).sin()
SPOTS = [[[[[x, y, z] for x in (-1.5, -1.0, -0.75, 0.0, 1.0)] for y in (-1.0, 0.5, 1.0)] for z in (-1.0, 0.0, 0.5, 1.5)]]

SAMPLING = {}
for mode in ("bilinear", "nearest", "bicubic"):
    for border in ("zeros", "border", "reflection"):
        for align in (False, True):
            name = f"{mode}_{border}{'_aligned' if align else ''}"
            options = {"mode": mode, "padding_mode": border, "align_corners": align}
            SAMPLING[f"{name}_grid"] = (GRID, lambda p, o=options: F.grid_sample(PICTURE, p, **o) + 0 * p.sum())
            SAMPLING[f"{name}_image"] = (PICTURE.tolist(), lambda p, o=options: F.grid_sample(p, torch.tensor(GRID), **o))
            if mode != "bicubic":
                SAMPLING[f"{name}_volume"] = (SPOTS, lambda p, o=options: F.grid_sample(VOLUME, p, **o) + 0 * p.sum())
for border in ("zeros", "border", "reflection"):
    SAMPLING[f"thin_{border}"] = ([[[[-1.0, -1.0], [0.0, 0.0], [0.5, 1.0], [2.0, 0.3]]]], lambda p, b=border: F.grid_sample(PICTURE[:, :, :1], p, padding_mode=b, align_corners=False) + F.grid_sample(PICTURE[:, :, :, :1], p, padding_mode=b, align_corners=True))
    for align in (False, True):
        SAMPLING[f"identity_{border}{'_aligned' if align else ''}"] = (
            [[[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]], lambda p, b=border, a=align: F.grid_sample(PICTURE, F.affine_grid(p, [1, 1, 2, 4], align_corners=a), padding_mode=b, align_corners=a))

SMALL = [[[[0.0, 1.0, 1.0], [1.0, 0.0, 2.0], [2.0, 2.0, 2.0]]]]


def sized(mode, size, **options):
    return (SMALL, lambda p: F.interpolate(p, size, mode=mode, **options))


RESIZE = {
    "nearest": sized("nearest", (6, 6)), "nearest_uneven": sized("nearest", (5, 4)), "nearest_down": sized("nearest", (2, 2)), "nearest_exact": sized("nearest-exact", (5, 4)), "nearest_exact_down": sized("nearest-exact", (2, 2)),
    "bilinear": sized("bilinear", (5, 4), align_corners=False), "bilinear_aligned": sized("bilinear", (5, 4), align_corners=True), "bilinear_one": sized("bilinear", (1, 1), align_corners=True), "bilinear_same": sized("bilinear", (3, 3), align_corners=False),
    "bicubic": sized("bicubic", (5, 4), align_corners=False), "bicubic_aligned": sized("bicubic", (5, 4), align_corners=True), "area": sized("area", (2, 2)), "bilinear_antialias": sized("bilinear", (2, 2), antialias=True),
    "bicubic_antialias": sized("bicubic", (2, 2), antialias=True), "linear": (LINE, lambda p: F.interpolate(p, 10, mode="linear", align_corners=False)), "scale": (SMALL, lambda p: F.interpolate(p, scale_factor=1.5, mode="bilinear")),
    "scale_recompute": (SMALL, lambda p: F.interpolate(p, scale_factor=1.7, mode="bilinear", recompute_scale_factor=True)), "reflect": (SMALL, lambda p: F.pad(p, (1, 2, 2, 1), "reflect")), "replicate": (SMALL, lambda p: F.pad(p, (1, 2, 2, 1), "replicate")),
    "circular": (SMALL, lambda p: F.pad(p, (1, 2, 2, 1), "circular")), "negative": (SMALL, lambda p: F.pad(p, (-1, 1, 0, -1))), "pixel_shuffle": ([[[[1.0]], [[0.0]], [[2.0]], [[0.0]]]], lambda p: F.pixel_shuffle(p, 2)),
}
