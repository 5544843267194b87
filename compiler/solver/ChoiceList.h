// ChoiceList: the choices of a node, which copies of the list share until one of them changes.
//
// The layers of a model are alike, so that most nodes of its cost network have the choices of
// another node.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace cleave::solver {

// The cost of a choice, or a pair of choices, that must not be taken.
inline constexpr double kForbidden = std::numeric_limits<double>::infinity();

// One choice of a node.
struct Choice {
  std::string label;          // for messages; may be empty
  double cost = 0;            // seconds; kForbidden if it must not be taken
  std::vector<int64_t> bytes; // one per usage of the node, >= 0
  bool operator==(const Choice &) const = default;
};

// The list; changing a copy leaves the others as they are.
class ChoiceList {
public:
  ChoiceList() : ChoiceList(std::vector<Choice>()) {}
  ChoiceList(std::vector<Choice> choices)
      : choices_(std::make_shared<std::vector<Choice>>(std::move(choices))) {}
  ChoiceList(std::initializer_list<Choice> choices) : ChoiceList(std::vector<Choice>(choices)) {}

  size_t size() const { return choices_->size(); }
  bool empty() const { return choices_->empty(); }
  const Choice &operator[](size_t index) const { return (*choices_)[index]; }
  auto begin() const { return std::as_const(*choices_).begin(); }
  auto end() const { return std::as_const(*choices_).end(); }

  void push_back(Choice choice) { own().push_back(std::move(choice)); }
  // Makes a choice one that must not be taken.
  void forbid(size_t index) { own()[index].cost = kForbidden; }

  // Equal for lists that share their choices; valid while one of them exists and none changes.
  const void *identity() const { return choices_.get(); }
  bool operator==(const ChoiceList &other) const { return *choices_ == *other.choices_; }

private:
  std::vector<Choice> &own() {
    if (choices_.use_count() > 1)
      choices_ = std::make_shared<std::vector<Choice>>(*choices_);
    return *choices_;
  }

  std::shared_ptr<std::vector<Choice>> choices_;
};

} // namespace cleave::solver
