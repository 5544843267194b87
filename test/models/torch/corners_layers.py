"""Corners of losses and layers; see corners.py."""

import torch
from torch import nn
from torch.nn import functional as F

from corner_values import random, positive, KINKS

LABELS = torch.tensor([0, 2, 1, -100, 2, 0])


def loss(function):
    return (random(6, 3), lambda p, i: function(p, (i * 2) % 3))


def image_loss(function):
    return (random(2, 3, 2, 2), lambda p, i: function(p, torch.stack([i[:4].view(2, 2) % 3, i[2:].view(2, 2) % 3])))


WEIGHT = torch.tensor([0.5, 2.0, 1.5])

LOSSES = {
    "ce_ignore": (random(6, 3), lambda p, i: F.cross_entropy(p, LABELS)),
    "ce_ignore_none": (random(6, 3), lambda p, i: F.cross_entropy(p, LABELS, reduction="none")),
    "ce_ignore_weight": (random(6, 3), lambda p, i: F.cross_entropy(p, LABELS, weight=WEIGHT)),
    "ce_ignore_smooth": (random(6, 3), lambda p, i: F.cross_entropy(p, LABELS, label_smoothing=0.2)),
    "ce_all": (random(6, 3), lambda p, i: F.cross_entropy(p, LABELS, weight=WEIGHT, label_smoothing=0.2)),
    "ce_all_none": (random(6, 3), lambda p, i: F.cross_entropy(p, LABELS, weight=WEIGHT, label_smoothing=0.2, reduction="none")),
    "ce_all_sum": (random(6, 3), lambda p, i: F.cross_entropy(p, LABELS, weight=WEIGHT, label_smoothing=0.2, reduction="sum") * 0.2),
    "ce_ignored_class": loss(lambda p, y: F.cross_entropy(p, y, ignore_index=2)),
    "ce_image": image_loss(lambda p, y: F.cross_entropy(p, y, weight=WEIGHT, label_smoothing=0.1, ignore_index=1)),
    "ce_image_none": image_loss(lambda p, y: F.cross_entropy(p, y, weight=WEIGHT, reduction="none")),
    "ce_one": (random(3), lambda p, i: F.cross_entropy(p, i[1]) + F.cross_entropy(p, i[2], weight=WEIGHT, label_smoothing=0.1)),
    "ce_soft": (random(6, 3), lambda p, i: F.cross_entropy(p, (i.view(6, 1) * torch.ones(3)).float().softmax(1))),
    "ce_soft_all": (random(6, 3), lambda p, i: F.cross_entropy(p, p.detach().flip(0).softmax(1), weight=WEIGHT, label_smoothing=0.3)),
    "ce_soft_none": (random(6, 3), lambda p, i: F.cross_entropy(p, p.detach().flip(0).softmax(1), weight=WEIGHT, reduction="none")),
    "ce_soft_image": (random(2, 3, 2, 2), lambda p, i: F.cross_entropy(p, p.detach().flip(0).softmax(1), weight=WEIGHT)),
    "ce_soft_target_grad": (random(6, 3), lambda p, i: F.cross_entropy(p, p.flip(0).softmax(1))),
    "nll": (random(6, 3), lambda p, i: F.nll_loss(p, LABELS, weight=WEIGHT) + F.nll_loss(p, i % 3, ignore_index=1)),
    "nll_none": (random(6, 3), lambda p, i: F.nll_loss(p, LABELS, weight=WEIGHT, reduction="none")),
    "nll_image": image_loss(lambda p, y: F.nll_loss(p.log_softmax(1), y, weight=WEIGHT, ignore_index=0)),
    "bce": (random(6), lambda p, i: F.binary_cross_entropy(p.sigmoid(), (i % 2).float(), weight=i + 0.5)),
    "bce_logits": (random(6, 3), lambda p, i: F.binary_cross_entropy_with_logits(p, i.view(6, 1) * torch.ones(3) * 0.2, pos_weight=WEIGHT)),
    "bce_logits_weight": (random(6, 3), lambda p, i: F.binary_cross_entropy_with_logits(p, (p > 0).float(), weight=WEIGHT, pos_weight=WEIGHT, reduction="none")),
    "bce_logits_large": ([100.0, -100.0, 50.0, 0.0], lambda p, i: F.binary_cross_entropy_with_logits(p, torch.tensor([0.0, 1.0, 1.0, 0.0]), reduction="none") * 0.01),
    "smooth_l1": (KINKS, lambda p, i: F.smooth_l1_loss(p, torch.zeros(12), beta=0.5, reduction="none")),
    "smooth_l1_zero": (KINKS, lambda p, i: F.smooth_l1_loss(p, torch.zeros(12), beta=0.0)),
    "huber": (KINKS, lambda p, i: F.huber_loss(p, torch.zeros(12), delta=2.0, reduction="none")),
    "l1": (KINKS, lambda p, i: F.l1_loss(p, torch.zeros(12)) + F.l1_loss(p, torch.ones(12), reduction="sum") * 0.1),
    "mse_broadcast": (random(6, 3), lambda p, i: F.mse_loss(p, i.float().view(6, 1).expand(6, 3), reduction="none") * 0.1),
    "kl": (random(6, 3), lambda p, i: F.kl_div(p.log_softmax(1), p.flip(0).softmax(1), reduction="batchmean")),
    "kl_zero": (random(6, 3), lambda p, i: F.kl_div(p.log_softmax(1), F.one_hot(i % 3, 3).float(), reduction="sum")),
    "kl_log": (random(6, 3), lambda p, i: F.kl_div(p.log_softmax(1), p.flip(0).log_softmax(1), reduction="none", log_target=True)),
    "kl_mean": (random(6, 3), lambda p, i: F.kl_div(p.log_softmax(1), p.flip(0).softmax(1))),
    "triplet": (random(6, 3), lambda p, i: F.triplet_margin_loss(p, p.flip(0), p.roll(1, 0), margin=1.0)),
    "margin_ranking": (random(6), lambda p, i: F.margin_ranking_loss(p, p.flip(0), torch.ones(6), margin=0.5)),
    "hinge": (random(6), lambda p, i: F.hinge_embedding_loss(p, (i % 2) * 2.0 - 1)),
    "cosine_embedding": (random(6, 3), lambda p, i: F.cosine_embedding_loss(p, p.flip(0), (i % 2) * 2 - 1, margin=0.1)),
    "poisson": (random(6), lambda p, i: F.poisson_nll_loss(p, i.float(), full=False) + F.poisson_nll_loss(p.exp(), i.float(), log_input=False)),
    "soft_margin": (random(6), lambda p, i: F.soft_margin_loss(p, (i % 2) * 2.0 - 1)),
    "multilabel_soft": (random(6, 3), lambda p, i: F.multilabel_soft_margin_loss(p, (p > 0).float())),
    "focal": (random(6, 3), lambda p, i: (1 - p.softmax(-1)).pow(2.0) * -p.log_softmax(-1)),
    "dice": (random(6, 3), lambda p, i: 1 - (2 * (p.sigmoid() * (p > 0)).sum(0) + 1) / (p.sigmoid().sum(0) + (p > 0).sum(0) + 1)),
}


