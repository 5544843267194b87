// BatchMoments: for GPUs, mean and variance over a batch in one pass over the data.
//
// The variance is the mean of squared distances from the mean, so that a batch norm reads its data
// once for the mean and once more for the variance. Sums per sample of x - s and (x - s)^2, where s
// is the first element of the sample in its channel, take one pass; they give each sample's mean
// and its squared distances from it, which are merged over the batch (T. Chan, G. Golub and
// R. LeVeque, "Updating Formulae and a Pairwise Algorithm for Computing Sample Variances", 1979).
//
// Since s is one of the m elements of a sample, (s - mean)^2 is at most m times the variance of the
// sample, whatever its mean: the relative error of the variance is at most m roundings.
#pragma once

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace cleave::decompose {

// Rewrites each sum of squared distances from the mean over dim 0 and others, and the sum from
// which the mean is computed, if the dim that is innermost in memory is kept. Equal ops must have
// been merged. Returns the number of rewritten pairs of sums.
int64_t mergeBatchMoments(mlir::func::FuncOp function);

// Registers --cleave-decompose-batch-moments.
void registerBatchMomentsPass();

} // namespace cleave::decompose
