// See ControlFlow.h.
#include "compiler/frontend/pt2/ControlFlow.h"

#include "compiler/frontend/aten/Guard.h"
#include "compiler/frontend/emit/Movement.h"

namespace cleave::pt2 {
namespace {

using aten::Array;
using aten::IValue;
using aten::IValueList;
using emit::fail;

// One operator while it is imported.
struct Flow {
  aten::Context &context;
  const Node &node;
  const IValueList &arguments;
  CallGraph call;

  const Graph &graph(size_t i) const {
    if (i >= node.inputs.size() || !node.inputs[i].value.graph)
      fail("lacks its graph");
    return *node.inputs[i].value.graph;
  }
  // The items of a list among the arguments; a missing one is empty.
  IValueList list(size_t i) const {
    return i < arguments.size() && arguments[i].isList() ? arguments[i].items() : IValueList();
  }
};

[[noreturn]] void failRounds() {
  fail("runs for more than ", kMaxRounds, " rounds, which are more than Cleave unrolls");
}

// -- cond(predicate, graph if true, graph if false, operands) -------------------------------------
// A branch that was run on copies of the operands.
struct Branch {
  IValueList operands, results;
};

Branch runGuarded(const Flow &flow, const Graph &graph, Array isActive) {
  Branch out;
  for (const IValue &operand : flow.list(3))
    out.operands.push_back(aten::guardedCopy(flow.context.emitter, operand, isActive));
  out.results = flow.call(graph, out.operands);
  return out;
}

bool isSame(const IValue &a, const IValue &b) {
  return a.isInt() && b.isInt() ? a.integer() == b.integer() : a.isNone() && b.isNone();
}

// The result `number` of the branch that is active.
IValue choose(const Flow &flow, Array condition, const IValue &yes, const IValue &no,
              size_t number) {
  if (isSame(yes, no))
    return yes;
  if (!yes.isTensor() || !no.isTensor())
    fail("has a ", yes.kindName(), " or a ", no.kindName(), " as result ", number,
         ", as a condition that depends on data decides; expected tensors");
  emit::Emitter &e = flow.context.emitter;
  Array a = yes.tensor()->read(e), b = no.tensor()->read(e);
  if (a.getType() != b.getType())
    fail("has a result ", number, " of ", emit::typeNameOf(a), emit::showShape(emit::shapeOf(a)),
         " or ", emit::typeNameOf(b), emit::showShape(emit::shapeOf(b)),
         ", as a condition that depends on data decides; expected one type and shape");
  return aten::TensorState::create(
      a == b ? a : e.select(e.broadcast(condition, emit::shapeOf(a)), a, b));
}

bool isWritten(const IValue &copy) {
  return copy.isTensor() && copy.tensor()->storage() && copy.tensor()->storage()->version > 0;
}

// Writes to the operands what the active branch wrote to its copies.
void writeBack(const Flow &flow, Array condition, const Branch &yes, const Branch &no) {
  emit::Emitter &e = flow.context.emitter;
  IValueList operands = flow.list(3);
  for (size_t i = 0; i < operands.size(); ++i) {
    if (!isWritten(yes.operands[i]) && !isWritten(no.operands[i]))
      continue;
    const aten::TensorRef &target = operands[i].tensor();
    for (size_t k = 0; k < operands.size(); ++k)
      if (k != i && operands[k].isTensor() && operands[k].tensor()->storage() == target->storage())
        fail("writes to a tensor", target->storage()->name.empty() ? "" : " '",
             target->storage()->name, target->storage()->name.empty() ? "" : "'",
             " of which it has two views; give its branches one of them");
    Array a = yes.operands[i].tensor()->read(e), b = no.operands[i].tensor()->read(e);
    target->write(e, e.select(e.broadcast(condition, emit::shapeOf(a)), a, b),
                  flow.context.gradients);
  }
}

// The condition as a bool that is known; none if it depends on data.
std::optional<bool> knownCondition(const Flow &flow, const IValue &condition) {
  if (condition.isTensor() && !condition.tensor()->number() &&
      !flow.context.emitter.known(condition.tensor()->read(flow.context.emitter)))
    return std::nullopt;
  return aten::boolOf(flow.context, condition, "the condition");
}

IValueList conditional(const Flow &flow) {
  const Graph &yes = flow.graph(1), &no = flow.graph(2);
  if (std::optional<bool> holds = knownCondition(flow, flow.arguments.at(0)))
    return flow.call(*holds ? yes : no, flow.list(3));
  emit::Emitter &e = flow.context.emitter;
  Array condition = e.cast(e.reshape(flow.arguments[0].tensor()->read(e), {}), e.b.getI1Type());
  Branch first = runGuarded(flow, yes, condition);
  Branch second = runGuarded(flow, no, e.logicalNot(condition));
  if (first.results.size() != second.results.size())
    fail("has branches with ", first.results.size(), " and ", second.results.size(), " results");
  writeBack(flow, condition, first, second);
  IValueList results;
  for (size_t i = 0; i < first.results.size(); ++i)
    results.push_back(choose(flow, condition, first.results[i], second.results[i], i));
  return results;
}

// -- while_loop(graph of the condition, graph of the body, carried values, other operands) --------
IValueList whileLoop(const Flow &flow) {
  const Graph &condition = flow.graph(0), &body = flow.graph(1);
  IValueList carried = flow.list(2), others = flow.list(3);
  for (int64_t round = 0;; ++round) {
    IValueList all = carried;
    all.insert(all.end(), others.begin(), others.end());
    IValueList goesOn = flow.call(condition, all);
    if (goesOn.size() != 1)
      fail("has a condition with ", goesOn.size(), " results, expected 1");
    if (!aten::boolOf(flow.context, goesOn[0], "the condition to go on"))
      return carried;
    if (round == kMaxRounds)
      failRounds();
    carried = flow.call(body, all);
  }
}

// -- loops over the first dim of tensors ----------------------------------------------------------
int64_t roundsOf(const Flow &flow, const IValueList &walked) {
  emit::Emitter &e = flow.context.emitter;
  std::optional<int64_t> rounds;
  for (const IValue &x : walked) {
    Array elements = x.tensor()->read(e);
    int64_t size = e.number(e.dim(elements, 0), "the number of rounds");
    if (rounds.value_or(size) != size)
      fail("walks along dims of ", *rounds, " and ", size, " elements");
    rounds = size;
  }
  if (rounds.value_or(0) < 1)
    fail("runs for no rounds, so that its results have no shape");
  if (*rounds > kMaxRounds)
    failRounds();
  return *rounds;
}

IValue elementOf(const Flow &flow, const IValue &x, int64_t at) {
  return aten::call(flow.context, "aten::select", {x, int64_t(0), at}).at(0);
}

// Stacks the results of all rounds, one list per round.
IValueList stacked(const Flow &flow, const std::vector<IValueList> &rounds) {
  IValueList out;
  for (size_t i = 0; i < rounds[0].size(); ++i) {
    IValueList pieces;
    for (const IValueList &round : rounds)
      pieces.push_back(round.at(i));
    out.push_back(aten::call(flow.context, "aten::stack", {IValue::list(std::move(pieces))}).at(0));
  }
  return out;
}

// scan(body, initial values, walked tensors, other operands): the body takes carried values,
// elements and operands, and gives the next carried values and results to be stacked.
IValueList scan(const Flow &flow) {
  const Graph &body = flow.graph(0);
  IValueList carried = flow.list(1), walked = flow.list(2), others = flow.list(3);
  std::vector<IValueList> results;
  for (int64_t round = 0, count = roundsOf(flow, walked); round < count; ++round) {
    IValueList all = carried;
    for (const IValue &x : walked)
      all.push_back(elementOf(flow, x, round));
    all.insert(all.end(), others.begin(), others.end());
    IValueList out = flow.call(body, all);
    if (out.size() < carried.size())
      fail("has a body with ", out.size(), " results for ", carried.size(), " carried values");
    auto first = out.begin() + static_cast<std::ptrdiff_t>(carried.size());
    results.emplace_back(first, out.end());
    carried.assign(out.begin(), first);
  }
  IValueList more = stacked(flow, results);
  carried.insert(carried.end(), more.begin(), more.end());
  return carried;
}

// map_impl(body, walked tensors, other operands).
IValueList map(const Flow &flow) {
  IValueList walked = flow.list(1), others = flow.list(2);
  std::vector<IValueList> results;
  for (int64_t round = 0, count = roundsOf(flow, walked); round < count; ++round) {
    IValueList all;
    for (const IValue &x : walked)
      all.push_back(elementOf(flow, x, round));
    all.insert(all.end(), others.begin(), others.end());
    results.push_back(flow.call(flow.graph(0), all));
  }
  return stacked(flow, results);
}

// associative_scan(graph, walked tensors, other operands): each element combined with all before.
IValueList associativeScan(const Flow &flow) {
  IValueList walked = flow.list(1), others = flow.list(2), last;
  std::vector<IValueList> results;
  for (int64_t round = 0, count = roundsOf(flow, walked); round < count; ++round) {
    IValueList next;
    for (const IValue &x : walked)
      next.push_back(elementOf(flow, x, round));
    if (round > 0) {
      IValueList all = last;
      all.insert(all.end(), next.begin(), next.end());
      all.insert(all.end(), others.begin(), others.end());
      next = flow.call(flow.graph(0), all);
    }
    results.push_back(last = next);
  }
  return stacked(flow, results);
}

struct Operator {
  const char *name; // behind `torch.ops.higher_order.`
  IValueList (*function)(const Flow &);
};

constexpr Operator kOperators[] = {
    {"associative_scan", associativeScan},
    {"cond", conditional},
    {"map_impl", map},
    {"scan", scan},
    {"while_loop", whileLoop},
};

const Operator *find(llvm::StringRef target) {
  if (target.consume_front("torch.ops.higher_order."))
    for (const Operator &op : kOperators)
      if (target == op.name)
        return &op;
  return nullptr;
}

} // namespace

bool isControlFlow(const std::string &target) { return find(target) != nullptr; }

IValueList callControlFlow(aten::Context &context, const Node &node, const IValueList &arguments,
                           CallGraph call) {
  return find(node.target)->function({context, node, arguments, call});
}

} // namespace cleave::pt2
