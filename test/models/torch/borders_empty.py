"""Cases of borders.py with tensors of no elements; see borders_elementwise.py. Also run on several ranks."""

import torch
from torch.nn import functional as F

TABLE = [[1.0, 2.0, 3.0, 4.0], [0.5, -1.0, 2.0, 0.0], [3.0, 1.0, -2.0, 1.5], [0.1, 0.2, 0.3, 0.4], [1.0, 1.0, 2.0, 2.0], [0.0, -3.0, 1.0, 2.0]]
COLUMN = [[1.0], [2.0], [3.0], [4.0], [5.0], [6.0], [7.0]]


def both(function):
    """Of rows and of columns of the table, each without elements; the whole table is used, too."""
    return (TABLE, lambda p: torch.cat([function(p, p[:, :0]).flatten(), function(p.t(), p.t()[:, :0]).flatten(), p.pow(2).flatten()]))


EMPTY = {
    "sum": both(lambda p, none: none.sum(1) + p.sum(1)), "sum_all": both(lambda p, none: none.sum() + p.sum()), "sum_kept": both(lambda p, none: none.sum(1, keepdim=True) * p),
    "sum_of_squares": (TABLE, lambda p: p[:, :0].sum(1).add(p.sum(1)).pow(2)), "sum_of_columns": both(lambda p, none: none.sum(0)), "prod": both(lambda p, none: none.prod(1) * p.sum(1)),
    "prod_all": both(lambda p, none: none.prod() * p), "mean": both(lambda p, none: torch.nan_to_num(none.mean(1)) + p.sum(1)), "norm": both(lambda p, none: torch.linalg.vector_norm(none, dim=1) + p.sum(1)),
    "cat": both(lambda p, none: torch.cat([none, p, none], 1)), "cat_rows": (TABLE, lambda p: torch.cat([p[1::3], p[:0]]) * 2), "cat_only": both(lambda p, none: torch.cat([none, none], 1)),
    "product": both(lambda p, none: none @ none.t() + p @ p.t()), "product_empty": both(lambda p, none: p.t() @ none), "product_none": both(lambda p, none: none.t() @ none),
    "softmax": both(lambda p, none: none.softmax(1).sum(1) + p.softmax(1).sum(1)), "softmax_rows": both(lambda p, none: none.softmax(0)), "log_softmax": both(lambda p, none: none.log_softmax(1).sum(1)),
    "relu": both(lambda p, none: F.relu(none) * 2), "exp_sum": both(lambda p, none: none.exp().sum(1) + p.exp().sum(1) * 0.01), "transpose": both(lambda p, none: none.t().reshape(0, 2)),
    "expand": both(lambda p, none: none.sum(1, keepdim=True).expand(-1, 3) + p[:, :3]), "expand_none": both(lambda p, none: p[:, :1].expand(-1, 4)[:, :0]), "repeat": both(lambda p, none: none.repeat(2, 3)), "repeat_no_times": both(lambda p, none: p.repeat(0, 2)),
    "pad": both(lambda p, none: F.pad(none, (1, 1), value=2.0) * p[:, :2]), "pad_away": (COLUMN, lambda p: F.pad(p, (-1, 1)) + p), "pad_shift": (COLUMN, lambda p: F.pad(p, (0, 0, -1, 1)) * p), "pad_zero": both(lambda p, none: F.pad(p, (0, -p.shape[1]))),
    "split": both(lambda p, none: torch.cat([p.split([0, p.shape[1]], 1)[1], p.split([p.shape[1], 0], 1)[1]], 1)), "gather": both(lambda p, none: p.gather(1, torch.zeros(p.shape[0], 0, dtype=torch.long))),
    "index": both(lambda p, none: p[torch.zeros(0, dtype=torch.long)]), "index_select": both(lambda p, none: p.index_select(1, torch.zeros(0, dtype=torch.long))), "embedding": (TABLE, lambda p: F.embedding(torch.zeros(0, 3, dtype=torch.long), p).sum() + p),
    "scatter": both(lambda p, none: p.scatter_add(1, torch.zeros(p.shape[0], 0, dtype=torch.long), none)), "index_add": both(lambda p, none: p.index_add(0, torch.zeros(0, dtype=torch.long), p[:0])), "index_put": both(lambda p, none: p.index_put((torch.zeros(0, dtype=torch.long),), p[:0])),
    "cumsum": both(lambda p, none: none.cumsum(1).sum(1) + p.cumsum(1).sum(1)), "sort": both(lambda p, none: none.sort(1)[0]), "flip": both(lambda p, none: none.flip(0, 1)), "roll": both(lambda p, none: none.roll(1, 0)), "where": both(lambda p, none: torch.where(none > 0, none, 1.0)),
    "maximum": both(lambda p, none: torch.maximum(none, none * 2)), "stack": both(lambda p, none: torch.stack([none, none])), "linear": (TABLE, lambda p: F.linear(p[:0], p[:2]) .sum() + F.linear(p, p[:0]).sum() + p), "bmm": (TABLE, lambda p: torch.bmm(p[None, :, :0], p[None, :0, :].transpose(1, 2).transpose(1, 2)) + p),
    "einsum": both(lambda p, none: torch.einsum("ab,cb->ac", none, none) + p @ p.t()), "outer": both(lambda p, none: torch.outer(p[0], p[0, :0])), "layer_norm": both(lambda p, none: F.layer_norm(p[:0], p.shape[1:])), "mse": (TABLE, lambda p: torch.nan_to_num(F.mse_loss(p[:0], p[:0])) + p),
    "l1_sum": (TABLE, lambda p: F.l1_loss(p[:0], p[:0], reduction="sum") + p), "cross_entropy_sum": (TABLE, lambda p: F.cross_entropy(p[:0], torch.zeros(0, dtype=torch.long), reduction="sum") + p), "unbind": both(lambda p, none: none.unbind(0)[0]), "diagonal": both(lambda p, none: none.diagonal()),
    "conv": ([[[1.0, 2.0, 3.0]], [[4.0, 5.0, 6.0]]], lambda p: F.conv1d(p[:0], p[:, :, :2]).sum() + p), "std": both(lambda p, none: torch.nan_to_num(none.std(1)) + p.sum(1)), "any": both(lambda p, none: none.any(1) + none.all(1) + p.sum(1)), "logsumexp": both(lambda p, none: torch.exp(none.logsumexp(1)) + p.sum(1)),
    "view": both(lambda p, none: none.reshape(-1, 3)), "unsqueeze": both(lambda p, none: none.unsqueeze(1) * p.unsqueeze(2)), "batch": both(lambda p, none: (none.unsqueeze(2) @ none.unsqueeze(1)).sum((1, 2)) + p.sum(1)), "attention": (TABLE, lambda p: F.scaled_dot_product_attention(p[None, None, :0], p[None, None], p[None, None]).sum() + p),
    "attention_keys": (TABLE, lambda p: torch.nan_to_num(F.scaled_dot_product_attention(p[None, None], p[None, None, :0], p[None, None, :0])).sum() + p),
}
