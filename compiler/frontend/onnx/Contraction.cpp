// Contractions: MatMul, Gemm, Conv.
#include "compiler/frontend/onnx/NodeImport.h"
#include "compiler/frontend/onnx/Window.h"

namespace cleave::onnx {
namespace {

using namespace graph;

Value dot(NodeImport &n, Value lhs, Value rhs, int64_t batch, int64_t lhsDim, int64_t rhsDim) {
  Dims dims;
  for (int64_t i = 0; i < batch; ++i)
    dims.push_back(i);
  return DotGeneralOp::create(n.b, n.loc, lhs, rhs, dims, dims, Dims{lhsDim}, Dims{rhsDim});
}

void checkContracted(const Dims &a, int64_t i, const Dims &c, int64_t j) {
  if (a[i] != c[j])
    fail("multiplies shapes " + showDims(a) + " and " + showDims(c) + ": dim " + std::to_string(i) +
         " of size " + std::to_string(a[i]) + " and dim " + std::to_string(j) + " of size " +
         std::to_string(c[j]) + " should be equal");
}

Values importMatMul(NodeImport &n) {
  n.checkInputs(2, 2);
  Value lhs = n.input(0), rhs = n.input(1);
  n.checkSameType(lhs, rhs);
  Dims a = dimsOf(lhs), c = dimsOf(rhs);
  if (a.empty() || c.empty())
    fail("multiplies shapes " + showDims(a) + " and " + showDims(c) +
         ", expected at least one dim each");
  int64_t contracted = c.size() == 1 ? 0 : static_cast<int64_t>(c.size()) - 2;
  checkContracted(a, static_cast<int64_t>(a.size()) - 1, c, contracted);
  // A matrix or vector on the right is shared by whatever stands on the left.
  if (c.size() <= 2)
    return {dot(n, lhs, rhs, 0, static_cast<int64_t>(a.size()) - 1, contracted)};
  bool vector = a.size() == 1;
  if (vector)
    lhs = n.reshape(lhs, a = {1, a[0]});
  Dims batch = broadcastDims(Dims(a.begin(), a.end() - 2), Dims(c.begin(), c.end() - 2));
  auto withBatch = [&](const Dims &dims) {
    Dims out = batch;
    out.insert(out.end(), dims.end() - 2, dims.end());
    return out;
  };
  lhs = n.broadcast(lhs, withBatch(a));
  rhs = n.broadcast(rhs, withBatch(c));
  auto rank = static_cast<int64_t>(batch.size());
  Value result = dot(n, lhs, rhs, rank, rank + 1, rank);
  if (vector) {
    batch.push_back(c.back());
    result = n.reshape(result, batch);
  }
  return {result};
}

Value scaled(NodeImport &n, Value value, double factor) {
  return factor == 1 ? value : Value(MulOp::create(n.b, n.loc, value, n.splat(value, factor)));
}

Values importGemm(NodeImport &n) {
  n.checkInputs(2, 3);
  Value lhs = n.input(0), rhs = n.input(1);
  n.checkSameType(lhs, rhs);
  if (rankOf(lhs) != 2 || rankOf(rhs) != 2)
    fail("multiplies shapes " + showDims(dimsOf(lhs)) + " and " + showDims(dimsOf(rhs)) +
         ", expected 2 dims each");
  int64_t lhsDim = n.integer("transA", 0) ? 0 : 1, rhsDim = n.integer("transB", 0) ? 1 : 0;
  double alpha = n.number("alpha", 1), beta = n.number("beta", 1);
  checkContracted(dimsOf(lhs), lhsDim, dimsOf(rhs), rhsDim);
  Value result = scaled(n, dot(n, lhs, rhs, 0, lhsDim, rhsDim), alpha);
  if (!n.hasInput(2) || beta == 0)
    return {result};
  Value summand = n.input(2);
  n.checkSameType(result, summand);
  summand = n.broadcast(scaled(n, summand, beta), dimsOf(result));
  return {AddOp::create(n.b, n.loc, result, summand)};
}

Values importConv(NodeImport &n) {
  n.checkInputs(2, 3);
  Value x = n.input(0), weight = n.input(1);
  n.checkFloat(x);
  n.checkSameType(x, weight);
  Dims data = dimsOf(x), kernel = dimsOf(weight);
  if (data.size() < 3 || kernel.size() != data.size())
    fail("has data " + showDims(data) + " and weight " + showDims(kernel) +
         ", expected equally many dims, at least 3");
  int64_t groups = n.integer("group", 1);
  if (groups < 1 || kernel[1] > data[1] || kernel[1] * groups != data[1] || kernel[0] % groups)
    fail("has data " + showDims(data) + " and weight " + showDims(kernel) + " in " +
         std::to_string(groups) + " groups: the channels do not fit");
  Window window =
      readWindow(n, Dims(data.begin() + 2, data.end()), Dims(kernel.begin() + 2, kernel.end()));
  Value result = ConvOp::create(n.b, n.loc, x, weight, window.strides, window.dilations,
                                window.padsLow, window.padsHigh, groups);
  if (!n.hasInput(2))
    return {result};
  Value bias = n.input(2);
  n.checkSameType(x, bias);
  if (dimsOf(bias) != Dims{kernel[0]})
    fail("has a bias " + showDims(dimsOf(bias)) + ", expected [" + std::to_string(kernel[0]) + "]");
  Dims column(data.size() - 1, 1);
  column[0] = kernel[0];
  bias = n.broadcast(n.reshape(bias, column), dimsOf(result));
  return {AddOp::create(n.b, n.loc, result, bias)};
}

constexpr OpEntry kOps[] = {
    {"Conv", 1, importConv},
    {"Gemm", 7, importGemm},
    {"MatMul", 1, importMatMul},
};

} // namespace

llvm::ArrayRef<OpEntry> contractionOps() { return kOps; }

} // namespace cleave::onnx
