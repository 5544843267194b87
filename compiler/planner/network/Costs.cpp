#include "compiler/planner/network/Costs.h"

#include "compiler/cost/Roofline.h"
#include "compiler/planner/choices/Padding.h"
#include "compiler/planner/network/Computing.h"
#include "compiler/solver/Problem.h"

#include <algorithm>
#include <limits>

namespace cleave::planner {

Costs::Costs(const StepModel &model, const cluster::Cluster &cluster, const Mesh &mesh)
    : model_(model), cluster_(cluster), mesh_(mesh), resharder_(cluster, mesh_),
      classOf_(model.values.size(), -1) {
  for (const Value &value : model.values)
    if (isReadLate(model, value))
      lateBytes_ += static_cast<double>(value.bytes());
  if (model.insertable > 0) // recomputed ops may fill a bucket
    lateBytes_ = std::max(lateBytes_, static_cast<double>(kBucketBytes));
}

double Costs::kernels(const Op &op, const OpChoice &choice) const {
  double seconds = 0;
  if (op.hasKernel)
    seconds = static_cast<double>(op.repeats) *
              (computingSeconds(*this, op, choice) + masking(op, choice));
  if (op.product)
    seconds += static_cast<double>(op.repeats) * copying(op, choice);
  if (!op.copiesBehindProducer)
    seconds += allMoves(op, choice);
  return seconds;
}

double Costs::afterProducer(const OpChoice &made, const Op &op, const OpChoice &choice) const {
  const int result = model_.values[op.operands[0]].result;
  const bool readsAsWritten =
      made.natural[result] == made.results[result] && made.results[result] == choice.operands[0];
  if (op.isAddedByProducer)
    return readsAsWritten ? 0
                          : static_cast<double>(op.repeats) * computingSeconds(*this, op, choice);
  return readsAsWritten && choice.natural[0] == choice.results[0] ? allMoves(op, choice) : 0;
}

bool Costs::isView(const Op &reshape, const OpChoice &choice) const {
  const Value &from = model_.values[reshape.operands[0]], &to = model_.values[reshape.results[0]];
  const std::vector<int64_t> result = localShape(to.shape, choice.natural[0], mesh_);
  if (!reshape.copiesBehindProducer)
    return cost::reshapedStrides(
               cost::inOrder(localShape(from.shape, choice.operands[0], mesh_), *reshape.copyOrder),
               result)
        .has_value();
  cost::MemoryOrder longOnes = *reshape.copyOrder; // the dims of more than one element
  std::erase_if(longOnes, [&](int d) { return result[static_cast<size_t>(d)] == 1; });
  return std::is_sorted(longOnes.begin(), longOnes.end());
}

double Costs::allMoves(const Op &op, const OpChoice &choice) const {
  if (op.copyOrder && isView(op, choice))
    return 0;
  double seconds = 0;
  for (const Move &move : op.moves)
    seconds += static_cast<double>(move.times) * moving(op, move, choice);
  return seconds;
}

// A mask is a kernel that reads a block and writes it again.
double Costs::masking(const Op &op, const OpChoice &choice) const {
  const std::vector<Factor> &factors = op.rule.factors;
  bool isUneven = false;
  for (size_t f = 0; f < factors.size(); ++f)
    isUneven |= factors[f].kind == FactorKind::Reduction &&
                factors[f].size.constant().value_or(0) % mesh_.ranksAlong(choice.factors[f]) != 0;
  if (!isUneven || op.group || op.results.empty())
    return 0;
  std::vector<ElementType> types;
  for (int operand : op.operands)
    types.push_back(model_.values[operand].element);
  double seconds = 0;
  for (const PaddedDim &padded :
       paddedDims(op.rule, choice.factors, mesh_, types, model_.values[op.results[0]].element)) {
    const Value &value = model_.values[op.operands[padded.operand]];
    seconds += cost::copySeconds(
        cluster_, static_cast<double>(localBytes(value, choice.operands[padded.operand], mesh_)));
  }
  return seconds;
}

double Costs::moving(const Op &op, const Move &move, const OpChoice &choice) const {
  const bool isOperand = move.operand >= 0;
  const Value &value =
      model_.values[isOperand ? op.operands[move.operand] : op.results[move.result]];
  const Sharding &layout = isOperand ? choice.operands[move.operand] : choice.natural[move.result];
  const double bytes = move.share * static_cast<double>(localBytes(value, layout, mesh_));
  return move.kind == Move::Kind::Copy ? cost::copySeconds(cluster_, bytes)
                                       : cost::fillSeconds(cluster_, bytes);
}

double Costs::copying(const Op &op, const OpChoice &choice) const {
  auto block = [&](int value, const Sharding &layout, const cost::MemoryOrder &order) {
    return cost::inOrder(localShape(model_.values[value].shape, layout, mesh_), order);
  };
  auto seconds = [&](int value, const Sharding &layout) {
    return cost::copySeconds(cluster_,
                             static_cast<double>(localBytes(model_.values[value], layout, mesh_)));
  };
  const int lhs = op.operands[0], rhs = op.operands[1], out = op.results[0];
  const Sharding &left = choice.operands[0], &right = choice.operands[1],
                 &result = choice.natural[0];
  const cost::ProductCopies copies =
      cost::productCopies(op.product->dims, block(lhs, left, op.product->lhs),
                          block(rhs, right, op.product->rhs), block(out, result, op.product->out));
  return (copies.lhs + copies.grouped) * seconds(lhs, left) +
         (copies.rhs + copies.grouped) * seconds(rhs, right) + copies.out * seconds(out, result);
}

double Costs::replacement(const Argument &argument, const Sharding &storage) const {
  const int64_t copies = argument.output < 0 ? 0 : model_.outputs[argument.output].copies;
  const double bytes =
      static_cast<double>(localBytes(model_.values[argument.value], storage, mesh_));
  return copies ? static_cast<double>(copies) * cost::copySeconds(cluster_, bytes) : 0;
}

double Costs::away(int value, const Sharding &layout) const {
  const Value &plain = model_.values[value];
  if (plain.awayCopies == 0)
    return 0;
  const double bytes = static_cast<double>(localBytes(plain, layout, mesh_));
  return static_cast<double>(plain.awayCopies) * cost::awaySeconds(cluster_, plain.space, bytes);
}

// The distance in ops between producer and first reader from which on a reduction can wait.
static constexpr int kFarAway = 16;

int firstReader(const StepModel &model, const Value &value) {
  for (const Use &use : value.uses)
    if (model.ops[use.op].part != Part::Update)
      return use.op;
  return std::numeric_limits<int>::max();
}

bool isReadLate(const StepModel &model, const Value &value) {
  if (value.producer < 0 || model.ops[value.producer].part == Part::Update)
    return false;
  const int reader = firstReader(model, value), between = reader - value.producer;
  const bool mayGrow = between < kFarAway && model.ops[reader].part != Part::Forward;
  return between + (mayGrow ? model.insertable : 0) >= kFarAway;
}

std::optional<cost::ReshardStep> Costs::joinable(int value, const Sharding &from,
                                                 const Sharding &to) {
  if (from == to || !isReadLate(model_, model_.values[value]))
    return std::nullopt;
  std::optional<std::vector<cost::ReshardStep>> steps = path(value, from, to);
  if (!steps || steps->size() != 1 || (*steps)[0].collective != CollectiveKind::AllReduce)
    return std::nullopt;
  return std::move((*steps)[0]);
}

double Costs::allReduce(const std::vector<int> &axes, double bytes) const {
  return resharder_.collectives().seconds(CollectiveKind::AllReduce, axes, bytes);
}

double Costs::shareOfBucket(const cost::ReshardStep &reduction) const {
  const double largest =
      std::max(reduction.bytes, std::min(lateBytes_, static_cast<double>(kBucketBytes)));
  return reduction.bytes > 0 ? allReduce(reduction.axes, largest) * reduction.bytes / largest : 0;
}

double Costs::resolve(const Op &op, const OpChoice &choice) {
  double seconds = 0;
  for (size_t i = 0; i < op.results.size(); ++i)
    if (auto reduction = joinable(op.results[i], choice.natural[i], choice.results[i]))
      seconds += shareOfBucket(*reduction);
    else
      seconds += reshard(op.results[i], choice.natural[i], choice.results[i]);
  return seconds;
}

std::optional<std::vector<cost::ReshardStep>> Costs::path(int value, const Sharding &from,
                                                          const Sharding &to) {
  const Value &plain = model_.values[value];
  return resharder_.path(from, to, plain.shape, static_cast<double>(byteSize(plain.element)));
}

// Of one step: a tensor is packed before, and unpacked behind the collective. An all_reduce is in
// place unless its source is kept.
int64_t Costs::stepBytes(int64_t before, const cost::ReshardStep &step, int64_t after,
                         bool keepsSource) const {
  if (step.collective == CollectiveKind::AllReduce && !keepsSource)
    return before;
  const int64_t packed = storedBytes(static_cast<int64_t>(step.packedBytes)),
                received = storedBytes(static_cast<int64_t>(step.receivedBytes)),
                source = keepsSource ? before : 0;
  int64_t most = packed > 0 ? source + packed + (received > 0 ? received : after)
                            : before + (received > 0 ? received : after);
  if (packed > 0)
    most = std::max(most, before + packed);
  if (received > 0)
    most = std::max(most, source + received + after);
  return most;
}

int64_t Costs::changeBytes(int value, const Sharding &from, const Sharding &to, bool isKept) {
  if (from == to)
    return 0;
  auto [known, isNew] =
      changeBytes_.try_emplace({classOf(value), number(from), number(to), isKept}, 0);
  std::optional<std::vector<cost::ReshardStep>> steps;
  if (!isNew || !(steps = path(value, from, to)))
    return known->second;
  const Value &plain = model_.values[value];
  const int64_t first = storedBytes(plain, from, mesh_), kept = isKept ? first : 0;
  int64_t most = 0, before = first;
  for (const cost::ReshardStep &step : *steps) {
    const bool isFirst = &step == &steps->front();
    const int64_t after = storedBytes(plain, step.result, mesh_);
    const int64_t bytes = stepBytes(before, step, after, isKept && isFirst);
    most = std::max(most, isFirst ? bytes : kept + bytes);
    before = after;
  }
  return known->second = std::max<int64_t>(0, most - kept - storedBytes(plain, to, mesh_));
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

int Costs::classOf(int value) {
  const Value &plain = model_.values[value];
  if (classOf_[value] < 0)
    classOf_[value] =
        classes_.try_emplace({plain.shape, byteSize(plain.element)}, classes_.size()).first->second;
  return classOf_[value];
}

double Costs::reshard(int value, int from, int to) {
  if (from == to)
    return 0;
  const Value &plain = model_.values[value];
  const int kind = classOf(value);
  seconds_.resize(classes_.size());
  std::vector<std::vector<double>> &table = seconds_[kind];
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
