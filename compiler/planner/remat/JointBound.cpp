// The search for the price with the best bound.
#include "compiler/planner/remat/JointBound.h"

#include "compiler/planner/remat/JointNetwork.h"

#include <algorithm>
#include <cmath>

namespace cleave::planner {

StepModel withRoomForRecomputation(const StepModel &model) {
  StepModel roomy = model;
  for (int i = 0; i < static_cast<int>(model.ops.size()); ++i)
    roomy.insertable += isRecomputable(model, i);
  return roomy;
}

namespace {

// A value of the bound as a function of the price, which is concave, and its slope.
struct Point {
  double price = 0, value = 0, slope = 0;
};

// The search for the price with the best bound.
class PriceSearch {
public:
  PriceSearch(JointNetwork &network, const Budget &budget, const solver::SolveOptions &limits,
              Joint &joint)
      : network_(network), budget_(budget.ofSpace()), limits_(limits), joint_(joint) {}

  Status run(const JointHint &hint) {
    joint_.instant = hint.instant;
    if (hint.isThorough) {
      enough_ = hint.enough;
      double price = hint.price;
      for (int k = 0; k < kSteps && !(left_ && right_) && joint_.lowerBound < enough_; ++k) {
        CLEAVE_TRY(evaluate(price));
        price *= right_ ? 1 / kNear : kNear;
      }
      return meet(kThorough);
    }
    limits_.goodGap = std::max(limits_.goodGap, kGoodGap);
    limits_.maxSearchRounds = 0;
    CLEAVE_TRY(bracket(hint));
    return meet(kCloseEnough);
  }

private:
  // Tries prices until the step fits at one, unless the first one is good enough.
  Status bracket(const JointHint &hint) {
    if (hint.isDoubtful) {
      CLEAVE_TRY_ASSIGN(const bool isTooLarge, neverFits());
      if (isTooLarge)
        return Status::ok();
    }
    double price = hint.price;
    if (price > 0) {
      CLEAVE_TRY(evaluate(price));
      if (isEnough(hint))
        return Status::ok();
    }
    CLEAVE_TRY(evaluate(0));
    if (joint_.lowerBound == solver::kForbidden || last_.slope <= 0)
      return Status::ok();
    // Up to a price at which the step fits.
    price = price > 0 ? 2 * price : 0.02 * last_.value / last_.slope;
    for (int k = 0; k < kSteps && !right_; ++k, price *= 4) {
      if (k == kDoubtful) {
        CLEAVE_TRY_ASSIGN(const bool isTooLarge, neverFits());
        if (isTooLarge)
          return Status::ok();
      }
      CLEAVE_TRY(evaluate(price));
    }
    return Status::ok();
  }

  // Improves the bound between two prices until it is enough or no other price improves it by more
  // than a share.
  Status meet(double closeEnough) {
    for (int k = 0; left_ && right_ && joint_.lowerBound < enough_ && k < kSteps; ++k) {
      // Where the tangents of both sides meet no bound is larger than there.
      const double meet = (right_->value - left_->value + left_->slope * left_->price -
                           right_->slope * right_->price) /
                          (left_->slope - right_->slope);
      const double most = left_->value + left_->slope * (meet - left_->price);
      if (most - joint_.lowerBound <= closeEnough * std::abs(joint_.lowerBound))
        break;
      CLEAVE_TRY(evaluate(meet));
    }
    return Status::ok();
  }

  // Networks solved to find a price at which the step fits, and again to improve it.
  static constexpr int kSteps = 8;
  static constexpr int kDoubtful = 3;          // after so many, whether any price does is asked
  static constexpr int kInstants = 4;          // that are looked at for an answer
  static constexpr double kCloseEnough = 2e-3; // of the bound
  static constexpr double kThorough = 5e-4;    // the same, where the effort is worthwhile
  static constexpr double kNear = 1.5;         // between prices around one that is known
  static constexpr double kGoodGap = 1e-3;     // of the solution of one network

  // Whether every plan takes more than the budget at some instant, whatever it recomputes. At a
  // price at which a thousandth of the budget is worth more than any plan, plans that fit cost less
  // than the worst seconds and the price of the budget: a larger bound proves that there are none.
  // Tries several instants: the next one is the fullest instant of the last solution.
  Result<bool> neverFits() {
    const double worst = network_.worstSeconds(), budget = static_cast<double>(budget_);
    const double price = 1e3 * worst / budget;
    std::vector<int> choices;
    for (int64_t instant = joint_.instant, k = 0; k < kInstants; ++k) {
      CLEAVE_TRY_ASSIGN(solver::Solution solution,
                        solver::solve(network_.priced(price, instant), limits_));
      if (k == 0)
        choices = solution.choices;
      if (solution.lowerBound > worst + price * budget) {
        joint_.lowerBound = solver::kForbidden;
        if (!choices.empty())
          joint_.choices = std::move(choices);
        return true;
      }
      const int64_t next =
          solution.isFound() ? network_.fullest(solution.choices, price, instant) : instant;
      if (next == instant)
        return false;
      instant = next;
    }
    return false;
  }

  // Whether the first price leaves little to improve.
  bool isEnough(const JointHint &hint) const {
    return joint_.lowerBound >= hint.enough ||
           std::abs(last_.slope) * last_.price <= kCloseEnough * joint_.lowerBound;
  }

  // Solves the network at a price, until the bound is proven to be enough.
  Status evaluate(double price) {
    limits_.cutoff = enough_ + price * static_cast<double>(budget_);
    CLEAVE_TRY_ASSIGN(solver::Solution solution,
                      solver::solve(network_.priced(price, joint_.instant), limits_));
    if (joint_.instant < 0 && solution.isFound()) // it had no influence, since the price is 0
      joint_.instant = network_.fullest(solution.choices);
    const int64_t bytes =
        solution.isFound() ? network_.bytesOf(solution.choices, price, joint_.instant) : budget_;
    const double budget = static_cast<double>(budget_);
    last_ = {price, solution.lowerBound - price * budget, static_cast<double>(bytes) - budget};
    if (last_.value > joint_.lowerBound) {
      joint_.lowerBound = last_.value;
      joint_.secondsPerByte = price;
    }
    if (solution.isFound())
      keep(std::move(solution.choices));
    return Status::ok();
  }

  void keep(std::vector<int> choices) {
    const bool fits = last_.slope <= 0;
    std::optional<Point> &side = fits ? right_ : left_;
    if (!side || (fits ? last_.price < side->price : last_.price > side->price))
      side = last_;
    if (fits || !right_)
      joint_.choices = std::move(choices);
  }

  JointNetwork &network_;
  const int64_t budget_; // bytes
  solver::SolveOptions limits_;
  Joint &joint_;
  Point last_;
  double enough_ = solver::kForbidden; // a bound that need not be improved
  std::optional<Point> left_, right_;  // closest to the best price: too many bytes, or not
};

} // namespace

Result<Joint> boundJointly(Costs &costs, const Pins &pins, const PinnedRemat &pinned,
                           const Budget &budget, const JointHint &hint, const ChoiceLimits &choices,
                           const solver::SolveOptions &limits) {
  Joint joint;
  CLEAVE_TRY_ASSIGN(joint.kept, buildProblem(costs, pins, Budget::unlimited(), {choices}));
  JointNetwork network(costs, joint.kept, pinned);
  CLEAVE_TRY(PriceSearch(network, budget, limits, joint).run(hint));
  for (const auto &[node, rest] : joint.kept.rests)
    if (!joint.choices.empty() && joint.choices[node] == rest.choice)
      joint.choices.clear(); // a rest is no choice
  return joint;
}

} // namespace cleave::planner
