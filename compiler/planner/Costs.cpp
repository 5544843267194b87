#include "compiler/planner/Costs.h"

#include "compiler/cost/Roofline.h"
#include "compiler/solver/Problem.h"

#include <algorithm>
#include <iterator>

namespace cleave::planner {

// The type that an op computes in, as cluster files name it: products in the type of their factors,
// other ops in that of their first result. Integers are counted at the rate of f32.
static std::string computeType(const StepModel &model, const Op &op) {
  if (op.results.empty())
    return "f32";
  ElementType type = model.values[op.isProduct ? op.operands[0] : op.results[0]].element;
  return std::string(name(isFloat(type) ? type : ElementType::F32));
}

double Costs::compute(const Op &op, const OpChoice &choice) const {
  if (op.isView)
    return 0;
  cost::KernelWork work;
  work.flops = localFlops(op, choice.factors, mesh_);
  work.isProduct = op.isProduct;
  double written = 0;
  for (size_t i = 0; i < op.results.size(); ++i)
    written +=
        static_cast<double>(localBytes(model_.values[op.results[i]], choice.natural[i], mesh_));
  work.bytes = written;
  for (size_t i = 0; i < op.operands.size(); ++i) {
    double bytes =
        static_cast<double>(localBytes(model_.values[op.operands[i]], choice.operands[i], mesh_));
    work.bytes += op.readsSparsely(static_cast<int>(i)) ? std::min(bytes, written) : bytes;
  }
  work.elementType = computeType(model_, op);
  return cost::kernelSeconds(cluster_, work);
}

// Reductions without a near reader are joined into buckets (passes/schedule): the number of
// reductions that share the latency of one call, roughly.
static constexpr double kSharers = 8;
// The distance in ops between producer and first reader from which on a reduction is joined.
static constexpr int kFarAway = 16;

bool isReadLate(const Value &value) {
  return value.uses.empty() || value.uses[0].op >= value.producer + kFarAway;
}

double Costs::resolve(const Op &op, const OpChoice &choice) {
  double seconds = 0;
  for (size_t i = 0; i < op.results.size(); ++i) {
    const Sharding &natural = choice.natural[i], &wanted = choice.results[i];
    if (natural == wanted)
      continue;
    seconds += reshard(op.results[i], natural, wanted);
    if (natural.dims == wanted.dims && isReadLate(model_.values[op.results[i]])) {
      std::vector<int> reduced;
      std::set_difference(natural.partial.begin(), natural.partial.end(), wanted.partial.begin(),
                          wanted.partial.end(), std::back_inserter(reduced));
      seconds -= (1 - 1 / kSharers) *
                 resharder_.collectives().seconds(cluster::CollectiveKind::AllReduce, reduced, 1);
    }
  }
  return std::max(seconds, 0.0);
}

std::optional<std::vector<cost::ReshardStep>> Costs::path(int value, const Sharding &from,
                                                          const Sharding &to) {
  const Value &plain = model_.values[value];
  return resharder_.path(from, to, plain.shape, static_cast<double>(byteSize(plain.element)));
}

double Costs::reshard(int value, const Sharding &from, const Sharding &to) {
  return from == to ? 0 : reshard(value, number(from), number(to));
}

int Costs::number(const Sharding &layout) {
  auto [entry, isNew] = numbers_.try_emplace(layout, static_cast<int>(layouts_.size()));
  if (isNew)
    layouts_.push_back(layout);
  return entry->second;
}

double Costs::reshard(int value, int from, int to) {
  if (from == to)
    return 0;
  const Value &plain = model_.values[value];
  if (kindOf_[value] < 0)
    kindOf_[value] =
        kinds_.try_emplace({plain.shape, byteSize(plain.element)}, kinds_.size()).first->second;
  seconds_.resize(kinds_.size());
  std::vector<std::vector<double>> &table = seconds_[kindOf_[value]];
  if (table.size() < layouts_.size())
    table.resize(layouts_.size());
  std::vector<double> &row = table[from];
  if (row.size() < layouts_.size())
    row.resize(layouts_.size(), -1);
  if (row[to] < 0)
    row[to] = resharder_.seconds(layouts_[from], layouts_[to], plain.shape,
                                 static_cast<double>(byteSize(plain.element)));
  return row[to];
}

double Costs::leastReshard(int value, const std::vector<int> &from, const std::vector<int> &to) {
  double least = solver::kForbidden;
  if (std::find_first_of(from.begin(), from.end(), to.begin(), to.end()) != from.end())
    return 0;
  for (int a : from)
    for (int b : to)
      least = std::min(least, reshard(value, a, b));
  return least;
}

} // namespace cleave::planner
