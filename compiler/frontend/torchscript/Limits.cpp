// See Limits.h.
#include "compiler/frontend/torchscript/Limits.h"

#include "compiler/frontend/torchscript/Nesting.h"

namespace cleave::torchscript {

using emit::fail;

static constexpr int64_t kMaxWork = int64_t(1) << 20, kMaxOperators = int64_t(1) << 16;

void Limits::spend(int64_t work) {
  if ((work_ += work) > kMaxWork)
    fail("the program takes more than ", kMaxWork, " small steps when its loops are unrolled");
}

void Limits::countOperator() {
  if (++operators_ > kMaxOperators)
    fail("the program calls more than ", kMaxOperators, " operators when its loops are unrolled");
}

void Limits::checkFits(const IValue &value, const IValue &around) {
  if (value.isList() || value.isObject())
    spend(checkNesting(value, &around));
}

void Limits::checkCertain(const std::string &what) const {
  if (uncertain > 0)
    fail(what, " in a branch that depends on data, expected only new values there, which are "
               "computed for both sides and selected from");
}

DepthGuard::DepthGuard(Limits &limits, int weight) : limits(limits), weight(weight) {
  if (limits.depth + weight > kMaxDepth)
    fail("calls are nested too deeply; does a function call itself without end?");
  limits.depth += weight;
}

} // namespace cleave::torchscript
