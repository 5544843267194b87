// See Restarts.h.
#include "runtime/launch/Restarts.h"

namespace cleave::launch {

constexpr int kMostFruitless = 2;

bool Restarts::startAgain(const LaunchOutcome &outcome) {
  if (!outcome.isRestartable)
    return false;
  bool isFruitless = made_ > 0 && !outcome.hasCompletedStep;
  fruitless_ = isFruitless ? fruitless_ + 1 : 0;
  if (made_ >= allowed_ || fruitless_ >= kMostFruitless)
    return false;
  ++made_;
  return true;
}

std::string Restarts::text() const {
  if (made_ == 0)
    return "";
  std::string text = made_ == 1 ? "; restarted once" : concat("; restarted ", made_, " times");
  if (fruitless_ >= kMostFruitless)
    text += ", the last two times without completing a step";
  return text;
}

} // namespace cleave::launch