def weighted(shape, weight, function):
    """A case whose parameter is the weights; the data follow from the input."""

    def run(p, i):
        count = 1
        for size in shape:
            count *= size
        x = torch.sin(torch.arange(count).float() * 1.7 + i[0]).view(shape)
        return function(x, p)

    return (lambda: torch.randn(weight) * 0.3, run)


CONVOLUTION = {
    "conv2d": weighted((2, 4, 6, 7), (6, 2, 3, 2), lambda x, w: F.conv2d(x, w, torch.ones(6), stride=(2, 1), padding=(1, 2), dilation=(1, 2), groups=2)),
    "conv_same_even": weighted((2, 3, 6, 7), (4, 3, 2, 4), lambda x, w: F.conv2d(x, w, padding="same", dilation=(2, 1))),
    "conv_valid": weighted((2, 3, 6), (4, 3, 2), lambda x, w: F.conv1d(x, w, padding="valid", stride=2)),
    "conv_unbatched": weighted((3, 6), (4, 3, 2), lambda x, w: F.conv1d(x, w)),
    "conv_scalar_arguments": weighted((1, 2, 7, 7), (3, 2, 3, 3), lambda x, w: F.conv2d(x, w, stride=2, padding=1, dilation=2)),
    "conv3d_groups": weighted((1, 4, 4, 5, 3), (4, 1, 2, 2, 2), lambda x, w: F.conv3d(x, w, groups=4, padding=(1, 0, 1))),
    "conv_data_grad": (random(2, 3, 5, 5), lambda p, i: F.conv2d(p, torch.linspace(-1, 1, 54).view(2, 3, 3, 3), stride=2, padding=2)),
    "deconv1d": weighted((2, 4, 5), (4, 3, 3), lambda x, w: F.conv_transpose1d(x, w, stride=3, padding=1, output_padding=2, dilation=2)),
    "deconv2d_groups": weighted((2, 4, 3, 4), (4, 2, 3, 2), lambda x, w: F.conv_transpose2d(x, w, torch.ones(4), stride=(2, 1), padding=(0, 1), output_padding=(1, 0), groups=2)),
    "deconv3d": weighted((1, 2, 2, 3, 2), (2, 1, 2, 2, 2), lambda x, w: F.conv_transpose3d(x, w, stride=2)),
    "deconv_unbatched": weighted((2, 3, 3), (2, 1, 2, 2), lambda x, w: F.conv_transpose2d(x, w, stride=2, dilation=(2, 1))),
    "deconv_data_grad": (random(2, 3, 4, 4), lambda p, i: F.conv_transpose2d(p, torch.linspace(-1, 1, 54).view(3, 2, 3, 3), stride=2, padding=1, output_padding=1)),
    "linear_1d": (random(4, 3), lambda p, i: F.linear(torch.ones(3), p) + F.linear(torch.ones(2, 2, 3), p, torch.ones(4)).sum(0)),
    "matmul_vectors": (random(3, 3), lambda p, i: p[0] @ p[1] + p @ p[0] + p[0] @ p + torch.dot(p[0], p[2]) + torch.mv(p, p[1])),
    "matmul_broadcast": (random(2, 1, 2, 3), lambda p, i: p @ p.transpose(-1, -2).transpose(0, 1) + (p @ torch.ones(3)).sum()),
    "matmul_vector_batch": (random(2, 3, 2), lambda p, i: torch.ones(3) @ p),
    "addmm": (random(3, 3), lambda p, i: torch.addmm(p[0], p, p.t(), beta=0.5, alpha=2) + torch.addmv(p[0], p, p[1], beta=0, alpha=-1)),
    "baddbmm": (random(2, 3, 3), lambda p, i: torch.baddbmm(p[:1], p, p.mT, beta=2, alpha=0.5) + torch.bmm(p, p)),
    "grouped": (random(8, 8), lambda p, i: F.grouped_mm(p, torch.stack([p, p.t(), p * 2]), offs=torch.tensor([2, 2, 8], dtype=torch.int32))),
    "einsum_trace": (random(3, 3), lambda p, i: torch.einsum("ii", p) + torch.einsum("ii->i", p) + torch.einsum("ij->ji", p).sum(0)),
    "einsum_implicit": (random(3, 3), lambda p, i: torch.einsum("ba", p) + torch.einsum("bc,ca", p, p)),
    "einsum_ellipsis": (random(2, 3, 3), lambda p, i: torch.einsum("...ij,...jk->...ik", p, p[0]) + torch.einsum("b...->...", p)),
    "einsum_three": (random(3, 3), lambda p, i: torch.einsum("ij, jk, kl -> il", p, p, p) + torch.einsum("i,j", p[0], p[1])),
    "einsum_sum": (random(2, 3), lambda p, i: torch.einsum("ij->", p) + torch.einsum("ij,ij->i", p, p).sum() + torch.einsum("ij->j", p)),
    "einsum_diagonals": (random(2, 3, 3), lambda p, i: torch.einsum("bii->bi", p) + torch.einsum("bij,bjj->bi", p, p)),
    "einsum_broadcast_one": (random(2, 1, 3), lambda p, i: torch.einsum("bij,bij->bij", p, torch.ones(2, 1, 3)) + torch.einsum("bij,bkj->bik", p, p)),
    "einsum_outer": (random(2, 3), lambda p, i: torch.einsum("ab,cd->acbd", p, p)),
    "tensordot": (random(2, 3, 4), lambda p, i: torch.tensordot(p, p, dims=([0, 2], [0, 2])) + torch.tensordot(p, p.permute(2, 1, 0), dims=1).sum()),
    "bilinear": (random(2, 3, 4), lambda p, i: F.bilinear(torch.ones(5, 3), torch.ones(5, 4) * 0.5, p)),
    "outer": (random(3), lambda p, i: torch.outer(p, p) + torch.ger(p, p)),
    "kron_like": (random(2, 2), lambda p, i: torch.kron(p, p)),
    "inner": (random(2, 3), lambda p, i: torch.inner(p, p) + torch.vdot(p[0], p[1])), "multi_dot": (random(2, 3), lambda p, i: torch.linalg.multi_dot([p, p.T, p[:, 0]]) + torch.linalg.multi_dot([p[0], p.T]).sum()),
    "unfold": (random(2, 3, 5, 4), lambda p, i: F.unfold(p, (3, 2), dilation=(1, 2), padding=(1, 0), stride=(2, 1))),
    "fold": (random(2, 12, 6), lambda p, i: F.fold(p, (4, 3), (2, 2))),
    "fold_overlap": (random(1, 9, 16), lambda p, i: F.fold(p, (8, 8), 3, stride=2, padding=1)),
    "unfold_dim": (random(2, 7), lambda p, i: p.unfold(1, 3, 2) + p.unfold(-1, 3, 2).mean()),
}

