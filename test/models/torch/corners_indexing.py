"""Corners of indexing, and of writes through views; see corners.py."""

import torch
from torch.nn import functional as F

from corner_values import random, positive, TIES

INDEXING = {
    "index_negative": (random(4, 3), lambda p, i: p[-1] + p[[-1, 0, -2]] + p[:, -1].sum()),
    "index_negative_data": (random(4, 3), lambda p, i: p[(i % 4) - 4]),
    "index_none": (random(4, 3), lambda p, i: p[None, :, None] + p[..., None, :].sum()),
    "index_apart": (random(4, 3, 5), lambda p, i: p[i[:4], :, i[:4]]),
    "index_apart_slice": (random(4, 3, 5), lambda p, i: p[1:, :, i[:2]].sum() + p[i[:2], 1:, i[1:3]]),
    "index_neighbours": (random(4, 3, 5), lambda p, i: p[:, i[:2], i[3:5]]),
    "index_broadcast": (random(4, 3, 5), lambda p, i: p[i[:2, None], i[:3]]),
    "index_scalar_and_tensor": (random(4, 3, 5), lambda p, i: p[0, :, i[:3]]),
    "index_scalar_middle": (random(4, 3, 5), lambda p, i: p[i[:2], 1, i[:2]]),
    "index_matrix": (random(4, 3), lambda p, i: p[i.view(2, 3) % 4]),
    "index_duplicates": (random(4, 3), lambda p, i: p[[1, 1, 2, 1]]),
    "index_ellipsis": (random(2, 3, 4), lambda p, i: p[..., i[:2]] + p[:, ..., 0].unsqueeze(-1)),
    "index_none_tensor": (random(4, 3), lambda p, i: p[i[:2], None, i[:2]]),
    "index_steps": (random(6, 4), lambda p, i: p[1:6:2, ::3] + p[-3:, -2:].mean()),
    "index_out_of_range_slice": (random(4, 3), lambda p, i: p[1:100, -100:2]),
    "index_empty": (random(4, 3), lambda p, i: torch.cat([p[4:], p[2:1], p])),
    "masked_mean": (random(4, 3), lambda p, i: torch.where(p > 0, p, torch.zeros_like(p)).sum() / (p > 0).sum()),
    "put_slice": (random(4, 3), lambda p, i: torch.zeros(4, 3).index_put((i[:2],), p[:2])),
    "put_accumulate": (random(4, 3), lambda p, i: torch.ones(4, 3).index_put((i[:3] % 2,), p[:3], accumulate=True)),
    "put_pair": (random(3), lambda p, i: torch.zeros(4, 3).index_put((i[:3], i[:3]), p)),
    "put_broadcast": (random(1), lambda p, i: torch.zeros(4, 3).index_put((i[:3], i[:3]), p)),
    "put_apart": (random(2, 3), lambda p, i: put_apart(p, i)),
    "put_mask_value": (random(4, 3), lambda p, i: put_mask(p, i)),
    "put_mask_rows": (random(4, 3), lambda p, i: put_mask_rows(p, i)),
    "put_mask_self": (random(4, 3), lambda p, i: put_mask_self(p, i)),
    "put_negative": (random(4, 3), lambda p, i: put_negative(p, i)),
    "gather": (random(4, 3), lambda p, i: p.gather(1, i.view(2, 3) % 3) + p.gather(0, i.view(2, 3) % 4)),
    "gather_narrow": (random(4, 3), lambda p, i: p.gather(0, i[:2].view(1, 2))),
    "gather_duplicates": (random(4, 3), lambda p, i: p.gather(-1, torch.zeros(4, 2, dtype=torch.int64))),
    "take": (random(4, 3), lambda p, i: torch.take(p, i * 2) + torch.take(p, i - 6)),
    "take_along": (random(4, 3), lambda p, i: torch.take_along_dim(p, p.argsort(1), 1) + torch.take_along_dim(p, i[:3] * 2)),
    "select_rows": (random(4, 3), lambda p, i: p.index_select(-1, i[:2]) + p.index_select(0, i[:4]).mean()),
    "scatter": (random(4, 3), lambda p, i: torch.zeros(4, 3).scatter(1, i.view(2, 3) % 3, p[:2]) + p.scatter(0, i.view(2, 3) % 4, 0.5)),
    "scatter_larger": (random(4, 3), lambda p, i: torch.zeros(4, 5).scatter(1, i.view(2, 3) % 5, p.detach()) + p.sum()),
    "scatter_add": (random(4, 3), lambda p, i: p.scatter_add(0, torch.zeros(2, 3, dtype=torch.int64), p[:2] * 2)),
    "scatter_multiply": (positive(4, 3), lambda p, i: p.detach().scatter(0, i.view(2, 3) % 4, 2.0, reduce="multiply") + p),
    "scatter_amax": (random(4, 3), lambda p, i: p.scatter_reduce(0, i.view(2, 3) % 2, p[2:], "amax")),
    "scatter_amin_ties": (TIES, lambda p, i: torch.zeros(4).scatter_reduce(0, torch.tensor([0, 1, 1, 2]), p[0] - 4, "amin")),
    "scatter_sum": (random(6), lambda p, i: torch.ones(3).scatter_reduce(0, i % 3, p, "sum")),
    "scatter_prod": (positive(6), lambda p, i: torch.ones(3).scatter_reduce(0, i % 3, p, "prod")),
    "scatter_mean": (random(6), lambda p, i: torch.ones(3).scatter_reduce(0, i % 3, p, "mean")),
    "scatter_fresh_sum": (random(6), lambda p, i: torch.ones(4).scatter_reduce(0, i % 3, p, "sum", include_self=False)),
    "scatter_fresh_amax": (random(6), lambda p, i: torch.ones(4).scatter_reduce(0, i % 3, p, "amax", include_self=False)),
    "scatter_fresh_mean": (random(6), lambda p, i: torch.ones(4).scatter_reduce(0, i % 3, p, "mean", include_self=False)),
    "index_add": (random(4, 3), lambda p, i: p.index_add(0, torch.tensor([0, 0, 2]), p[1:], alpha=-2) + p.index_add(1, i[:2], p[:, :2])),
    "index_copy": (random(4, 3), lambda p, i: p.index_copy(0, torch.tensor([3, 1]), p[:2] * 2)),
    "index_fill": (random(4, 3), lambda p, i: p.index_fill(1, torch.tensor([0, 2]), -1.0)),
    "masked_scatter": (random(4, 3), lambda p, i: torch.zeros(4, 3).masked_scatter(p > 0, p * 2)),
    "embedding": (random(4, 3), lambda p, i: F.embedding(i % 4, p) + F.embedding(i.view(2, 3) % 4, p, padding_idx=-1).sum(1).sum()),
    "embedding_bag": (random(4, 3), lambda p, i: F.embedding_bag(i % 4, p, torch.tensor([0, 2, 4]), mode="sum")),
    "embedding_bag_max": (random(4, 3), lambda p, i: F.embedding_bag(i.view(2, 3) % 4, p, mode="max")),
    "embedding_bag_uneven": (random(4, 3), lambda p, i: F.embedding_bag(i % 4, p, torch.tensor([0, 1, 4]), mode="mean")),
    "embedding_bag_weights": (random(4, 3), lambda p, i: F.embedding_bag(i.view(2, 3) % 4, p, per_sample_weights=i.view(2, 3) * 0.1, mode="sum")),
    "nonzero_like": (random(4, 3), lambda p, i: (p != 0).float() * p),
    "tril_indices_like": (random(4, 4), lambda p, i: p.tril(-1) + p.triu(1) * 2 + p.tril(1)[:, 2:].sum()),
    "bucket_like": (random(6), lambda p, i: (p.unsqueeze(1) > torch.tensor([-1.0, 0.0, 1.0])).sum(1) + p),
    "roll": (random(4, 3), lambda p, i: p.roll(1) + p.roll((1, -1), (0, 1)) * 2 + p.roll(-5, 0)),
    "flip_rot": (random(3, 3), lambda p, i: p.flip(0, -1) + torch.rot90(p, 1, (0, 1)) * 2 + p.fliplr() + p.flipud()),
}


