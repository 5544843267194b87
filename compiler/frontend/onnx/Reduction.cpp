// Reductions over some dims, which vanish or stay with size 1.
#include "compiler/frontend/onnx/NodeImport.h"

#include <numeric>

namespace cleave::onnx {
namespace {

using namespace graph;

enum class Kind { Sum, Mean, Max, Min, Prod, L1, L2, SumSquare, LogSum, LogSumExp };

// log(sum(exp(x))) without overflow.
Value logSumExp(NodeImport &n, Value x, const Dims &over) {
  Value most = buildReduce(n.b, Reduction::Max, x, over);
  Value shifted = SubOp::create(n.b, n.loc, x, buildBroadcastOver(n.b, most, x, over));
  Value sum =
      buildReduce(n.b, Reduction::Sum, ExpOp::create(n.b, n.loc, x.getType(), shifted), over);
  return AddOp::create(n.b, n.loc, LogOp::create(n.b, n.loc, sum.getType(), sum), most);
}

Value absolute(NodeImport &n, Value x) {
  if (mlir::isa<mlir::FloatType>(elementOf(x)))
    return AbsOp::create(n.b, n.loc, x.getType(), x);
  return MaxOp::create(n.b, n.loc, x, SubOp::create(n.b, n.loc, n.splat(x, 0), x));
}

Value reduce(NodeImport &n, Kind kind, Value x, const Dims &over) {
  auto sum = [&](Value value) { return buildReduce(n.b, Reduction::Sum, value, over); };
  switch (kind) {
  case Kind::Sum:
    return sum(x);
  case Kind::Mean:
    return buildMean(n.b, x, over);
  case Kind::Max:
    return buildReduce(n.b, Reduction::Max, x, over);
  case Kind::Min:
    return buildReduce(n.b, Reduction::Min, x, over);
  case Kind::Prod:
    return buildReduce(n.b, Reduction::Prod, x, over);
  case Kind::L1:
    return sum(absolute(n, x));
  case Kind::SumSquare:
    return sum(MulOp::create(n.b, n.loc, x, x));
  case Kind::LogSumExp:
    return logSumExp(n, x, over);
  case Kind::L2: {
    Value squares = sum(MulOp::create(n.b, n.loc, x, x));
    return SqrtOp::create(n.b, n.loc, squares.getType(), squares);
  }
  case Kind::LogSum: {
    Value all = sum(x);
    return LogOp::create(n.b, n.loc, all.getType(), all);
  }
  }
  return nullptr;
}

bool worksOnIntegers(Kind kind) {
  return kind == Kind::Sum || kind == Kind::Max || kind == Kind::Min || kind == Kind::Prod ||
         kind == Kind::L1 || kind == Kind::SumSquare;
}

Values reduceOver(NodeImport &n, Kind kind, std::optional<Dims> axes) {
  Value x = n.input(0);
  if (!worksOnIntegers(kind))
    n.checkFloat(x);
  bool keep = n.integer("keepdims", 1), nothingIfEmpty = n.integer("noop_with_empty_axes", 0);
  Dims over(rankOf(x));
  std::iota(over.begin(), over.end(), 0);
  if (axes && !axes->empty())
    over = n.axes(*axes, rankOf(x));
  else if (nothingIfEmpty)
    over.clear(); // every element by itself
  Value result = reduce(n, kind, x, over);
  if (!keep)
    return {result};
  Dims dims = dimsOf(x);
  for (int64_t dim : over)
    dims[dim] = 1;
  return {n.reshape(result, dims)};
}

// The axes as an attribute.
template <Kind kind> Values byAttribute(NodeImport &n) {
  n.checkInputs(1, 1);
  return reduceOver(n, kind, n.integers("axes"));
}

// The axes as an input.
template <Kind kind> Values byInput(NodeImport &n) {
  n.checkInputs(1, 2);
  return reduceOver(n, kind,
                    n.hasInput(1) ? std::optional(n.constantIntegers(1, "axes")) : std::nullopt);
}

constexpr OpEntry kOps[] = {
    {"ReduceL1", 1, byAttribute<Kind::L1>},
    {"ReduceL1", 18, byInput<Kind::L1>},
    {"ReduceL2", 1, byAttribute<Kind::L2>},
    {"ReduceL2", 18, byInput<Kind::L2>},
    {"ReduceLogSum", 1, byAttribute<Kind::LogSum>},
    {"ReduceLogSum", 18, byInput<Kind::LogSum>},
    {"ReduceLogSumExp", 1, byAttribute<Kind::LogSumExp>},
    {"ReduceLogSumExp", 18, byInput<Kind::LogSumExp>},
    {"ReduceMax", 1, byAttribute<Kind::Max>},
    {"ReduceMax", 18, byInput<Kind::Max>},
    {"ReduceMean", 1, byAttribute<Kind::Mean>},
    {"ReduceMean", 18, byInput<Kind::Mean>},
    {"ReduceMin", 1, byAttribute<Kind::Min>},
    {"ReduceMin", 18, byInput<Kind::Min>},
    {"ReduceProd", 1, byAttribute<Kind::Prod>},
    {"ReduceProd", 18, byInput<Kind::Prod>},
    {"ReduceSum", 1, byAttribute<Kind::Sum>},
    {"ReduceSum", 13, byInput<Kind::Sum>},
    {"ReduceSumSquare", 1, byAttribute<Kind::SumSquare>},
    {"ReduceSumSquare", 18, byInput<Kind::SumSquare>},
};

} // namespace

llvm::ArrayRef<OpEntry> reductionOps() { return kOps; }

} // namespace cleave::onnx