POOLS = {
    "max_ties": ([[[1.0, 1.0, 0.0, 2.0], [1.0, 0.0, 2.0, 2.0], [0.0, 0.0, 0.0, 0.0], [-1.0, -1.0, -1.0, -1.0]]], lambda p, i: F.max_pool2d(p, 2)),
    "max_overlap_ties": ([[[1.0, 1.0, 0.0, 2.0], [1.0, 0.0, 2.0, 2.0], [0.0, 0.0, 0.0, 0.0], [-1.0, -1.0, -1.0, -1.0]]], lambda p, i: F.max_pool2d(p, 3, stride=1, padding=1)),
    "max_ceil": (random(2, 3, 7, 6), lambda p, i: F.max_pool2d(p, 3, stride=2, padding=1, ceil_mode=True)),
    "max_ceil_skip": (random(1, 1, 5, 5), lambda p, i: F.max_pool2d(p, 2, stride=3, padding=1, ceil_mode=True)),
    "max_dilated": (random(2, 3, 7, 8), lambda p, i: F.max_pool2d(p, (2, 3), stride=(1, 2), dilation=(3, 2))),
    "max_negative": (lambda: -torch.rand(1, 1, 4, 4) - 1, lambda p, i: F.max_pool2d(p, 2, padding=1)),
    "max1d": (random(2, 3, 7), lambda p, i: F.max_pool1d(p, 3, 2, 1, ceil_mode=True)),
    "max3d": (random(1, 2, 4, 5, 4), lambda p, i: F.max_pool3d(p, 2, ceil_mode=True)),
    "max_unbatched": (random(3, 7, 6), lambda p, i: F.max_pool2d(p, (2, 1))),
    "avg": (random(2, 3, 7, 6), lambda p, i: F.avg_pool2d(p, 3, 2, 1)),
    "avg_exclude": (random(2, 3, 7, 6), lambda p, i: F.avg_pool2d(p, 3, 2, 1, count_include_pad=False)),
    "avg_ceil": (random(2, 3, 6, 8), lambda p, i: F.avg_pool2d(p, 3, 2, 1, ceil_mode=True)),
    "avg_ceil_exclude": (random(2, 3, 6, 8), lambda p, i: F.avg_pool2d(p, 3, 2, 1, ceil_mode=True, count_include_pad=False)),
    "avg_divisor": (random(2, 3, 6, 8), lambda p, i: F.avg_pool2d(p, 3, 2, 1, divisor_override=5)),
    "avg_divisor_ceil": (random(2, 3, 6, 8), lambda p, i: F.avg_pool2d(p, 3, 2, 1, ceil_mode=True, divisor_override=5)),
    "avg_divisor_exclude": (random(2, 3, 6, 8), lambda p, i: F.avg_pool2d(p, 3, 2, 1, count_include_pad=False, divisor_override=5)),
    "avg1d": (random(2, 3, 7), lambda p, i: F.avg_pool1d(p, 3, 2, 1, ceil_mode=True, count_include_pad=False)),
    "avg3d": (random(1, 2, 4, 5, 3), lambda p, i: F.avg_pool3d(p, 2, 2, 1, ceil_mode=True)),
    "adaptive": (random(2, 3, 7, 5), lambda p, i: F.adaptive_avg_pool2d(p, (3, 2))),
    "adaptive_larger": (random(2, 3, 3, 2), lambda p, i: F.adaptive_avg_pool2d(p, (5, 3))),
    "adaptive_none": (random(2, 3, 7, 5), lambda p, i: F.adaptive_avg_pool2d(p, (None, 2))),
    "adaptive_max": (random(2, 3, 7, 5), lambda p, i: F.adaptive_max_pool2d(p, (3, 2))),
    "adaptive_max_ties": (lambda: torch.zeros(1, 1, 4, 4), lambda p, i: F.adaptive_max_pool2d(p, 2) + p.sum()),
    "adaptive1d": (random(2, 3, 7), lambda p, i: F.adaptive_avg_pool1d(p, 3) + F.adaptive_max_pool1d(p, 3)),
    "adaptive3d": (random(1, 2, 5, 4, 3), lambda p, i: F.adaptive_avg_pool3d(p, (2, 3, 1))),
    "lp": (positive(2, 3, 6), lambda p, i: F.lp_pool1d(p, 2, 2)),
}


