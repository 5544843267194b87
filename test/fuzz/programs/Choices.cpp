#include "test/fuzz/programs/Choices.h"

namespace cleave::fuzz {

uint32_t Choices::below(uint32_t n) {
  if (next_ == static_cast<std::ptrdiff_t>(numbers_.size()))
    numbers_.push_back(draws_ ? static_cast<uint32_t>(random_() >> 32) : 0);
  return numbers_[next_++] % n;
}

namespace {

class Shrinker {
public:
  Shrinker(std::vector<uint32_t> numbers,
           const std::function<bool(const std::vector<uint32_t> &)> &fails, int attempts)
      : numbers_(std::move(numbers)), fails_(fails), attempts_(attempts) {}

  std::vector<uint32_t> run() {
    while (numbers_.size() > 1 &&
           accept({numbers_.begin(),
                   numbers_.begin() + static_cast<std::ptrdiff_t>(numbers_.size() / 2)})) {
    }
    for (bool changed = true; changed && attempts_ > 0;) {
      changed = false;
      for (size_t size = 64; size > 0; size /= 2)
        changed |= removeChunks(size);
      changed |= lower();
    }
    return std::move(numbers_);
  }

private:
  bool accept(std::vector<uint32_t> candidate) {
    if (candidate == numbers_ || attempts_ <= 0)
      return false;
    --attempts_;
    if (!fails_(candidate))
      return false;
    numbers_ = std::move(candidate);
    return true;
  }

  // Begins at the end, where a number influences the fewest others.
  bool removeChunks(size_t size) {
    bool changed = false;
    for (size_t end = numbers_.size(); end >= size && end > 0; end = end > size ? end - size : 0) {
      if (end > numbers_.size())
        continue;
      std::vector<uint32_t> candidate = numbers_;
      candidate.erase(candidate.begin() + static_cast<std::ptrdiff_t>(end - size),
                      candidate.begin() + static_cast<std::ptrdiff_t>(end));
      changed |= accept(std::move(candidate));
    }
    return changed;
  }

  bool lower() {
    bool changed = false;
    for (size_t i = numbers_.size(); i-- > 0;)
      for (uint32_t value : {0u, numbers_[i] / 2, numbers_[i] > 0 ? numbers_[i] - 1 : 0u}) {
        std::vector<uint32_t> candidate = numbers_;
        if (value >= candidate[i])
          break;
        candidate[i] = value;
        if (accept(std::move(candidate))) {
          changed = true;
          break;
        }
      }
    return changed;
  }

  std::vector<uint32_t> numbers_;
  const std::function<bool(const std::vector<uint32_t> &)> &fails_;
  int attempts_;
};

} // namespace

std::vector<uint32_t> shrink(std::vector<uint32_t> numbers,
                             const std::function<bool(const std::vector<uint32_t> &)> &fails,
                             int attempts) {
  return Shrinker(std::move(numbers), fails, attempts).run();
}

} // namespace cleave::fuzz
