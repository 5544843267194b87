// See Root.h.
#include "compiler/frontend/emit/Root.h"

namespace cleave::emit {

using namespace graph;

// The selects keep the infinite slope of the root at 0 out of gradients.
Value flatRoot(const Emitter &e, Value x) {
  Value isZero = e.compare(Predicate::EQ, x, 0);
  Value root = e.unary<SqrtOp>(e.select(isZero, e.splat(x, 1), x));
  return e.select(isZero, e.splat(x, 0), root);
}

} // namespace cleave::emit