def put_apart(p, i):
    x = torch.zeros(4, 3, 5)
    x[i[:2], :, i[:2]] = p
    return x


def put_mask(p, i):
    y = p * 1
    y[y > 0] = 0.5
    y[i[:4] > 2] = 1
    return y


def put_mask_rows(p, i):
    y = p * 2
    y[i[:4] > 1] = p[0]
    return y


def put_mask_self(p, i):
    y = p * 2
    mask = y > 0
    y = torch.where(mask, y * 3, y)
    y[~mask] = -1
    return y


def put_negative(p, i):
    y = p * 2
    y[-1] = p[0]
    y[i[:2] - 4, -1] = 0.25
    y[[0, -2], [1, -1]] += p[0, :2]
    return y


def written(steps):
    """A case that writes in place to a copy of the parameter."""

    def run(p, i):
        y = p * 2
        out = steps(y, p, i)
        return y if out is None else torch.cat([y.flatten(), out.flatten()])

    return run


def w_unsqueezed_column(y, p, i):
    y[:, 1].unsqueeze(0).add_(1)


def w_none_index(y, p, i):
    y[:, 1, None] *= 3


def w_view_of_slice(y, p, i):
    y[1:3].view(-1).mul_(2)


def w_transposed_unsqueezed(y, p, i):
    y.t().unsqueeze(1).mul_(torch.arange(1.0, 4.0).view(3, 1, 1))


