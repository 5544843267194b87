#include "compiler/planner/remat/ArgumentSpaces.h"

#include "compiler/cost/Roofline.h"

#include <algorithm>

namespace cleave::planner {

ArgumentSpaces::ArgumentSpaces(const Costs &costs, const PricedDecisions &decided,
                               const PinnedRemat &pinned, const RematChoices &choices,
                               const OtherSpaces &spaces, SpacePrices prices)
    : costs_(costs), model_(costs.model()), decided_(decided), pinned_(pinned), choices_(choices),
      spaces_(spaces), prices_(std::move(prices)) {}

bool ArgumentSpaces::isOpen(int argument) const {
  return spaces_.any() && argument >= 0 && mayBeAway(model_, model_.arguments[argument]) &&
         pinned_.arguments.count(argument) == 0;
}

void ArgumentSpaces::addTo(solver::Problem &problem) {
  std::map<int, int64_t> bytes; // by argument
  for (const Holding &holding : decided_.holdings)
    if (isOpen(holding.argument))
      bytes[holding.argument] += holding.bytes;
  for (const auto &[argument, held] : bytes)
    add(argument, held, problem);
}

std::vector<int> ArgumentSpaces::readersOf(int value) const {
  std::vector<int> readers;
  for (const Use &use : model_.values[value].uses) {
    const Op &op = model_.ops[use.op];
    const std::vector<int> found = op.isView ? readersOf(op.results[0]) : std::vector{use.op};
    readers.insert(readers.end(), found.begin(), found.end());
  }
  std::sort(readers.begin(), readers.end());
  readers.erase(std::unique(readers.begin(), readers.end()), readers.end());
  return readers;
}

void ArgumentSpaces::add(int index, int64_t bytes, solver::Problem &problem) {
  const Argument &argument = model_.arguments[index];
  solver::Node node{argument.name, {{0, choices_.tickOf(model_.instants), 0}}, {}};
  double copies = 0; // per step
  for (int reader : readersOf(argument.value)) {
    const Op &op = model_.ops[reader];
    copies += static_cast<double>(op.repeats);
    node.usages.push_back(
        {choices_.tickOf(op.runs.begin - 1), choices_.tickOf(op.runs.end + 1), 0});
  }
  const int made = argument.output < 0 ? -1 : model_.outputs[argument.output].value;
  if (const int maker = made < 0 ? -1 : model_.values[made].producer; maker >= 0)
    copies += static_cast<double>(model_.ops[maker].repeats);
  const size_t uses = node.usages.size() - 1;
  std::vector<Space> others;
  for (Space space : {Space::Host, Space::File})
    if (spaces_.bytesIn(space) > 0) {
      others.push_back(space);
      node.usages.push_back(throughout(space));
    }
  std::vector<int64_t> held(node.usages.size(), 0);
  held[0] = bytes;
  node.choices.push_back({"", 0, held});
  OpenArgument open{index, problem.nodes.size(), {Space::Device}};
  for (size_t i = 0; i < others.size(); ++i) {
    std::fill(held.begin(), held.end(), 0);
    std::fill_n(held.begin() + 1, uses, bytes);
    held[1 + uses + i] = bytes;
    const double seconds =
        copies * cost::awaySeconds(costs_.cluster(), others[i], static_cast<double>(bytes));
    node.choices.push_back({"", seconds + priceOf(others[i], bytes), held});
    open.spaces.push_back(others[i]);
  }
  problem.nodes.push_back(std::move(node));
  open_.push_back(std::move(open));
}

std::map<int, Space> ArgumentSpaces::chosen(const std::vector<int> &choices) const {
  std::map<int, Space> spaces;
  for (const OpenArgument &open : open_)
    if (const Space space = open.spaces[choices[open.node]]; space != Space::Device)
      spaces[open.argument] = space;
  return spaces;
}

double ArgumentSpaces::priceOf(Space space, int64_t bytes) const {
  auto price = prices_.find(space);
  return price == prices_.end() ? 0 : price->second * static_cast<double>(bytes);
}

solver::Usage ArgumentSpaces::throughout(Space space) const {
  return {0, choices_.tickOf(model_.instants), static_cast<int>(space)};
}

} // namespace cleave::planner
