#include "compiler/planner/network/InParts.h"

namespace cleave::planner {

namespace {

// Replaces axes by their parts.
class Parts {
public:
  explicit Parts(const std::vector<std::vector<int>> &parts) : parts_(parts) {}

  void apply(std::vector<int> &axes) const {
    std::vector<int> result;
    for (int axis : axes)
      result.insert(result.end(), parts_[axis].begin(), parts_[axis].end());
    axes = std::move(result);
  }
  void apply(Sharding &layout) const {
    apply(layout.dims);
    apply(layout.partial);
  }
  void apply(OpChoice &choice) const {
    apply(choice.factors);
    apply(choice.partial);
    apply(choice.operands);
    apply(choice.natural);
    apply(choice.results);
  }
  void apply(ArgumentChoice &choice) const {
    apply(choice.storage);
    apply(choice.compute);
  }
  template <typename T> void apply(std::vector<T> &list) const {
    for (T &element : list)
      apply(element);
  }

private:
  const std::vector<std::vector<int>> &parts_;
};

} // namespace

PlanProblem inParts(PlanProblem problem, const std::vector<std::vector<int>> &parts) {
  const Parts finer(parts);
  std::map<const PricedOp *, std::shared_ptr<const PricedOp>> kinds;
  for (std::shared_ptr<const PricedOp> &kind : problem.priced) {
    std::shared_ptr<const PricedOp> &result = kinds[kind.get()];
    if (!result) {
      auto changed = std::make_shared<PricedOp>(*kind);
      finer.apply(changed->choices);
      result = std::move(changed);
    }
    kind = result;
  }
  finer.apply(problem.argumentChoices);
  for (CopyNode &copy : problem.copies)
    finer.apply(copy.layouts);
  return problem;
}

} // namespace cleave::planner
