// Contractions: linear layers, matrix products, sums of products, convolutions.
#include "compiler/frontend/emit/Contraction.h"
#include "compiler/frontend/aten/OpCall.h"
#include "compiler/frontend/emit/Convolution.h"
#include "compiler/frontend/emit/Einsum.h"
#include "compiler/frontend/emit/Elementwise.h"
#include "compiler/frontend/emit/MatrixExponential.h"
#include "compiler/frontend/emit/Movement.h"

namespace cleave::aten {
namespace {

// -- products -------------------------------------------------------------------------------------
Array bias(OpCall &c, std::string_view name = "bias") {
  return c.has(name) ? c.tensor(name) : Array();
}

Results linear(OpCall &c) {
  return emit::linear(c.e, c.tensor("input"), c.tensor("weight"), bias(c));
}

void checkRanks(OpCall &c, const char *lhs, int64_t lhsRank, const char *rhs, int64_t rhsRank) {
  Array a = c.tensor(lhs), b = c.tensor(rhs);
  if (rankOf(a) != lhsRank || rankOf(b) != rhsRank)
    fail("multiplies shapes ", emit::showShape(shapeOf(a)), " and ", emit::showShape(shapeOf(b)),
         ", expected ", lhsRank, " and ", rhsRank, " dims");
}

Results matmul(OpCall &c) { return emit::matmul(c.e, c.tensor("self"), c.tensor("other")); }

// The product of several matrices, from left to right. The first and the last may be vectors.
Results chain(OpCall &c) {
  Arrays factors = c.tensors("tensors");
  if (factors.size() < 2)
    fail("multiplies ", factors.size(), " tensors, expected at least 2");
  Array result = factors[0];
  for (size_t i = 1; i < factors.size(); ++i)
    result = emit::matmul(c.e, result, factors[i]);
  return result;
}

template <int64_t lhsRank, int64_t rhsRank> Results product(OpCall &c) {
  const char *other = rhsRank > 1 ? "mat2" : lhsRank > 1 ? "vec" : "tensor";
  checkRanks(c, "self", lhsRank, other, rhsRank);
  return emit::matmul(c.e, c.tensor("self"), c.tensor(other));
}

// The cross product along `dim`, by default the first dim of size 3.
Results cross(OpCall &c) {
  const ElementType type = promotedType(c, {c["self"], c["other"]});
  Array a = c.readAs(c["self"], type), b = c.readAs(c["other"], type);
  int64_t dim = 0;
  if (c.has("dim"))
    dim = c.dim("dim", rankOf(a));
  else
    while (dim + 1 < rankOf(a) && shapeOf(a)[dim] != Polynomial(3))
      ++dim;
  if (rankOf(a) != rankOf(b) || dim >= rankOf(a) || shapeOf(a)[dim] != Polynomial(3) ||
      shapeOf(b)[dim] != Polynomial(3))
    fail("multiplies vectors of shapes ", emit::showShape(shapeOf(a)), " and ",
         emit::showShape(shapeOf(b)), ", expected as many dims, and 3 elements along one of them");
  auto term = [&](int64_t shift) {
    return emit::broadcastBinary<graph::MulOp>(c.e, emit::roll(c.e, a, dim, -shift),
                                               emit::roll(c.e, b, dim, shift));
  };
  return emit::broadcastBinary<graph::SubOp>(c.e, term(1), term(-1));
}

Results addedTo(OpCall &c, const char *lhs, const char *rhs) {
  return emit::addMatmul(c.e, c.tensor("self"), c.tensor(lhs), c.tensor(rhs), c.number("beta"),
                         c.number("alpha"));
}
Results addmm(OpCall &c) {
  checkRanks(c, "mat1", 2, "mat2", 2);
  return addedTo(c, "mat1", "mat2");
}
Results baddbmm(OpCall &c) {
  checkRanks(c, "batch1", 3, "batch2", 3);
  return addedTo(c, "batch1", "batch2");
}
Results addmv(OpCall &c) { return addedTo(c, "mat", "vec"); }

Results outer(OpCall &c) {
  checkRanks(c, "self", 1, "vec2", 1);
  Array column = c.e.insertDim(c.tensor("self"), 1), row = c.e.insertDim(c.tensor("vec2"), 0);
  return emit::matmul(c.e, column, row);
}

Results einsum(OpCall &c) {
  Arrays operands = c.tensors("tensors");
  return emit::einsum(c.e, c.string("equation"), operands);
}

// Sums over pairs of dims: left[i] of x and right[i] of y.
Array contracted(OpCall &c, Array x, Array y, const Ints &left, const Ints &right) {
  c.e.checkSameType(x, y);
  c.e.axes(left, rankOf(x)), c.e.axes(right, rankOf(y)); // fails on duplicates
  for (size_t i = 0; i < left.size(); ++i)
    if (c.e.dim(x, left[i]) != c.e.dim(y, right[i]))
      fail("multiplies shapes ", emit::showShape(shapeOf(x)), " and ", emit::showShape(shapeOf(y)),
           " over dims ", emit::showInts(left), " and ", emit::showInts(right),
           ", expected equal sizes");
  Array out = graph::DotGeneralOp::create(c.e.b, c.e.loc, x, y, Ints(), Ints(), left, right);
  c.e.type(shapeOf(out), elementTypeOf(out)); // fails if it is too large
  return out;
}

Results tensordot(OpCall &c) {
  Array x = c.tensor("self"), y = c.tensor("other");
  Ints left, right;
  for (int64_t dim : c.plainIntegers("dims_self"))
    left.push_back(c.e.axis(dim, rankOf(x)));
  for (int64_t dim : c.plainIntegers("dims_other"))
    right.push_back(c.e.axis(dim, rankOf(y)));
  if (left.size() != right.size())
    fail("sums over ", left.size(), " and ", right.size(), " dims, expected equally many");
  return contracted(c, x, y, left, right);
}

// Sums over the last dims of both.
Results inner(OpCall &c) {
  Array x = c.tensor("self"), y = c.tensor("other");
  if (rankOf(x) == 0 || rankOf(y) == 0)
    return emit::broadcastBinary<graph::MulOp>(c.e, x, y);
  return contracted(c, x, y, {rankOf(x) - 1}, {rankOf(y) - 1});
}

// The Kronecker product.
Results kronecker(OpCall &c) {
  Array x = c.tensor("self"), y = c.tensor("other");
  while (rankOf(x) < rankOf(y))
    x = c.e.insertDim(x, 0);
  while (rankOf(y) < rankOf(x))
    y = c.e.insertDim(y, 0);
  Sizes outer, inner, out;
  for (int64_t i = 0; i < rankOf(x); ++i) {
    outer.insert(outer.end(), {shapeOf(x)[i], 1});
    inner.insert(inner.end(), {1, shapeOf(y)[i]});
    out.push_back(shapeOf(x)[i] * shapeOf(y)[i]);
  }
  Array products =
      emit::broadcastBinary<graph::MulOp>(c.e, c.e.reshape(x, outer), c.e.reshape(y, inner));
  return c.e.reshape(products, out);
}

// Products of groups of rows with a matrix each, or without groups of pairs of matrices.
Results groupedMm(OpCall &c) {
  Array x = c.tensor("self"), weights = c.tensor("mat2");
  if (c.has("bias"))
    fail("adds a bias, which Cleave does not do for groups; add it to the result");
  const bool isInPairs = rankOf(x) == 3 && rankOf(weights) == 3 && !c.has("offs");
  if (!isInPairs && (rankOf(x) != 2 || rankOf(weights) != 3 || !c.has("offs")))
    fail("multiplies shapes ", emit::showShape(shapeOf(x)), " and ",
         emit::showShape(shapeOf(weights)), c.has("offs") ? " in groups" : " without groups",
         ", expected 2 and 3 dims in groups, or 3 and 3 dims without");
  Array out = isInPairs ? emit::matmul(c.e, x, weights)
                        : emit::groupedMatmul(c.e, x, weights, c.tensor("offs"));
  return c.castIf(out, c.dtype("out_dtype"));
}
Results groupedMmFallback(OpCall &c) {
  return emit::groupedMatmul(c.e, c.tensor("input"), c.tensor("weight"), c.tensor("offs"));
}

// sum over i, j of x1[…, i] weight[o, i, j] x2[…, j].
Results bilinear(OpCall &c) {
  Array out = emit::einsum(c.e, "...i,oij,...j->...o",
                           {c.tensor("input1"), c.tensor("weight"), c.tensor("input2")});
  if (!c.has("bias"))
    return out;
  return c.e.add(out, c.e.broadcast(c.tensor("bias"), shapeOf(out)));
}

// -- convolutions ---------------------------------------------------------------------------------
// One entry per spatial dim.
Ints perDim(Ints values, size_t rank, const char *what) {
  if (values.size() == 1)
    values.assign(rank, values[0]);
  if (values.size() != rank)
    fail("has ", values.size(), " entries as '", what, "' for ", rank, " spatial dims");
  return values;
}

struct Convolution {
  Array x, weight, bias;
  emit::Window window;
  Ints outputPadding;
  int64_t groups = 1;
  bool isTransposed = false;
  bool hasBatch = true;
};

Convolution convolutionOf(OpCall &c) {
  Convolution out;
  out.x = c.tensor("input");
  out.weight = c.tensor("weight");
  out.bias = bias(c);
  out.groups = c.plainInteger("groups");
  c.e.checkRank(out.weight, 3);
  auto rank = static_cast<size_t>(rankOf(out.weight)) - 2;
  out.hasBatch = rankOf(out.x) != static_cast<int64_t>(rank) + 1;
  if (!out.hasBatch)
    out.x = c.e.insertDim(out.x, 0);
  out.window.strides = perDim(c.plainIntegers("stride"), rank, "stride");
  out.window.dilations = perDim(c.plainIntegers("dilation"), rank, "dilation");
  return out;
}

void padBy(OpCall &c, Convolution &conv) {
  Ints pads = perDim(c.plainIntegers("padding"), conv.window.strides.size(), "padding");
  conv.window.padsLow = conv.window.padsHigh = pads;
}

Results built(OpCall &c, const Convolution &conv) {
  Array out =
      conv.isTransposed
          ? emit::transposedConvolution(c.e, conv.x, conv.weight, conv.bias, conv.window,
                                        conv.outputPadding, conv.groups)
          : emit::convolution(c.e, conv.x, conv.weight, conv.bias, conv.window, conv.groups);
  return conv.hasBatch ? out : c.e.dropDim(out, 0);
}

Results conv(OpCall &c) {
  Convolution out = convolutionOf(c);
  padBy(c, out);
  return built(c, out);
}

// Padding by name: `valid` is none, `same` keeps the size for strides of 1.
Results convNamed(OpCall &c) {
  Convolution out = convolutionOf(c);
  size_t rank = out.window.strides.size();
  out.window.padsLow.assign(rank, 0);
  out.window.padsHigh.assign(rank, 0);
  const std::string &padding = c.string("padding");
  if (padding != "valid" && padding != "same")
    fail("pads by '", padding, "', expected valid or same");
  Ints kernel = c.e.numbers(emit::spatialOf(out.weight), "the kernel");
  for (size_t i = 0; padding == "same" && i < rank; ++i) {
    int64_t total = 0;
    if (__builtin_mul_overflow(out.window.dilations[i], kernel[i] - 1, &total))
      fail("has dilations ", emit::showInts(out.window.dilations), ", which are out of range");
    out.window.padsLow[i] = total / 2;
    out.window.padsHigh[i] = total - total / 2;
  }
  return built(c, out);
}

Convolution transposed(OpCall &c) {
  Convolution out = convolutionOf(c);
  padBy(c, out);
  out.isTransposed = true;
  out.outputPadding =
      perDim(c.plainIntegers("output_padding"), out.window.strides.size(), "output_padding");
  return out;
}
Results convTransposed(OpCall &c) { return built(c, transposed(c)); }
Results convolution(OpCall &c) { return c.boolean("transposed") ? convTransposed(c) : conv(c); }

Results matrixExponential(OpCall &c) { return emit::matrixExponential(c.e, c.floats("self")); }

constexpr const char *kConv = "T input, T weight, T? bias=None, i[] stride=1, i[] padding=0, "
                              "i[] dilation=1, i groups=1";
constexpr const char *kNamed = "T input, T weight, T? bias=None, i[] stride=1, "
                               "str padding='valid', i[] dilation=1, i groups=1";
constexpr const char *kTransposed = "T input, T weight, T? bias=None, i[] stride=1, i[] padding=0, "
                                    "i[] output_padding=0, i groups=1, i[] dilation=1";
constexpr const char *kGeneral =
    "T input, T weight, T? bias, i[] stride, i[] padding, i[] dilation, b transposed, "
    "i[] output_padding, i groups, any benchmark=None, any deterministic=None, "
    "any cudnn_enabled=None, any allow_tf32=None";
constexpr const char *kGrouped = "T self, T mat2, T? offs=None, T? bias=None, i? out_dtype=None";
#define CLEAVE_SUMMED "*, s beta=1, s alpha=1"

constexpr OpEntry kContractionOps[] = {
    {"_convolution", kGeneral, convolution},
    {"_convolution_mode", kNamed, convNamed},
    {"_grouped_mm", kGrouped, groupedMm},
    {"addmm", "T self, T mat1, T mat2, " CLEAVE_SUMMED, addmm},
    {"addmv", "T self, T mat, T vec, " CLEAVE_SUMMED, addmv},
    {"baddbmm", "T self, T batch1, T batch2, " CLEAVE_SUMMED, baddbmm},
    {"bilinear", "T input1, T input2, T weight, T? bias=None", bilinear},
    {"bmm", "T self, T mat2", product<3, 3>},
    {"conv1d", kConv, conv},
    {"conv1d", kNamed, convNamed},
    {"conv2d", kConv, conv},
    {"conv2d", kNamed, convNamed},
    {"conv3d", kConv, conv},
    {"conv3d", kNamed, convNamed},
    {"conv_transpose1d", kTransposed, convTransposed},
    {"conv_transpose2d", kTransposed, convTransposed},
    {"conv_transpose3d", kTransposed, convTransposed},
    {"convolution", kGeneral, convolution},
    {"cross", "T self, T other, i? dim=None", cross},
    {"dot", "T self, T tensor", product<1, 1>},
    {"einsum", "str equation, T[] tensors, *, any path=None", einsum},
    {"ger", "T self, T vec2", outer},
    {"inner", "T self, T other", inner},
    {"kron", "T self, T other", kronecker},
    {"linalg_cross", "T self, T other, *, i dim=-1", cross},
    {"linalg_matrix_exp", "T self", matrixExponential},
    {"linalg_matmul", "T self, T other", matmul},
    {"linalg_multi_dot", "T[] tensors", chain},
    {"linear", "T input, T weight, T? bias=None", linear},
    {"matmul", "T self, T other", matmul},
    {"matrix_exp", "T self", matrixExponential},
    {"mm", "T self, T mat2", product<2, 2>},
    {"mv", "T self, T vec", product<2, 1>},
    {"outer", "T self, T vec2", outer},
    {"tensordot", "T self, T other, i[] dims_self, i[] dims_other", tensordot},
    {"transformers::grouped_mm_fallback", "T input, T weight, T offs", groupedMmFallback},
    {"vdot", "T self, T other", matmul},
};

} // namespace

llvm::ArrayRef<OpEntry> contractionOps() { return kContractionOps; }

} // namespace cleave::aten