def resized(shape, **options):
    return (random(*shape), lambda p, i: F.interpolate(p, **options))


RESIZE = {
    "nearest_up": resized((1, 2, 3, 5), size=(5, 7)),
    "nearest_down": resized((1, 2, 7, 10), size=(3, 4)),
    "nearest_factor": resized((1, 2, 5, 7), scale_factor=(1.3, 0.6)),
    "nearest_factor_recomputed": resized((1, 2, 5, 7), scale_factor=(1.3, 0.6), recompute_scale_factor=True),
    "nearest_exact": resized((1, 2, 5, 7), size=(8, 3), mode="nearest-exact"),
    "nearest_exact_factor": resized((1, 2, 5, 7), scale_factor=1.7, mode="nearest-exact"),
    "nearest1d": resized((1, 2, 5), scale_factor=2.5),
    "nearest3d": resized((1, 1, 2, 3, 2), scale_factor=2),
    "linear1d": resized((1, 2, 5), size=8, mode="linear"),
    "linear1d_corners": resized((1, 2, 5), size=8, mode="linear", align_corners=True),
    "bilinear_up": resized((1, 2, 3, 5), size=(7, 4), mode="bilinear"),
    "bilinear_corners": resized((1, 2, 3, 5), size=(7, 4), mode="bilinear", align_corners=True),
    "bilinear_corners_one": resized((1, 2, 3, 5), size=(1, 4), mode="bilinear", align_corners=True),
    "bilinear_factor": resized((1, 2, 5, 7), scale_factor=(1.3, 0.6), mode="bilinear"),
    "bilinear_factor_recomputed": resized((1, 2, 5, 7), scale_factor=(1.3, 0.6), mode="bilinear", recompute_scale_factor=True),
    "bilinear_factor_corners": resized((1, 2, 5, 7), scale_factor=1.3, mode="bilinear", align_corners=True),
    "bilinear_antialias": resized((1, 2, 8, 9), size=(3, 4), mode="bilinear", antialias=True),
    "bilinear_antialias_factor": resized((1, 2, 8, 9), scale_factor=0.4, mode="bilinear", antialias=True),
    "bilinear_antialias_corners": resized((1, 2, 8, 9), size=(3, 4), mode="bilinear", antialias=True, align_corners=True),
    "bilinear_antialias_up": resized((1, 2, 3, 4), size=(5, 9), mode="bilinear", antialias=True),
    "bicubic": resized((1, 2, 5, 6), size=(8, 3), mode="bicubic"),
    "bicubic_corners": resized((1, 2, 5, 6), size=(8, 3), mode="bicubic", align_corners=True),
    "bicubic_factor": resized((1, 2, 5, 6), scale_factor=1.7, mode="bicubic"),
    "bicubic_antialias": resized((1, 2, 8, 9), size=(3, 4), mode="bicubic", antialias=True),
    "trilinear": resized((1, 1, 3, 4, 2), size=(4, 3, 3), mode="trilinear"),
    "trilinear_corners": resized((1, 1, 3, 4, 2), scale_factor=1.5, mode="trilinear", align_corners=True),
    "area": resized((1, 2, 7, 5), size=(3, 2), mode="area"),
    "area_factor": resized((1, 2, 7, 5), scale_factor=0.5, mode="area"),
}


