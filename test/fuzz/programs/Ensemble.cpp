#include "test/fuzz/programs/Ensemble.h"

#include "dialects/graph/Graph.h"
#include "dialects/graph/Step.h"

#include "llvm/Support/FormatVariadic.h"

#include <algorithm>
#include <cmath>
#include <random>

using namespace mlir;

namespace cleave::fuzz {

namespace {

// Runs with random errors. Two more runs shift the operands of discontinuous ops.
constexpr int kPerturbed = 4;
constexpr double kParted = 4; // factor of the largest difference between the runs

// The relative error of one op: several units in the last place, because functions are
// approximated.
double unitOf(ElementType type) {
  switch (type) {
  case ElementType::F64:
    return 0x1p-49;
  case ElementType::F32:
    return 0x1p-21;
  case ElementType::F16:
    return 0x1p-9;
  case ElementType::BF16:
    return 0x1p-6;
  default:
    return 0;
  }
}

// Whether the op is discontinuous.
bool jumps(Operation *op) {
  if (isa<graph::CastOp>(op))
    return isFloat(graph::toElementType(graph::elementTypeOf(op->getOperand(0)))) &&
           !isFloat(graph::toElementType(graph::elementTypeOf(op->getResult(0))));
  return isa<graph::CompareOp, graph::FloorOp, graph::CeilOp, graph::RoundOp, graph::RemOp,
             graph::SortOp, graph::PoolGradOp>(op);
}

Tensor absolute(const Tensor &tensor) {
  Tensor result = tensor;
  if (isFloat(tensor.type))
    for (double &value : result.values)
      value = std::fabs(value);
  return result;
}

double largest(ArrayRef<Tensor> tensors) {
  double size = 0;
  for (const Tensor &tensor : tensors)
    for (double value : tensor.values)
      if (isFloat(tensor.type) && std::isfinite(value))
        size = std::max(size, std::fabs(value));
  return size;
}

// The magnitudes to which the errors of an op's results are relative: for a sum its terms, not the
// sum; for a composite, which has sums inside, all its operands and results.
SmallVector<Tensor> magnitudes(Operation *op, ArrayRef<Tensor> operands, ArrayRef<Tensor> results) {
  if (isa<graph::DecompositionInterface>(op)) {
    double size = std::max(largest(operands), largest(results));
    SmallVector<Tensor> sizes(results);
    for (Tensor &tensor : sizes)
      std::fill(tensor.values.begin(), tensor.values.end(), size);
    return sizes;
  }
  SmallVector<Tensor> sizes;
  if (!isa<graph::ReduceOp, graph::ScanOp, graph::ScatterOp, graph::DotGeneralOp, graph::ConvOp,
           graph::ConvInputGradOp, graph::ConvWeightGradOp, graph::PoolOp, graph::PoolGradOp>(op)) {
    for (const Tensor &result : results)
      sizes.push_back(absolute(result));
    return sizes;
  }
  SmallVector<Tensor> positive;
  for (const Tensor &operand : operands)
    positive.push_back(absolute(operand));
  for (Tensor &size : cast<graph::ReferenceInterface>(op).evaluate(positive)) {
    // A sequential sum of n terms has an error of up to n roundings.
    double summands = 1;
    for (const Tensor &operand : operands)
      summands = std::max(summands, static_cast<double>(operand.size()) /
                                        static_cast<double>(std::max<int64_t>(1, size.size())));
    sizes.push_back(absolute(size));
    for (double &value : sizes.back().values)
      value *= 1 + summands / 32;
  }
  return sizes;
}

// Errors of functions in addition to some units in the last place of their result.
double extraError(Operation *op, ElementType type, double result) {
  if (type == ElementType::F64) // computed as exp(x) - 1 and log(1 + x)
    return isa<graph::Expm1Op, graph::Log1pOp>(op) ? 0x1p-50 : 0;
  if (type != ElementType::F32)
    return 0;
  if (isa<graph::SinOp, graph::CosOp, graph::AtanOp>(op))
    return 0x1p-18; // polynomials of a reduced argument
  if (isa<graph::PowOp>(op) && result != 0 && std::isfinite(result))
    return std::fabs(result * std::log(std::fabs(result))) * 0x1p-20;
  return 0;
}

// The differences between the runs at every discontinuous op, in the order of execution.
using Spreads = std::vector<std::vector<Tensor>>;

// The errors of approximations have the same sign in neighbouring elements and add up in sums;
// rounding errors have mixed signs.
enum class Errors { None, Up, Down, Mixed };
constexpr Errors kErrors[] = {Errors::None,  Errors::Up,    Errors::Down, Errors::Mixed,
                              Errors::Mixed, Errors::Mixed, Errors::Mixed};

class Member : public interpret::StepObserver {
public:
  Member(uint64_t seed, Errors errors, int direction, std::vector<std::vector<Tensor>> &met,
         const Spreads &spreads)
      : random_(seed), errors_(errors), direction_(direction), met_(met), spreads_(spreads) {}

