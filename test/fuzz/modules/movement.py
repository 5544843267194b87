"""Blocks: views, copies and joins; products; indexing, gathers and scatters; sampling of images."""

from maker import SPECIAL, Reject, product
from pointwise import block_of, fill, split

VIEWS = """
{f}.t() | {f}.transpose({d}, -1) | {f}.mT | {f}.flatten() | {f}.unsqueeze({d}) | {f}.squeeze() | {f}.flip({d}) | {f}.flip(0, -1) | {f}.roll(1, {d}) | {f}.roll(-2)
{f}.roll((1, -1), (0, -1)) | {f}.movedim({d}, 0) | {f}.repeat_interleave(2, {d}) | {f}.unfold({d}, 2, 1) | {f}.unfold({d}, 2, 2) | {f}.diagonal() | {f}.tril() | {f}.triu(1)
{f}.rot90() | torch.stack([{f}, {g}.expand_as({f})], {d}) | torch.cat([{f}, {g}.expand_as({f})], {d}) | {f}.chunk(2, {d})[0] | {f}.chunk(2, {d})[-1] | {f}.unbind({d})[-1]
{f}.select({d}, -1) | {f}.narrow({d}, 0, 1) | {f}[..., ::2] | {f}[1:] | {f}[:-1] | {f}[0] | {f}[..., -1] | {f}[:, None] | {f}[..., 1:3] | {f}.clone() | {f}.contiguous()
{f}.reshape(-1, {f}.shape[-1]) | {f}.view(-1) | {f}.detach() + {f} | {f}.broadcast_to(2, *{f}.shape) | {f}.expand(2, *{f}.shape) | {f}.tile(2) | {f}.repeat(2, *[1] * {f}.dim())
F.pad({f}, (1, 1)) | F.pad({f}, (-1, 1)) | F.pad({f}, (0, -1)) | F.pad({f}, (2, 0), value=0.5) | F.pad({f}, (1, 1), mode="replicate") | F.pad({f}, (1, 1), mode="reflect")
F.pad({f}, (1, 0), mode="circular") | torch.block_diag({f}, {f}) | torch.diag_embed({f}) | {f}.diag() | {f}.unflatten(-1, (2, -1)) | {f}.flatten(1) | {f}.swapaxes(0, -1)
torch.tensor_split({f}, 3, {d})[1] | {f}.split(2, {d})[-1] | torch.hstack([{f}, {f}]) | {f}.as_strided((2, 2), (1, 2)) | {f}.view_as({f}) * 2 | torch.atleast_2d({f})
""".replace("\n", " | ")
EMPTY = """
{f}[..., :0].sum(-1) + {f}.sum(-1) | torch.cat([{f}, {f}[:0]]) | torch.cat([{f}[..., :0], {f}], -1) | {f}[:0].sum() + {f}.mean() | {f}[:0].sum(0) + {f}[-1]
{f}.narrow({d}, 0, 0).sum({d}) + {f}.mean({d}) | {f}[..., 1:1].prod(-1) * {f}.mean(-1) | {f}[..., :0] @ {f}[..., :0].mT + {f} @ {f}.mT | torch.cat([{f}[1::3], {f}[:0]])
{f}[:0].softmax(-1).sum() + {f}.sum() | F.pad({f}[..., :0], (0, 2)) | {f}[..., 2:1] | {f}[:0] | {f}.new_zeros(0, 3).sum(0) + {f}.mean() | torch.stack([{f}[..., :0]] * 2).sum() + {f}
F.pad({f}[:0], (0, 0, 0, 2)) | {f}[..., :0].repeat(*[1] * ({f}.dim() - 1), 2).sum() + {f} | F.pad({f}[..., :0].mT, (0, 0, 0, 3)) | F.pad({f}.mT[:0], (0, 0, 0, 2))
{f}[..., :0].cumsum(-1).sum(-1) + {f}.amax(-1) | {f}[:0].reshape(0, -1).sum() + {f} | {f}.split([0, {f}.shape[0]])[1] | torch.einsum("...a,...a->...", {f}[..., :0], {f}[..., :0]) + {f}.sum(-1)
""".replace("\n", " | ")
PRODUCTS = """
{f} @ {f}.mT | {f}.mT @ {f} | torch.einsum("...a,...b->...ab", {f}, {f}) | torch.einsum("ab,cb->ac", {f}, {g}.expand_as({f})) | torch.einsum("ab,cb->ac", {f}, {f}[:, :1])
torch.einsum("ab,ab->a", {f}, {g}.expand_as({f})) | torch.einsum("a...->...", {f}) | torch.einsum("abc,abd->acd", {f}, {f}) | torch.outer({f}.flatten()[:4], {f}.flatten()[:3])
torch.tensordot({f}, {f}, ([0], [0])) | torch.inner({f}, {f}) | F.scaled_dot_product_attention({f}, {f}, {f}) | F.scaled_dot_product_attention({f}, {f}, {f}, is_causal=True)
torch.addmm({f} @ {f}.mT, {f}, {f}.mT, beta=0.5) | torch.baddbmm({f} @ {f}.mT, {f}, {f}.mT, alpha=0.5) | torch.kron({f}, {f}[:1]) | torch.linalg.multi_dot([{f}, {f}.mT, {f}])
{f}.cov() | torch.cross({f}, {f} + 1) | torch.vander({f}.flatten()[:3]) | torch.trace({f}) * {f} | torch.mv({f}, {f}[0]) | torch.dot({f}.flatten(), {f}.flatten())
""".replace("\n", " | ")
# Besides: {i} an index tensor of f's shape with values below f's size in dim {d}, {u} one without duplicates (with them, PyTorch leaves open what a write
# gives, and its gradient is not that of what it gives), {j} one of one dim, {z} a start of f's shape.
INDEXING = """
{f}.gather({d}, {i}) | {f}.index_select({d}, {j}) | {f}.take({i}) | torch.take_along_dim({f}, {i}, {d}) | {f}.scatter({d}, {u}, {f} * 2) | {z}.scatter_add({d}, {i}, {f})
{z}.scatter_reduce({d}, {i}, {f}, "amax") | {z}.scatter_reduce({d}, {i}, {f}, "amin") | {z}.scatter_reduce({d}, {i}, {f}, "amax", include_self=False)
{z}.scatter_reduce({d}, {i}, {f}, "amin", include_self=False) | {z}.scatter_reduce({d}, {i}, {f}, "mean") | {z}.scatter_reduce({d}, {i}, {f}, "mean", include_self=False)
{z}.scatter_reduce({d}, {i}, {f}, "prod") | {z}.scatter_reduce({d}, {i}, {f}, "prod", include_self=False) | {z}.scatter_reduce({d}, {i}, {f}, "sum") | {z}.scatter({d}, {i}, 0.5)
{z}.index_add({d}, {j}, {f}.index_select({d}, {j})) | {z}.index_copy({d}, {j}.unique(), {f}.index_select({d}, {j}.unique())) | {f}.index_fill({d}, {j}, 0.5)
{z}.index_reduce({d}, {j}, {f}.index_select({d}, {j}), "amax") | {f}.masked_fill({f} > 0, 0.5) | {z}.masked_scatter({f} > 0, {f}) | {f}.where({f} > 0, {z})
{f}.index_put(({k},), {f}[0] * 2, accumulate=True) | {f}[{k}] | {f}[:, {k} % {f}.shape[1]] | {f}[{k}, {k} % {f}.shape[1]] | {z}.index_put((torch.tensor([0, -1])[:{f}.shape[0]],), {f}[0]) | {f}[{k} - {f}.shape[0]]
F.embedding({k}, {f}) | F.embedding({k}, {f}, padding_idx=0) | F.embedding_bag({k}.view(1, -1), {f}, mode="max") | F.embedding_bag({k}, {f}, torch.tensor([0, 1]), mode="mean")
torch.zeros(5).scatter_reduce(0, {q}, {f}.flatten(), "amax") + {f}.sum() | torch.zeros(5).scatter_reduce(0, {q}, {f}.flatten(), "amin", include_self=False) | {f}.flatten()[{q}]
torch.zeros(5).index_add(0, {q}, {f}.flatten()) | torch.bincount({q}, minlength=5) * {f}.mean() | {f}.flatten().scatter(0, {q}.unique(), 0.25) | {f}[{k}.argsort()]
""".replace("\n", " | ")