def w_double_transpose(y, p, i):
    y.t().t().reshape(-1)[2:5].zero_()


def w_squeeze(y, p, i):
    y[:, 1:2].squeeze(1).fill_(0.5)


def w_row_one(y, p, i):
    y[:1].t().reshape(-1).add_(1)


def w_unflatten(y, p, i):
    y.t()[:, :2].unflatten(0, (3, 1)).mul_(0.5)


def w_diagonal(y, p, i):
    y.diagonal().zero_()
    y.diagonal(1).add_(p[0, :2])


def w_fill_diagonal(y, p, i):
    y.fill_diagonal_(0.5)


def w_movedim(y, p, i):
    y.movedim(0, 1)[0].add_(p[:, 0])


def w_unbind(y, p, i):
    z = torch.ones(4, 3)
    for k, row in enumerate(z.unbind(0)):
        row.mul_(k + 1)
    return z * p


def w_chunk(y, p, i):
    z = p.detach() * 2
    a, b = z.chunk(2, dim=0)
    a.add_(b)
    b.copy_(a * 2)
    return z * p


def w_split_columns(y, p, i):
    z = p.detach() * 2
    a, b = z.split([1, 2], dim=1)
    b -= a
    return z * p


def w_copy_broadcast(y, p, i):
    y[1:].copy_(p[0])


def w_expand_write(y, p, i):
    y[:1].expand(1, 3).add_(1)


def w_loop(y, p, i):
    for k in range(1, 4):
        y[k] = y[k - 1] * 0.5 + p[k]


def w_loop_columns(y, p, i):
    for k in range(3):
        y[:, k] += y[:, (k + 1) % 3].clone()


def w_view_then_read(y, p, i):
    z = y.view(3, 4)
    y.add_(1)
    z.mul_(2)
    return z * 3


def w_old_value(y, p, i):
    a = y + 1
    b = y[1:]
    y.mul_(0.5)
    return torch.cat([a + y, b])


def w_chained(y, p, i):
    y.add_(1).mul_(2).clamp_(-1, 3).sub_(p)


def w_relu_view(y, p, i):
    z = y.reshape(2, 6)
    F.relu_(z[:, 1:4])
    return z.sigmoid()


def w_index_put_view(y, p, i):
    y[:, 1:][i[:2]] = p[:2, :2]


def w_masked_fill_view(y, p, i):
    y[1:].masked_fill_(p[1:] > 0, -0.5)


def w_scatter_view(y, p, i):
    y[:, :2].scatter_add_(0, i[:4].view(2, 2) % 4, p[:2, :2])


def w_reshape_copy(y, p, i):
    z = y.t().reshape(-1)
    z.add_(1)
    return z


