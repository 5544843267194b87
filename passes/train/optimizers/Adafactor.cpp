// Adafactor (N. Shazeer and M. Stern, Adafactor: Adaptive Learning Rates with Sublinear Memory
// Cost, 2018), as torch.optim.Adafactor computes it. Instead of the mean of squares of every
// element of a matrix, it keeps those of rows and of columns.
#include "passes/train/optimizers/Update.h"

#include <cmath>

using namespace cleave::graph;

namespace cleave::train {

// The root of the mean of the squares, a scalar.
static Term rootMeanSquare(Term x) {
  return sqrt(mean(x * x, llvm::to_vector(llvm::seq<int64_t>(0, rankOf(x)))));
}

// The difference between 1 and the next number of the tensor's type.
static double smallestDifference(Term x) {
  auto type = mlir::cast<mlir::FloatType>(elementTypeOf(x));
  return std::ldexp(1.0, 1 - static_cast<int>(type.getFPMantissaWidth()));
}

// old + (now - old) * share, the new value of a state.
static Term moved(Update &u, const char *name, Term now, Term share) {
  Term old = u.state(name, 0, now.value.getType());
  Term value = old + (now - old) * u.everywhere(share, old);
  u.setState(old, value);
  return value;
}

// The mean of squares of each element, estimated from those of the rows and columns of the last two
// dims.
static Term factoredSquares(Update &u, Term squares, Term share, double least) {
  int64_t last = rankOf(squares) - 1;
  Term rows = moved(u, "adafactor.rows", mean(squares, {last}), share);
  Term columns = moved(u, "adafactor.columns", mean(squares, {last - 1}), share);
  Term whole = mean(rows, {last - 1});
  Term scaled = rows / spread(max(whole, least), rows, {last - 1});
  return spread(scaled, squares, {last}) * spread(columns, squares, {last - 1});
}

void buildAdafactor(Update &u) {
  Term p = u.parameter, g = u.gradient, squares = g * g;
  // As PyTorch's default, None.
  double eps = u["eps1"] != 0 ? u["eps1"] : smallestDifference(p);
  Term share = pow(u.step, u.step.splat(u["beta2-decay"]));
  Term square = rankOf(p) > 1 ? factoredSquares(u, squares, share, eps)
                              : moved(u, "adafactor.squares", squares, share);
  Term direction = g * rsqrt(max(square, eps * eps));
  Term clipping = max(rootMeanSquare(direction) / u["d"], 1);
  Term rate = min(u.rate, rsqrt(u.step));
  Term size = max(rootMeanSquare(p), u["eps2"]);
  u.setParameter(u.decayedParameter() -
                 direction * u.everywhere(rate) * u.everywhere(size / clipping));
}

} // namespace cleave::train