def indexing(m):
    """An entry of INDEXING, whose indices are inputs, ties or zeros."""
    template, name = m.pick(split(INDEXING)), m.value(condition=lambda t: t.dim() and t.numel())
    shape = tuple(m.tensor(name).shape)
    dim = m.between(0, len(shape) - 1)
    size, many = shape[dim], product(shape)
    template = template.replace("{d}", str(m.pick([dim, dim - len(shape)])))
    whole = [f"torch.zeros_like({name}, dtype=torch.long)", f"torch.arange({many}).view({shape}) % {size}", f"({name}.detach() > 0).long() % {size}"]
    template = template.replace("{i}", m.pick(whole)).replace("{u}", f"{name}.argsort({dim}, stable=True)").replace("{q}", f"torch.arange({many}) % {m.between(1, 5)}")
    template = template.replace("{j}", f"torch.tensor({[m.between(0, size - 1) for _ in range(m.between(1, 3))]})")
    template = template.replace("{k}", f"({integers(m)} % {shape[0]})")
    template = template.replace("{z}", m.pick([f"torch.zeros_like({name})", f"torch.ones_like({name})", f"({name} * 0.5)", name]))
    m.let(fill(m, template, name))


def tied_scatter(m):
    """The largest or smallest element of each line, scattered onto old elements that equal it. Of a parameter, whose elements are exact."""
    shape = tuple(m.between(1, 4) for _ in range(m.between(1, 3)))
    parameter, d, how = m.parameter(shape), m.between(-len(shape), len(shape) - 1), m.pick(["amax", "amin"])
    old = f"{parameter}.{how}({d}, keepdim=True).expand_as({parameter})" + m.pick(["", ".detach()", ".clone()"])
    kept = m.pick(["True", "False", "False"])
    m.wanted.append(m.let(f'{old}.scatter_reduce({d}, torch.zeros({shape}, dtype=torch.long), {parameter}, "{how}", include_self={kept})', {"leftout"} if kept == "False" else set()))


