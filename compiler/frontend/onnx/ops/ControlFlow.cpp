// Control flow that is decided while importing: branches whose condition follows from shapes and
// constants, and loops whose number of rounds does; their bodies are written out. Where a condition
// depends on data, both branches are computed and their results chosen from; a loop of at most so many
// rounds runs all of them. That is the same where nothing else happens in a branch, which is checked; a
// number that a branch guards from (a division by zero, say) is computed all the same and not taken, and its gradient
// ends where the branch begins.
#include "compiler/frontend/emit/Movement.h"
#include "compiler/frontend/emit/Slicing.h"
#include "compiler/frontend/onnx/ops/OpTable.h"

namespace cleave::onnx {
namespace {

using emit::shapeOf;

// Whether it is one truth value.
bool isOne(Value condition) {
  return emit::isBool(condition) && emit::product(shapeOf(condition)) == Polynomial(1);
}

// A subgraph that counts where this scalar holds, and is computed all the same.
Bindings importWhere(NodeImport &n, Value counts, const Graph &graph, Bindings inputs) {
  inputs.push_back({{counts}});
  return n.services.importSpeculatively(graph, inputs);
}

// What is refused in a subgraph that may not count might not be needed: the message says what decides that.
[[noreturn]] void failWhere(NodeImport &n, Value condition, const AlreadyRefused &refused) {
  if (!refused.isInside)
    throw refused;
  fail("computes its subgraphs whether they count or not, since the condition " +
       n.evaluator.whyUnknown(condition));
}

// Rounds of one loop that are written out.
constexpr int64_t kMaxRounds = 4096;

// One of both, as the condition (one element) says; both were computed. Fails where they differ in more than numbers,
// and only then asks what the condition depends on, which takes as long as all that leads to it.
Bindings choose(NodeImport &n, Value given, const Bindings &yes, const Bindings &no) {
  Value condition = n.reshape(given, {});
  Bindings chosen;
  for (size_t i = 0; i < yes.size() && yes.size() == no.size(); ++i) {
    const Values &a = yes[i].values, &c = no[i].values;
    bool same = yes[i].isSequence == no[i].isSequence && yes[i].isText == no[i].isText &&
                yes[i].narrow == no[i].narrow && a.size() == c.size();
    for (size_t k = 0; same && k < a.size(); ++k)
      same = a[k].getType() == c[k].getType();
    if (!same)
      fail("has outputs whose shapes or types depend on a condition that " +
           n.evaluator.whyUnknown(given));
    chosen.push_back(yes[i]);
    for (size_t k = 0; k < a.size(); ++k)
      if (a[k] != c[k])
        chosen.back().values[k] = n.select(n.broadcast(condition, shapeOf(a[k])), a[k], c[k]);
  }
  if (yes.size() != no.size())
    fail("has branches with " + std::to_string(yes.size()) + " and " + std::to_string(no.size()) +
         " outputs");
  return chosen;
}

// Whether two branches differ is a question for both of them: what either cannot do is reported.
Bindings importBoth(NodeImport &n, const Graph &yes, const Graph &no) {
  Value condition = n.reshape(n.input(0), {});
  AlreadyRefused refused;
  auto importBranch = [&](Value counts, const Graph &graph) -> std::optional<Bindings> {
    try {
      return importWhere(n, counts, graph, {});
    } catch (const AlreadyRefused &inBranch) {
      refused.isInside |= inBranch.isInside;
      return std::nullopt;
    }
  };
  std::optional<Bindings> first = importBranch(condition, yes),
                          second = importBranch(n.logicalNot(condition), no);
  if (!first || !second)
    failWhere(n, n.input(0), refused);
  return choose(n, n.input(0), *first, *second);
}

// A condition that depends on data: both branches are computed, and one of the results is taken.
Bindings importIf(NodeImport &n) {
  n.checkInputs(1, 1);
  const Graph &yes = n.graph("then_branch"), &no = n.graph("else_branch");
  std::optional<Tensor> known = n.known(n.input(0));
  if (!known && isOne(n.input(0)))
    return importBoth(n, yes, no);
  return n.services.importGraph(n.decimalInput(0, "condition") != 0 ? yes : no, {});
}

[[noreturn]] void failRounds() {
  fail("runs for more than " + std::to_string(kMaxRounds) +
       " rounds, which are more than Cleave writes out");
}

Value tensorOf(const Binding &binding, const char *what) {
  if (!binding.isTensor())
    fail("has a " + std::string(what) + " that is no tensor");
  if (binding.isText)
    fail("has a " + std::string(what) + " of texts, expected numbers");
  return binding.values[0];
}

// What each round adds to an output, along dim `axis`.
Value stacked(NodeImport &n, Values rounds, int64_t axis, bool backwards) {
  if (rounds.empty())
    fail("runs for no rounds, so that its outputs have no shape");
  if (backwards)
    std::reverse(rounds.begin(), rounds.end());
  return emit::stack(n, rounds, n.axis(axis, emit::rankOf(rounds[0]) + 1));
}

// -- Loop -----------------------------------------------------------------------------------------

// A loop while it is written out.
struct LoopState {
  Bindings carried;
  bool ended = false; // known to go on no longer
  Value goesOn;       // bool: whether it still does, where that depends on data; null: it does
};

// Reads the condition for the next round. With `rounds` at hand a loop whose condition depends on data runs them all
// and keeps what it had where the condition did not hold.
void readCondition(NodeImport &n, LoopState &loop, Value condition, bool isBounded) {
  std::optional<Tensor> known = n.known(condition);
  if (known || !isBounded || !isOne(condition)) {
    loop.ended = n.numberOf(condition, "condition to go on") == 0;
    return;
  }
  condition = n.reshape(condition, {});
  loop.goesOn = loop.goesOn ? n.binary<graph::AndOp>(loop.goesOn, condition) : condition;
}

// One more round of a loop.
Bindings importRound(NodeImport &n, const LoopState &loop, const Graph &body,
                     const Bindings &inputs) {
  if (!loop.goesOn)
    return n.services.importGraph(body, inputs);
  try {
    return importWhere(n, loop.goesOn, body, inputs);
  } catch (const AlreadyRefused &refused) {
    failWhere(n, loop.goesOn, refused);
  }
}

Bindings importLoop(NodeImport &n) {
  n.checkInputs(2, 1 << 16);
  const Graph &body = n.graph("body");
  int64_t rounds = n.hasInput(0) ? n.integerInput(0, "number of rounds") : kMaxRounds + 1;
  LoopState loop;
  Bindings &carried = loop.carried;
  for (size_t i = 2; i < n.inputCount(); ++i)
    carried.push_back(n.binding(i));
  if (body.outputs.size() < carried.size() + 1)
    fail("has a body with " + std::to_string(body.outputs.size()) + " outputs for " +
         std::to_string(carried.size()) + " values that it carries on");
  std::vector<Values> scanned(body.outputs.size() - 1 - carried.size());
  // Stacked outputs are as long as there are rounds, so that those must be known.
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
    carried = loop.goesOn ? choose(n, loop.goesOn, next, carried) : next;
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

// What a Scan does, besides its body: which inputs it walks along, how, and how outputs are stacked.
struct ScanOptions {
  Ints inputAxes, inputDirections, outputAxes, outputDirections; // direction 1: backwards
};

// One list of an entry per input or output; absent ones are 0.
Ints listOf(NodeImport &n, const char *name, size_t count) {
  Ints list = n.integers(name).value_or(Ints(count, 0));
  if (list.size() != count)
    fail("attribute '" + std::string(name) + "' has " + std::to_string(list.size()) +
         " entries, expected " + std::to_string(count));
  return list;
}

// How many rounds: the size of the walked dim, one for all inputs.
int64_t roundsOf(NodeImport &n, const Values &walked, const ScanOptions &options) {
  if (walked.empty())
    fail("walks along no input");
  std::optional<Polynomial> size;
  for (size_t i = 0; i < walked.size(); ++i) {
    Shape dims = shapeOf(walked[i]);
    Polynomial found = dims[n.axis(options.inputAxes[i], static_cast<int64_t>(dims.size()))];
    if (size && *size != found)
      fail("walks along dims of different sizes " + size->str() + " and " + found.str());
    size = found;
  }
  int64_t rounds = n.number(*size, "number of rounds");
  if (rounds > kMaxRounds)
    failRounds();
  return rounds;
}

// State variables in and out, then the stacked outputs.
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
    Bindings outputs = n.services.importGraph(body, inputs);
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

// How many of the inputs from `first` on are states, and whether the body fits.
size_t stateCount(NodeImport &n, const Graph &body, size_t first) {
  int64_t walked = n.requiredInteger("num_scan_inputs");
  int64_t states = walked < 1 ? -1 : static_cast<int64_t>(n.inputCount() - first) - walked;
  if (walked < 1 || states < 0 || static_cast<int64_t>(body.outputs.size()) < states)
    fail("has " + std::to_string(n.inputCount() - first) + " inputs, of which it walks along " +
         std::to_string(walked) + ", and a body with " + std::to_string(body.outputs.size()) +
         " outputs");
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

// Opset 8: for every sample of a batch by itself, along dim 1.
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
    fail("walks along a batch of " + std::to_string(batch) + " samples");
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

// The body for every element of the sequences; tensors are the same for all.
Bindings importSequenceMap(NodeImport &n) {
  const Graph &body = n.graph("body");
  std::vector<Values> results(body.outputs.size());
  size_t count = n.sequence(0).size();
  for (size_t at = 0; at < count; ++at) {
    Bindings inputs;
    for (size_t i = 0; i < n.inputCount(); ++i) {
      Binding input = n.binding(i);
      if (input.isSequence && input.values.size() != count)
        fail("has sequences of " + std::to_string(count) + " and " +
             std::to_string(input.values.size()) + " elements");
      inputs.push_back(input.isSequence ? Binding{{input.values[at]}} : input);
    }
    Bindings outputs = n.services.importGraph(body, inputs);
    for (size_t i = 0; i < outputs.size(); ++i)
      results[i].push_back(tensorOf(outputs[i], "result"));
  }
  Bindings sequences;
  for (Values &values : results)
    sequences.push_back({std::move(values), /*isSequence=*/true});
  return sequences;
}

constexpr OpEntry kOps[] = {
    {"If", 1, importIf},
    {"Loop", 1, importLoop},
    {"Scan", 8, importScan8},
    {"Scan", 9, importScan9},
    {"SequenceMap", 17, importSequenceMap},
};

} // namespace

llvm::ArrayRef<OpEntry> controlFlowOps() { return kOps; }

} // namespace cleave::onnx
