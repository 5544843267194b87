// Control flow, decided while importing. A branch whose condition follows from shapes and constants
// is imported by itself; a loop whose number of rounds is known is unrolled.
//
// Where a condition depends on data, both branches are computed and their results selected; a loop
// with a known maximum of rounds computes all of them. This is equivalent because subgraphs have no
// other effects, which is checked. A number that a branch guards against (such as a division by
// zero) is computed and not selected, and it receives no gradient
// (ImportServices::importSpeculatively).
#include "compiler/frontend/emit/Movement.h"
#include "compiler/frontend/emit/Slicing.h"
#include "compiler/frontend/onnx/ops/OpTable.h"

namespace cleave::onnx {
namespace {

using emit::shapeOf;

// Rounds of one loop that are unrolled.
constexpr int64_t kMaxRounds = 4096;

// Whether the value is a bool tensor of one element.
bool isBoolScalar(Value condition) {
  return emit::isBool(condition) && emit::product(shapeOf(condition)) == Polynomial(1);
}

// Fails where a subgraph that may be inactive is unsupported. It might never be needed: the message
// tells on what its condition depends.
[[noreturn]] void failInactive(NodeImport &n, Value condition, const AlreadyReported &reported) {
  if (!reported.isInside)
    throw reported;
  fail("computes its subgraphs even where they are inactive, since the condition ",
       n.evaluator.whyUnknown(condition));
}

// The bindings `yes` where the condition (a bool of one element) holds, else `no`. Fails where they
// differ in more than their elements; only then is the reason for the unknown condition searched,
// which takes as long as everything that leads to it.
Bindings choose(NodeImport &n, Value given, const Bindings &yes, const Bindings &no) {
  Value condition = n.reshape(given, {});
  Bindings chosen;
  for (size_t i = 0; i < yes.size() && yes.size() == no.size(); ++i) {
    const Values &a = yes[i].values, &c = no[i].values;
    bool same = yes[i].isSequence == no[i].isSequence && yes[i].isString == no[i].isString &&
                yes[i].narrow == no[i].narrow && a.size() == c.size();
    for (size_t k = 0; same && k < a.size(); ++k)
      same = a[k].getType() == c[k].getType();
    if (!same)
      fail("has outputs whose shapes or types depend on a condition that ",
           n.evaluator.whyUnknown(given));
    chosen.push_back(yes[i]);
    for (size_t k = 0; k < a.size(); ++k)
      if (a[k] != c[k])
        chosen.back().values[k] = n.select(n.broadcast(condition, shapeOf(a[k])), a[k], c[k]);
  }
  if (yes.size() != no.size())
    fail("has branches with ", yes.size(), " and ", no.size(), " outputs");
  return chosen;
}

// Computes both branches and selects from their outputs. Both are imported even if one fails, so
// that everything unsupported is reported.
Bindings importBoth(NodeImport &n, const Graph &yes, const Graph &no) {
  Value condition = n.reshape(n.input(0), {});
  AlreadyReported reported;
  auto importBranch = [&](Value isActive, const Graph &graph) -> std::optional<Bindings> {
    try {
      return n.services.importSpeculatively(graph, {}, isActive);
    } catch (const AlreadyReported &inBranch) {
      reported.isInside |= inBranch.isInside;
      return std::nullopt;
    }
  };
  std::optional<Bindings> first = importBranch(condition, yes),
                          second = importBranch(n.logicalNot(condition), no);
  if (!first || !second)
    failInactive(n, n.input(0), reported);
  return choose(n, n.input(0), *first, *second);
}

Bindings importIf(NodeImport &n) {
  n.checkInputs(1, 1);
  const Graph &yes = n.graph("then_branch"), &no = n.graph("else_branch");
  std::optional<Tensor> known = n.known(n.input(0));
  if (!known && isBoolScalar(n.input(0)))
    return importBoth(n, yes, no);
  return n.services.importSubgraph(n.decimalInput(0, "condition") != 0 ? yes : no, {});
}

[[noreturn]] void failRounds() {
  fail("runs for more than ", kMaxRounds, " rounds, which are more than Cleave unrolls");
}

Value tensorOf(const Binding &binding, const char *what) {
  if (!binding.isTensor())
    fail("has a ", what, " that is not a tensor");
  if (binding.isString)
    fail("has a ", what, " of strings, expected numbers");
  return binding.values[0];
}

// The values of all rounds, stacked along a new dim `axis`.
Value stacked(NodeImport &n, Values rounds, int64_t axis, bool backwards) {
  if (rounds.empty())
    fail("runs for no rounds, so that its outputs have no shape");
  if (backwards)
    std::reverse(rounds.begin(), rounds.end());
  return emit::stack(n, rounds, n.axis(axis, emit::rankOf(rounds[0]) + 1));
}

// -- Loop -----------------------------------------------------------------------------------------

// A loop while it is unrolled.
struct LoopState {
  Bindings carried;   // loop-carried values before the next round
  bool ended = false; // the condition is known to be false
  // A bool scalar: whether the next round is active, where that depends on data; null: it is.
  Value isActive;
};

// Reads the condition for the next round. Where it depends on data and the loop `isBounded` by a
// known number of rounds, the loop computes all of them and keeps its values in those that are not
// active.
void readCondition(NodeImport &n, LoopState &loop, Value condition, bool isBounded) {
  std::optional<Tensor> known = n.known(condition);
  if (known || !isBounded || !isBoolScalar(condition)) {
    loop.ended = n.numberOf(condition, "condition to go on") == 0;
    return;
  }
  condition = n.reshape(condition, {});
  loop.isActive = loop.isActive ? n.binary<graph::AndOp>(loop.isActive, condition) : condition;
}

// Imports the body for the next round.
Bindings importRound(NodeImport &n, const LoopState &loop, const Graph &body,
                     const Bindings &inputs) {
  if (!loop.isActive)
    return n.services.importSubgraph(body, inputs);
  try {
    return n.services.importSpeculatively(body, inputs, loop.isActive);
  } catch (const AlreadyReported &reported) {
    failInactive(n, loop.isActive, reported);
  }
}

Bindings importLoop(NodeImport &n) {
  n.checkInputs(0, 1 << 16); // number of rounds and condition may be left out
  const Graph &body = n.graph("body");
  int64_t rounds = n.hasInput(0) ? n.integerInput(0, "number of rounds") : kMaxRounds + 1;
  LoopState loop;
  Bindings &carried = loop.carried;
  for (size_t i = 2; i < n.inputCount(); ++i)
    carried.push_back(n.binding(i));
  if (body.outputs.size() < carried.size() + 1)
    fail("has a body with ", body.outputs.size(), " outputs for ", carried.size(),
         " loop-carried values");
  std::vector<Values> scanned(body.outputs.size() - 1 - carried.size());
  // Stacked outputs need a known number of rounds.
  bool isBounded = rounds <= kMaxRounds && scanned.empty();
  if (n.hasInput(1))
    readCondition(n, loop, n.input(1), isBounded);
  for (int64_t round = 0; !loop.ended && round < rounds; ++round) {
    if (round == kMaxRounds)
      failRounds();
    Bindings inputs{{{n.size(round)}}, {{n.scalar(n.b.getI1Type(), 1)}}};
    inputs.insert(inputs.end(), carried.begin(), carried.end());
    Bindings outputs = importRound(n, loop, body, inputs);
    Bindings next(outputs.begin() + 1, outputs.begin() + 1 + static_cast<int64_t>(carried.size()));
    carried = loop.isActive ? choose(n, loop.isActive, next, carried) : next;
    readCondition(n, loop, tensorOf(outputs[0], "condition"), isBounded);
    for (size_t i = 0; i < scanned.size(); ++i)
      scanned[i].push_back(tensorOf(outputs[1 + carried.size() + i], "stacked output"));
  }
  Bindings results = carried;
  for (const Values &pieces : scanned)
    results.push_back({{stacked(n, pieces, 0, false)}});
  return results;
}

// -- Scan -----------------------------------------------------------------------------------------

// How a Scan walks along its scanned inputs and stacks its outputs: one entry per input or output.
struct ScanOptions {
  Ints inputAxes, inputDirections, outputAxes, outputDirections; // direction 1: backwards
};

// The attribute `name`, a list of `count` entries; zeros where it is missing.
Ints listOf(NodeImport &n, const char *name, size_t count) {
  Ints list = n.integers(name).value_or(Ints(count, 0));
  if (list.size() != count)
    fail("attribute '", name, "' has ", list.size(), " entries, expected ", count);
  return list;
}

// The number of rounds: the size of the walked dim, the same for all inputs.
int64_t roundsOf(NodeImport &n, const Values &walked, const ScanOptions &options) {
  if (walked.empty())
    fail("walks along no input");
  std::optional<Polynomial> size;
  for (size_t i = 0; i < walked.size(); ++i) {
    Sizes dims = shapeOf(walked[i]);
    Polynomial found = dims[n.axis(options.inputAxes[i], static_cast<int64_t>(dims.size()))];
    if (size && *size != found)
      fail("walks along dims of different sizes ", size->str(), " and ", found.str());
    size = found;
  }
  int64_t rounds = n.number(*size, "number of rounds");
  if (rounds > kMaxRounds)
    failRounds();
  return rounds;
}

// Unrolls the body over the walked inputs. Returns the last states, then the stacked outputs.
Values scan(NodeImport &n, const Graph &body, Values state, const Values &walked,
            const ScanOptions &options) {
  int64_t rounds = roundsOf(n, walked, options);
  std::vector<Values> scanned(options.outputAxes.size());
  for (int64_t round = 0; round < rounds; ++round) {
    Bindings inputs;
    for (Value value : state)
      inputs.push_back({{value}});
    for (size_t i = 0; i < walked.size(); ++i) {
      int64_t at = options.inputDirections[i] ? rounds - 1 - round : round;
      int64_t axis = n.axis(options.inputAxes[i], emit::rankOf(walked[i]));
      inputs.push_back({{emit::takeOne(n, walked[i], axis, at)}});
    }
    Bindings outputs = n.services.importSubgraph(body, inputs);
    for (size_t i = 0; i < state.size(); ++i)
      state[i] = tensorOf(outputs[i], "state");
    for (size_t i = 0; i < scanned.size(); ++i)
      scanned[i].push_back(tensorOf(outputs[state.size() + i], "stacked output"));
  }
  for (size_t i = 0; i < scanned.size(); ++i)
    state.push_back(
        stacked(n, scanned[i], options.outputAxes[i], options.outputDirections[i] != 0));
  return state;
}

// The number of states among the inputs from `first` on. Fails where the body has fewer outputs.
size_t stateCount(NodeImport &n, const Graph &body, size_t first) {
  int64_t walked = n.requiredInteger("num_scan_inputs");
  int64_t states = walked < 1 ? -1 : static_cast<int64_t>(n.inputCount() - first) - walked;
  if (walked < 1 || states < 0 || static_cast<int64_t>(body.outputs.size()) < states)
    fail("has ", n.inputCount() - first, " inputs, of which it walks along ", walked,
         ", and a body with ", body.outputs.size(), " outputs");
  return static_cast<size_t>(states);
}

Values importScan9(NodeImport &n) {
  const Graph &body = n.graph("body");
  Values inputs = n.allInputs();
  size_t states = stateCount(n, body, 0), walked = inputs.size() - states,
         outputs = body.outputs.size() - states;
  ScanOptions options{
      listOf(n, "scan_input_axes", walked), listOf(n, "scan_input_directions", walked),
      listOf(n, "scan_output_axes", outputs), listOf(n, "scan_output_directions", outputs)};
  Values state(inputs.begin(), inputs.begin() + states);
  return scan(n, body, state, Values(inputs.begin() + states, inputs.end()), options);
}

// Opset 8: walks along dim 1, for every sample of a batch separately.
Values importScan8(NodeImport &n) {
  const Graph &body = n.graph("body");
  if (n.hasInput(0))
    fail("has sequences of different lengths (input 0), which Cleave does not import");
  size_t states = stateCount(n, body, 1), walked = n.inputCount() - 1 - states,
         outputs = body.outputs.size() - states;
  ScanOptions options{Ints(walked, 0), listOf(n, "directions", walked), Ints(outputs, 0),
                      Ints(outputs, 0)};
  for (size_t i = 1; i < n.inputCount(); ++i)
    n.checkRank(n.input(i), 1);
  int64_t batch = n.number(shapeOf(n.input(1))[0], "size of the batch");
  if (batch < 1 || batch > kMaxRounds)
    fail("walks along a batch of ", batch, " samples, expected 1 to ", kMaxRounds);
  std::vector<Values> perSample(states + outputs);
  for (int64_t sample = 0; sample < batch; ++sample) {
    Values state, sequences;
    for (size_t i = 1; i < n.inputCount(); ++i)
      (i <= states ? state : sequences).push_back(emit::takeOne(n, n.input(i), 0, sample));
    Values results = scan(n, body, state, sequences, options);
    for (size_t i = 0; i < results.size(); ++i)
      perSample[i].push_back(results[i]);
  }
  Values out;
  for (const Values &samples : perSample)
    out.push_back(emit::stack(n, samples, 0));
  return out;
}

// -- SequenceMap ----------------------------------------------------------------------------------

// Imports the body for every element of the sequences; tensors are the same for all.
Bindings importSequenceMap(NodeImport &n) {
  const Graph &body = n.graph("body");
  std::vector<Values> results(body.outputs.size());
  size_t count = n.sequence(0).size();
  for (size_t at = 0; at < count; ++at) {
    Bindings inputs;
    for (size_t i = 0; i < n.inputCount(); ++i) {
      Binding input = n.binding(i);
      if (input.isSequence && input.values.size() != count)
        fail("has sequences of ", count, " and ", input.values.size(), " elements");
      inputs.push_back(input.isSequence ? Binding{{input.values[at]}} : input);
    }
    Bindings outputs = n.services.importSubgraph(body, inputs);
    for (size_t i = 0; i < outputs.size(); ++i)
      results[i].push_back(tensorOf(outputs[i], "result"));
  }
  Bindings sequences;
  for (Values &values : results)
    sequences.push_back({.values = std::move(values), .isSequence = true});
  return sequences;
}

constexpr OpEntry kControlFlowOps[] = {
    {"If", 1, importIf},
    {"Loop", 1, importLoop},
    {"Scan", 8, importScan8},
    {"Scan", 9, importScan9},
    {"SequenceMap", 17, importSequenceMap},
};

} // namespace

llvm::ArrayRef<OpEntry> controlFlowOps() { return kControlFlowOps; }

} // namespace cleave::onnx