def integers(m):
    """An expression of integers of one dim."""
    names = m.values("int", lambda t: t.dim() == 1)
    return m.pick(names * 2 + [f"torch.tensor({[m.between(-3, 5) for _ in range(m.between(1, 4))]})"])


def joins(m):
    """Values of one size each way, joined."""
    first = m.value()
    shape = m.tensor(first).shape
    if not shape:
        raise Reject
    others = m.values(condition=lambda t: t.shape[1:] == shape[1:] and t.dim() == len(shape))
    m.let(f"torch.cat([{first}, {m.pick(others)}, {m.pick(others)}])")


def sampling(m):
    """grid_sample at grids that reach and pass the border."""
    if m.chance(0.5):
        exact_sampling(m)
        return
    image = m.image()
    n, height, width = m.tensor(image).shape[0], m.between(1, 4), m.between(1, 4)
    aligned = m.pick(["True", "False"])
    theta = m.pick(["torch.eye(2, 3)", "torch.eye(2, 3) * 1.25", "torch.eye(2, 3) * 0.5", "torch.zeros(2, 3)"])
    name = m.fresh("p")
    m.declare(f"self.{name} = nn.Parameter({theta})")
    size = m.pick([tuple(m.tensor(image).shape), (n, m.tensor(image).shape[1], height, width)])
    grid = m.let(f"F.affine_grid(self.{name}.expand({n}, 2, 3), {size}, align_corners={aligned})")
    if m.chance(0.3):
        grid = m.let(f"({grid} * {m.pick(['2.0', '1.25', '0.5'])}){m.pick(['', '.round()', '.clamp(-1, 1)'])}")
    mode, padding = m.pick(["bilinear", "bilinear", "nearest", "bicubic"]), m.pick(["zeros", "border", "reflection"])
    m.let(f'F.grid_sample({image}, {grid}, mode="{mode}", padding_mode="{padding}", align_corners={aligned})')


def exact_sampling(m):
    """grid_sample exactly at the centers of all pixels, those at the border included. The sizes make the coordinates exact."""
    aligned = m.chance(0.5)
    sizes = [2, 3, 5] if aligned else [2, 4]
    shape = (m.between(1, 2), m.between(1, 2), m.pick(sizes), m.pick(sizes))
    image, name = m.parameter(shape), m.fresh("p")
    m.declare(f"self.{name} = nn.Parameter(torch.eye(2, 3))")
    grid = m.let(f"F.affine_grid(self.{name}.expand({shape[0]}, 2, 3), {shape}, align_corners={aligned})")
    mode, padding = m.pick(["bilinear", "bilinear", "bicubic"]), m.pick(["border", "border", "reflection", "zeros"])
    m.wanted.append(m.let(f'F.grid_sample({image}, {grid}, mode="{mode}", padding_mode="{padding}", align_corners={aligned})'))


IMAGES = """
F.max_pool2d({f}, 2) | F.max_pool2d({f}, 3, 1, 1) | F.max_pool2d({f}, 2, ceil_mode=True) | F.avg_pool2d({f}, 2) | F.avg_pool2d({f}, 3, 2, 1, count_include_pad=False)
F.adaptive_avg_pool2d({f}, 2) | F.adaptive_max_pool2d({f}, (2, 1)) | F.interpolate({f}, scale_factor=2.0) | F.interpolate({f}, size=3, mode="bilinear") | F.lp_pool2d({f}, 2, 2)
F.interpolate({f}, size=(3, 5), mode="bilinear", align_corners=True) | F.interpolate({f}, size=3, mode="bicubic") | F.interpolate({f}, size=3, mode="area") | F.pixel_unshuffle({f}, 2)
F.unfold({f}, 2) | F.max_pool2d({f}, 2, dilation=2) | F.interpolate({f}, size=3, mode="nearest-exact") | F.pad({f}, (1, 1, 1, 1), mode="reflect") | F.pad({f}, (1, 0, 2, -1))
F.max_pool2d({f}, (1, 2), padding=(0, 1)) | F.channel_shuffle({f}, 2) | F.avg_pool2d({f}, 2, ceil_mode=True) | F.local_response_norm({f}, 2) | F.instance_norm({f})
""".replace("\n", " | ")


def images(m):
    m.let(fill(m, m.pick(split(IMAGES)), m.image()))


FAMILIES = {
    "views": [block_of(VIEWS, 2), block_of(VIEWS), joins],
    "empty": [block_of(EMPTY)] * 3,
    "products": [block_of(PRODUCTS)],
    "indexing": [indexing, indexing, tied_scatter],
    "sampling": [sampling, sampling, images],
    "images": [images],
}