def sampled(**options):
    def run(p, i):
        x = torch.sin(torch.arange(2 * 4 * 5).float()).view(1, 2, 4, 5)
        return F.grid_sample(x + p.sum() * 0.1, p * 1.3, **options)

    return (lambda: torch.rand(1, 3, 4, 2) * 2 - 1, run)


SAMPLING = {
    "zeros": sampled(align_corners=False), "zeros_corners": sampled(align_corners=True),
    "border": sampled(padding_mode="border", align_corners=False), "border_corners": sampled(padding_mode="border", align_corners=True),
    "reflection": sampled(padding_mode="reflection", align_corners=False),
    "reflection_corners": sampled(padding_mode="reflection", align_corners=True),
    "nearest": sampled(mode="nearest", align_corners=False), "nearest_border": sampled(mode="nearest", padding_mode="border", align_corners=True),
    "bicubic": sampled(mode="bicubic", align_corners=False), "bicubic_border": sampled(mode="bicubic", padding_mode="border", align_corners=False),
    "volume": (lambda: torch.rand(1, 2, 2, 2, 3) * 2 - 1, lambda p, i: F.grid_sample(torch.arange(8.0).view(1, 1, 2, 2, 2) * 0.1, p, align_corners=False)),
    "affine": (random(1, 2, 3), lambda p, i: F.affine_grid(p, (1, 1, 2, 3), align_corners=False) + F.affine_grid(p, (1, 1, 2, 3), align_corners=True)),
    "pixel_shuffle": (random(1, 8, 2, 3), lambda p, i: F.pixel_unshuffle(F.pixel_shuffle(p, 2).sin(), 2)),
    "channel_shuffle": (random(1, 6, 2), lambda p, i: F.channel_shuffle(p, 3)),
    "pad_crop": (random(1, 4, 5), lambda p, i: F.pad(p, (-1, 2, 1, -2), value=0.5)),
    "pad_reflect": (random(1, 2, 4, 5), lambda p, i: F.pad(p, (2, 1, 3, 0), mode="reflect")),
    "pad_replicate": (random(1, 2, 4, 5), lambda p, i: F.pad(p, (2, 1, 3, 0), mode="replicate")),
    "pad_replicate_crop": (random(1, 2, 4, 5), lambda p, i: F.pad(p, (-1, 1, 2, -1), mode="replicate")),
    "pad_circular": (random(1, 2, 4, 5), lambda p, i: F.pad(p, (2, 1, 3, 0), mode="circular")),
    "pad_reflect1d": (random(2, 5), lambda p, i: F.pad(p, (4, 3), mode="reflect")),
    "pad_replicate3d": (random(1, 1, 2, 3, 2), lambda p, i: F.pad(p, (1, 1, 1, 0, 2, 1), mode="replicate")),
    "zero_pad": (random(2, 3, 3), lambda p, i: nn.ZeroPad2d((1, 0, 2, 0))(p)),
}