  void beforeOp(Operation *op, MutableArrayRef<Tensor> operands) override {
    if (!jumps(op))
      return;
    if (direction_ == 0) {
      met_.emplace_back(operands.begin(), operands.end());
      return;
    }
    const std::vector<Tensor> &spread = spreads_[next_++];
    bool isPointwise = isa<graph::PointwiseInterface>(op);
    for (size_t k = 0; k < operands.size(); ++k) {
      if (!isFloat(operands[k].type))
        continue;
      for (int64_t i = 0; i < operands[k].size(); ++i) {
        bool up = isPointwise ? k % 2 == 0 : random_() % 2 == 0;
        operands[k].values[i] += (up ? 1 : -1) * direction_ * kParted * spread[k].values[i];
      }
    }
    if (direction_ < 0)
      meet(op, operands, spread);
  }

  void afterOp(Operation *op, ArrayRef<Tensor> operands, MutableArrayRef<Tensor> results) override {
    if (errors_ != Errors::None && isa<graph::CastOp>(op) && !isFloat(results[0].type))
      forgetUnspecified(operands[0], results[0]);
    if (errors_ != Errors::None)
      forgetOrderedProducts(op, operands, results);
    if (errors_ == Errors::None || jumps(op) ||
        isa<graph::ConstantOp, graph::IotaOp, graph::RandomOp>(op))
      return;
    SmallVector<Tensor> sizes = magnitudes(op, operands, results);
    for (auto [result, size] : llvm::zip(results, sizes)) {
      if (!isFloat(result.type))
        continue;
      double unit = unitOf(result.type);
      for (int64_t i = 0; i < result.size(); ++i) {
        double error = unit * size.values[i] + extraError(op, result.type, result.values[i]);
        if (error > 0 && std::isfinite(error))
          result.set(i, result.values[i] + error * part());
        else if (isa<graph::RsqrtOp>(op) && std::isinf(result.values[i]))
          result.set(i, std::nan("")); // kernels do not tell -0 from 0
      }
    }
  }

private:
  // A comparison with 0 or with another value also changes where both values become equal.
  static void meet(Operation *op, MutableArrayRef<Tensor> operands,
                   const std::vector<Tensor> &spread) {
    auto isNear = [&](int64_t i, double other, double room) {
      return std::fabs(operands[0].values[i] - other) <= 2 * kParted * (spread[0].values[i] + room);
    };
    if (isa<graph::CompareOp>(op) && isFloat(operands[0].type)) {
      for (int64_t i = 0; i < operands[0].size(); ++i)
        if (isNear(i, operands[1].values[i], spread[1].values[i]))
          operands[0].values[i] = operands[1].values[i];
    } else if (graph::elementTypeOf(op->getResult(0)).isInteger(1) && operands.size() == 1) {
      for (int64_t i = 0; i < operands[0].size(); ++i)
        if (isNear(i, 0, 0))
          operands[0].values[i] = 0;
    }
  }

  // Casts of NaN, infinities and large numbers to integers are unspecified: kernels return any
  // integer.
  static void forgetUnspecified(const Tensor &from, Tensor &to) {
    double limit = std::ldexp(1, static_cast<int>(8 * byteSize(to.type)) - 1);
    for (int64_t i = 0; i < from.size() && to.type != ElementType::Bool; ++i)
      if (isFloat(from.type) && !(std::fabs(from.values[i]) < limit))
        to.set(i, to.values[i] == 0 ? 1 : 0);
  }

  // A product whose large factors alone overflow, or whose small ones alone underflow, depends on
  // the order of its factors, which is up to the kernel.
  static void forgetOrderedProducts(Operation *op, ArrayRef<Tensor> operands,
                                    MutableArrayRef<Tensor> results) {
    auto reduce = dyn_cast<graph::ReduceOp>(op);
    auto scan = dyn_cast<graph::ScanOp>(op);
    bool isProduct = (reduce && reduce.getKind() == graph::Reduction::Prod) ||
                     (scan && scan.getKind() == graph::Reduction::Prod);
    if (!isProduct || !isFloat(operands[0].type))
      return;
    Tensor large = absolute(operands[0]), small = large;
    for (double &value : large.values)
      value = std::max(value, 1.0);
    for (double &value : small.values)
      value = value == 0 ? 1 : std::min(value, 1.0);
    auto reference = cast<graph::ReferenceInterface>(op);
    Tensor largest = reference.evaluate({large})[0], smallest = reference.evaluate({small})[0];
    for (int64_t i = 0; i < results[0].size(); ++i)
      if (std::isinf(largest.values[i]) || smallest.values[i] == 0)
        results[0].set(i, std::nan(""));
  }