def w_contiguous(y, p, i):
    z = y.t().contiguous()
    z.view(-1)[:2].zero_()
    w = y.contiguous()
    w[0].add_(1)
    return z


def w_detached_write(y, p, i):
    z = y * 3
    with torch.no_grad():
        z.mul_(0.5)
        z[0].add_(1)
    return z


def w_no_grad_copy(y, p, i):
    z = y * 3
    with torch.no_grad():
        z[1:].copy_(p[:3] * 7)
        z.clamp_(-2, 2)
    z.mul_(2)
    return z


def w_no_grad_itself(y, p, i):
    """Where nothing is to be done, PyTorch returns the tensor itself, which keeps its gradient; a view has none."""
    z = y * 3
    with torch.no_grad():
        same = [z.flatten(1, 1), torch.atleast_2d(z), torch.positive(z), z.sum_to_size(z.shape), z.contiguous(), torch.real(z)]
        views = [z.reshape(z.shape), z.view_as(z), z[:], z.squeeze(0)]
    return sum(v * k for k, v in enumerate(same, 2)) + sum(views) * p


def w_detached_gets_gradient(y, p, i):
    d = (y * 1).detach()
    d[0] = p[0] * 2
    d.add_(p[1])
    return d


def w_set_scalar(y, p, i):
    y[0, 1] = 3
    y[2, 1] = p.sum()
    y[..., 0] = torch.arange(4)
    y[1] = torch.tensor(2.0)


def w_iadd_int(y, p, i):
    k = torch.zeros(4, dtype=torch.int64)
    k[1:3] += 5
    k[0] = 2.7
    k //= 2
    return k.float()


def w_bool(y, p, i):
    m = torch.zeros(4, 3, dtype=torch.bool)
    m[:, 1] = True
    m[0] |= y[0] > 0
    m.logical_not_()
    return y * m


def w_swap_rows(y, p, i):
    y[[0, 1]] = y[[1, 0]]


def w_setitem_transposed(y, p, i):
    y.t()[1:, :2] = p[:2, :2]


def w_permute_view(y, p, i):
    z = y.view(2, 2, 3).permute(2, 0, 1)
    z[1:, 0] = 0
    z.flatten(1)[0].add_(1)


def w_as_strided(y, p, i):
    y.as_strided((2, 6), (6, 1)).add_(1)


def w_narrow(y, p, i):
    y.narrow(0, 1, 2).narrow(1, 0, 2).sub_(1)
    y.narrow(1, -1, 1).mul_(2)


def w_real_where(y, p, i):
    torch.where(y > 0, y, -y).add_(1)


def w_expand_same(y, p, i):
    z = y.unsqueeze(0).expand(1, 4, 3)
    z[0, 0] = 1


def w_index_copy_in_place(y, p, i):
    y.index_copy_(0, torch.tensor([2, 0]), p[:2])
    y.index_add_(1, torch.tensor([0, 0]), p[:, :2])
    y.index_fill_(0, torch.tensor([3]), 0.25)


def w_T(y, p, i):
    y.T[0].add_(1)
    y.mT[1].mul_(2)


def w_flatten_write(y, p, i):
    y.flatten()[3:6] = 0
    y.ravel()[0] = 1


def w_slice_reshape(y, p, i):
    z = y.view(2, 2, 3)[:, :1].reshape(2, 3)
    z.mul_(3)
    return z


def w_column_reshape(y, p, i):
    z = y[:, 1:3].reshape(-1)
    z.mul_(3)
    return z


def w_column_view(y, p, i):
    y[:, 1].view(2, 2).mul_(3)
    y[:, 0].reshape(2, 2).add_(1)


WRITES = {name[2:]: (random(4, 3), written(steps)) for name, steps in list(globals().items()) if name.startswith("w_")}

def a_detached_alias(y, p, i):
    z = y * 3
    z.detach().mul_(0.5)
    z.data[1:].add_(1)
    return z


def a_data_read(y, p, i):
    return y.data * p + (y.detach() * p).detach()


ALIASES = {name[2:]: (random(4, 3), written(steps)) for name, steps in list(globals().items()) if name.startswith("a_")}