def layer(make, shape):
    """A layer with weights of its own, on the parameter."""
    torch.manual_seed(3)
    module = make()
    for buffer in module.buffers():
        if buffer.is_floating_point():
            buffer.uniform_(0.5, 1.5)
    for parameter in module.parameters():
        nn.init.uniform_(parameter, 0.5, 1.5)
    frozen = module.requires_grad_(False).eval()
    return (random(*shape), lambda p, i: frozen(p))


NORMS = {
    "group_norm": (random(2, 6, 3), lambda p, i: F.group_norm(p, 3, i + 0.5, i * 0.1, eps=0.1)),
    "group_norm_flat": (random(2, 6), lambda p, i: F.group_norm(p, 2)),
    "instance_norm": (random(2, 3, 4), lambda p, i: F.instance_norm(p, eps=0.1)),
    "instance_norm_affine": (random(2, 3, 4, 2), lambda p, i: F.instance_norm(p, weight=i[:3] + 0.5, bias=i[:3] * 0.1)),
    "instance_norm_eval": (random(2, 3, 4), lambda p, i: F.instance_norm(p, i[:3] * 0.1, i[:3] + 0.5, use_input_stats=False)),
    "layer_norm": (random(2, 3, 4), lambda p, i: F.layer_norm(p, (3, 4), eps=0.1) + F.layer_norm(p, (4,), weight=i[:4] + 0.5)),
    "layer_norm_bias": (random(2, 3), lambda p, i: F.layer_norm(p, (3,), None, i[:3].float())),
    "rms_norm": (random(2, 3), lambda p, i: F.rms_norm(p, (3,)) + F.rms_norm(p, (2, 3), eps=0.1)),
    "batch_norm_eval": (random(4, 3, 2), lambda p, i: F.batch_norm(p, i[:3] * 0.1, i[:3] + 0.5, i[:3] + 1.0, i[:3] * 0.2, eps=0.1)),
    "batch_norm_batch": (random(4, 3, 2), lambda p, i: F.batch_norm(p, None, None, training=True)),
    "weight_norm_all": (random(3, 4), lambda p, i: torch._weight_norm(p, p.detach().norm(), -1)),
    "weight_norm_1": (random(3, 4), lambda p, i: torch._weight_norm(p, p[:1].detach() + 2, 1)),
    "weight_norm_0": (random(3, 4, 2), lambda p, i: torch._weight_norm(p, p[:, :1, :1].detach() + 2, 0)),
    "local_response": (random(2, 5, 3, 3), lambda p, i: F.local_response_norm(p, 3, alpha=0.5)),
    "instance_norm_layer": layer(lambda: nn.InstanceNorm2d(3, affine=True), (3, 4, 4)),
    "batch_norm_layer": layer(lambda: nn.BatchNorm1d(3), (4, 3)),
    "spectral": layer(lambda: nn.utils.parametrizations.spectral_norm(nn.Linear(3, 4)), (2, 3)),
}


def recurrent(cell, batch=True, **options):
    torch.manual_seed(5)
    module = cell(3, 4, **options).requires_grad_(False)
    return (random(5, 2, 3) if batch else random(5, 3), lambda p, i: torch.cat([x.flatten() for x in flat(module(p))]))


def flat(outputs):
    for x in outputs:
        yield from flat(x) if isinstance(x, tuple) else [x]


def with_state(p, i):
    return torch.cat([x.flatten() for x in flat(GRU(p, torch.ones(4, 2, 4) * 0.3))])


GRU = nn.GRU(3, 4, num_layers=2, bidirectional=True).requires_grad_(False)
LSTM = nn.LSTM(3, 4, proj_size=2, bidirectional=True).requires_grad_(False)
CELLS = nn.ModuleList([nn.LSTMCell(3, 4), nn.GRUCell(3, 4, bias=False), nn.RNNCell(3, 4, nonlinearity="relu")]).requires_grad_(False)

RECURRENT = {
    "lstm": recurrent(nn.LSTM, bidirectional=True, num_layers=2, batch_first=True),
    "lstm_projected": recurrent(nn.LSTM, proj_size=2, num_layers=2),
    "lstm_no_bias": recurrent(nn.LSTM, bias=False),
    "lstm_unbatched": recurrent(nn.LSTM, batch=False, bidirectional=True),
    "lstm_states": (random(5, 2, 3), lambda p, i: torch.cat([x.flatten() for x in flat(LSTM(p, (torch.ones(2, 2, 2) * 0.1, torch.ones(2, 2, 4) * 0.2)))])),
    "gru": recurrent(nn.GRU, bidirectional=True, batch_first=True),
    "gru_states": (random(5, 2, 3), with_state),
    "rnn_relu": recurrent(nn.RNN, nonlinearity="relu", num_layers=2),
    "rnn_unbatched": recurrent(nn.RNN, batch=False),
    "cells": (random(2, 3), lambda p, i: CELLS[0](p)[1] + CELLS[1](p) + CELLS[2](p, p.new_ones(2, 4))),
    "cell_unbatched": (random(3), lambda p, i: CELLS[0](p)[0] + CELLS[1](p, torch.ones(4))),
}