  // Never small, because a few runs have to show the range of many.
  double part() {
    double size = 0.5 + 0.5 * static_cast<double>(random_()) / 0x1p64;
    bool up = errors_ == Errors::Up || (errors_ == Errors::Mixed && random_() % 2 == 0);
    return up ? size : -size;
  }

  std::mt19937_64 random_;
  Errors errors_;
  int direction_; // of the shift of the operands of discontinuous ops; 0: the operands are recorded
  std::vector<std::vector<Tensor>> &met_;
  const Spreads &spreads_;
  size_t next_ = 0;
};

// The largest difference from the first run, for every operand of every discontinuous op.
Spreads spreadsOf(const std::vector<std::vector<std::vector<Tensor>>> &met) {
  Spreads spreads = met[0];
  for (size_t op = 0; op < spreads.size(); ++op)
    for (size_t k = 0; k < spreads[op].size(); ++k) {
      Tensor &spread = spreads[op][k];
      double unit = unitOf(spread.type);
      for (int64_t i = 0; i < spread.size(); ++i) {
        double exact = met[0][op][k].values[i], widest = unit * std::fabs(exact);
        for (size_t run = 1; run < met.size(); ++run)
          widest = std::max(widest, std::fabs(met[run][op][k].values[i] - exact));
        spread.values[i] = std::isfinite(widest) ? widest : 0;
      }
    }
  return spreads;
}

const Tensor &memberOf(const Ensemble &ensemble, size_t run) {
  return ensemble[std::min(run, ensemble.size() - 1)];
}

} // namespace

Result<std::vector<Ensemble>> interpretEnsemble(func::FuncOp step, ArrayRef<Ensemble> persistent,
                                                ArrayRef<std::vector<Tensor>> microBatches,
                                                uint64_t seed) {
  std::vector<Ensemble> results(step.getNumResults());
  std::vector<std::vector<std::vector<Tensor>>> met;
  Spreads spreads;
  std::vector<std::vector<Tensor>> ignored;
  for (int run = 0; run < kPerturbed + 3; ++run) {
    int direction = run <= kPerturbed ? 0 : run == kPerturbed + 1 ? 1 : -1;
    if (run == kPerturbed + 1) {
      spreads = spreadsOf(met);
      if (spreads.empty())
        break;
    }
    std::vector<Tensor> args;
    for (const Ensemble &ensemble : persistent)
      args.push_back(memberOf(ensemble, static_cast<size_t>(run)));
    std::vector<std::vector<Tensor>> &record = direction == 0 ? met.emplace_back() : ignored;
    Member member(seed + static_cast<uint64_t>(run), kErrors[run], direction, record, spreads);
    Result<std::vector<Tensor>> values = interpret::runStep(step, args, microBatches, &member);
    CLEAVE_TRY(values.status());
    for (auto [ensemble, value] : llvm::zip_equal(results, *values))
      ensemble.push_back(std::move(value));
  }
  return results;
}

Comparison compare(const Ensemble &expected, const Tensor &found) {
  Comparison result;
  const Tensor &exact = expected[0];
  if (exact.shape != found.shape || exact.type != found.type) {
    result.wrong = 1;
    result.first = "another type or shape";
    return result;
  }
  for (int64_t i = 0; i < exact.size(); ++i) {
    double value = exact.values[i], spread = 0, got = found.values[i];
    bool differs = false; // in kind: NaN and numbers, infinities and others
    for (const Tensor &member : ArrayRef(expected).drop_front()) {
      double other = member.values[i];
      differs |= std::isnan(value) != std::isnan(other) ||
                 ((std::isinf(value) || std::isinf(other)) && value != other);
      spread = std::max(spread, std::fabs(other - value));
    }
    // If rounding changes a value by a large part of itself, a pole is near, and the error has no
    // bound.
    bool isNearPole = spread > 0.05 * std::fabs(value) && spread > 0.01;
    if (differs || isNearPole || (!isFloat(exact.type) && spread > 0)) {
      ++result.undecided;
      continue;
    }
    ++result.compared;
    double tolerance =
        isFloat(exact.type) ? 4 * spread + 8 * unitOf(exact.type) * std::fabs(value) + 1e-30 : 0;
    if (value == got || (std::isnan(value) && std::isnan(got)) ||
        std::fabs(value - got) <= tolerance)
      continue;
    if (result.wrong++ == 0)
      result.first = llvm::formatv("element {0}: found {1:e9}, expected {2:e9} within {3:e2}", i,
                                   got, value, tolerance);
  }
  return result;
}

} // namespace cleave::fuzz