def attended(function, queries=3, keys=5, heads=2):
    def run(p, i):
        q = p[:queries].view(queries, heads, 4).transpose(0, 1).unsqueeze(0)
        k = (p[:keys] * 0.7).view(keys, heads, 4).transpose(0, 1).unsqueeze(0)
        return function(q, k, k.sin(), i)

    return (random(max(queries, keys), heads * 4), run)


MASK = torch.tensor([[True, False, True, True, False], [True, True, True, True, True], [False, False, True, False, False]])
MHA = nn.MultiheadAttention(8, 2, batch_first=True, bias=True).requires_grad_(False)
MHA_KV = nn.MultiheadAttention(8, 2, kdim=4, vdim=3, add_bias_kv=True, add_zero_attn=True).requires_grad_(False)

ATTENTION = {
    "plain": attended(lambda q, k, v, i: F.scaled_dot_product_attention(q, k, v)),
    "scale": attended(lambda q, k, v, i: F.scaled_dot_product_attention(q, k, v, scale=0.3)),
    "causal": attended(lambda q, k, v, i: F.scaled_dot_product_attention(q, k, v, is_causal=True)),
    "causal_tall": attended(lambda q, k, v, i: F.scaled_dot_product_attention(q, k, v, is_causal=True), queries=5, keys=3),
    "bool_mask": attended(lambda q, k, v, i: F.scaled_dot_product_attention(q, k, v, attn_mask=MASK)),
    "float_mask": attended(lambda q, k, v, i: F.scaled_dot_product_attention(q, k, v, attn_mask=MASK.float())),
    "trained_mask": attended(lambda q, k, v, i: F.scaled_dot_product_attention(q, k, v, attn_mask=(q * 0.3) @ k.cos().mT)),
    "data_mask": attended(lambda q, k, v, i: F.scaled_dot_product_attention(q, k, v, attn_mask=(i[:5] != 2).expand(3, 5))),
    "all_masked": attended(lambda q, k, v, i: F.scaled_dot_product_attention(q, k, v, attn_mask=(i[:3].view(3, 1) > 0).expand(3, 5))),
    "all_masked_float": attended(lambda q, k, v, i: F.scaled_dot_product_attention(q, k, v, attn_mask=torch.where(MASK, 0.0, float("-inf")))),
    "grouped": attended(lambda q, k, v, i: F.scaled_dot_product_attention(q, k[:, :2], v[:, :2], enable_gqa=True), heads=4),
    "grouped_causal": attended(lambda q, k, v, i: F.scaled_dot_product_attention(q, k[:, :1], v[:, :1], enable_gqa=True, is_causal=True), heads=4),
    "three_dims": attended(lambda q, k, v, i: F.scaled_dot_product_attention(q[0], k[0], v[0])),
    "two_dims": attended(lambda q, k, v, i: F.scaled_dot_product_attention(q[0, 0], k[0, 0], v[0, 0])),
    "broadcast_batch": attended(lambda q, k, v, i: F.scaled_dot_product_attention(q.expand(2, -1, -1, -1), k, v)),
    "other_value_width": attended(lambda q, k, v, i: F.scaled_dot_product_attention(q, k, v[..., :3])),
    "mha": (random(2, 5, 8), lambda p, i: MHA(p, p * 0.5, p.sin(), need_weights=False)[0]),
    "mha_weights": (random(2, 5, 8), lambda p, i: torch.cat([x.flatten() for x in MHA(p, p, p)])),
    "mha_each_weight": (random(2, 5, 8), lambda p, i: MHA(p, p, p, average_attn_weights=False)[1]),
    "mha_padding": (random(2, 5, 8), lambda p, i: MHA(p, p, p, key_padding_mask=torch.stack([i[:5] > 3, i[:5] > 2]), need_weights=False)[0]),
    "mha_bool": (random(2, 5, 8), lambda p, i: MHA(p[:, :3], p, p, attn_mask=~MASK)[0]),
    "mha_float": (random(2, 5, 8), lambda p, i: MHA(p[:, :3], p, p, attn_mask=MASK.float(), need_weights=False)[0]),
    "mha_causal": (random(2, 5, 8), lambda p, i: MHA(p, p, p, attn_mask=nn.Transformer.generate_square_subsequent_mask(5), is_causal=True, need_weights=False)[0]),
    "mha_both": (random(2, 5, 8), lambda p, i: MHA(p, p, p, key_padding_mask=torch.stack([i[:5] > 3, i[:5] > 2]), attn_mask=torch.ones(5, 5).triu(1).bool())[0]),
    "mha_other_widths": (random(5, 2, 8), lambda p, i: MHA_KV(p, p[..., :4], p[..., 5:])[0]),
    "mha_unbatched": (random(5, 8), lambda p, i: MHA(p, p, p)[0]),
}

MOVEMENT = {
    "chunk_uneven": (random(7, 2), lambda p, i: torch.cat([x.sum(0) * k for k, x in enumerate(p.chunk(3))])),
    "chunk_few": (random(5, 2), lambda p, i: torch.cat([x.sum(0) * k for k, x in enumerate(p.chunk(4))])),
    "split_uneven": (random(7, 2), lambda p, i: torch.cat([x.sum(0) * k for k, x in enumerate(p.split(3))])),
    "tensor_split": (random(7, 2), lambda p, i: torch.cat([x.sum(0) * k for k, x in enumerate(p.tensor_split(3))])),
    "tensor_split_places": (random(7, 2), lambda p, i: torch.cat([x.sum(0) * k for k, x in enumerate(p.tensor_split((2, 5)))])),
    "hsplit": (random(2, 4), lambda p, i: p.hsplit(2)[1] + p.vsplit(2)[0][:, :2]),
    "stack_negative": (random(2, 3), lambda p, i: torch.stack([p, p * 2], -1) + torch.stack([p, p], dim=-2).mT),
    "stacks": (random(2, 3), lambda p, i: torch.hstack([p, p]) + torch.vstack([p, p]).sum() + torch.hstack([p[0], p[1]]) + torch.dstack([p, p]).sum()),
    "cat_types": (random(6), lambda p, i: torch.cat([p, i, i > 2]) + torch.cat([torch.tensor([]), p]).sum()),
    "repeat": (random(2, 3), lambda p, i: p.repeat(2, 1, 2) + p.tile(2).sum() + p.tile(2, 1, 1).sum()),
    "repeat_interleave": (random(2, 3), lambda p, i: p.repeat_interleave(2) + p.repeat_interleave(2, dim=-2).flatten() * 2),
    "repeat_interleave_each": (random(2, 3), lambda p, i: p.repeat_interleave(torch.tensor([1, 2, 0]), dim=1)),
    "expand": (random(2, 1), lambda p, i: p.expand(-1, 3) + p.expand(4, -1, -1).sum(0) + torch.broadcast_to(p, (2, 3))),
    "squeeze": (random(1, 2, 1), lambda p, i: p.squeeze() + p.squeeze(0).squeeze(-1) + p.squeeze((0, 2)) + p.squeeze(1)[0, :, 0]),
    "moves": (random(2, 3, 4), lambda p, i: p.movedim(0, -1) + p.permute(1, 2, 0) * 2 + p.transpose(0, -1).transpose(0, 1) + p.swapaxes(0, 1).mT.contiguous().mT.movedim(1, 2)),
    "meshgrid": (random(3), lambda p, i: torch.cat([x.flatten() for x in torch.meshgrid(p, p[:2], indexing="ij") + torch.meshgrid(p, p[:2], indexing="xy")])),
    "diag": (random(3), lambda p, i: torch.diag(p) + torch.diag_embed(p) * 2 + torch.diagflat(p)),
    "diag_embed_offset": (random(2, 3), lambda p, i: torch.diag_embed(p, offset=1)),
    "diagonals": (random(3, 4), lambda p, i: p.diagonal(1) + p.diagonal(-1).sum() + p.t().diagonal().mean()),
    "diagonal_dims": (random(2, 3, 3), lambda p, i: p.diagonal(0, -2, -1) + p.diagonal(offset=1, dim1=2, dim2=0).sum()),
    "triangles": (random(2, 3, 4), lambda p, i: p.tril(1) + p.triu(-1) * 2 + p.tril(-5)),
    "view_dims": (random(2, 6), lambda p, i: p.view(-1, 3) + p.reshape(4, -1) + p.unflatten(-1, (2, 3)).flatten(0, 1)),
    "ravel": (random(2, 3), lambda p, i: p.ravel() + p.t().ravel() + p.flatten()),
    "atleast": (random(3), lambda p, i: torch.atleast_2d(p) + torch.atleast_1d(p.sum())),
    "combinations_like": (random(3), lambda p, i: p.unsqueeze(1) - p.unsqueeze(0)),
    "as_strided": (random(6), lambda p, i: p.as_strided((2, 3), (3, 1))),
    "slice_scatter": (random(4, 3), lambda p, i: p.slice_scatter(p[:2] * 2, 0, 1, 4, 2) + p.select_scatter(p[0], 0, -1)),
    "diagonal_scatter": (random(3, 3), lambda p, i: p.diagonal_scatter(p[0] * 2)),
}
