// See GraphInterpreter.h.
#include "compiler/frontend/pt2/GraphInterpreter.h"

#include "compiler/frontend/pt2/Autocast.h"
#include "compiler/frontend/pt2/ControlFlow.h"
#include "dialects/graph/F32Region.h"

#include "mlir/IR/Location.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/ScopeExit.h"
#include "llvm/Support/SaveAndRestore.h"

#include <set>

namespace cleave::pt2 {

// A higher-order operator that runs its graph in a mode that may be on or off.
struct Wrapper {
  const char *target;
  size_t graph; // index of the argument that is the graph; the graph's arguments follow
  bool isGrad;  // the mode is gradient computation; false: mixed precision (Autocast.h)
};

namespace {

using aten::IValue;
using aten::IValueList;
using emit::fail;

constexpr const char *kHigherOrder = "torch.ops.higher_order.";
// torch.vmap traces its function once; the nodes between these two compute one sample.
constexpr const char *kBeginSamples = "torch._functorch.predispatch._vmap_increment_nesting";
constexpr const char *kEndSamples = "torch._functorch.predispatch._vmap_decrement_nesting";
constexpr const char *kTakeSample = "torch._functorch.predispatch._add_batch_dim";
constexpr const char *kJoinSamples = "torch._functorch.predispatch._remove_batch_dim";
constexpr const char *kLoad = "torch._functorch.predispatch.lazy_load_decompositions"; // no effect

constexpr Wrapper kWrappers[] = {
    {"torch.ops.higher_order.wrap_with_autocast", 4, false},
    {"torch.ops.higher_order.wrap_with_set_grad_enabled", 1, true},
};

const Wrapper *findWrapper(const std::string &target) {
  for (const Wrapper &wrapper : kWrappers)
    if (target == wrapper.target)
      return &wrapper;
  return nullptr;
}

// The operator for a Python function of sizes.
std::optional<std::string> pythonFunction(llvm::StringRef target) {
  if (target.consume_front("_operator.") || target.consume_front("math."))
    return "aten::" + target.str();
  if (target.consume_front("torch.") && target.starts_with("sym_"))
    return "aten::" + target.str();
  return std::nullopt;
}

// `torch.ops.aten.add.Tensor` -> `aten::add`; none where it is no operator.
std::optional<std::string> operatorOf(const std::string &text) {
  llvm::StringRef target = text;
  if (!target.consume_front("torch.ops."))
    return pythonFunction(target);
  llvm::SmallVector<llvm::StringRef> parts;
  target.split(parts, '.');
  if (parts.size() < 2)
    return std::nullopt;
  return (parts[0] + "::" + parts[1]).str();
}

bool isOfSamples(const std::string &target) {
  return llvm::is_contained({kBeginSamples, kEndSamples, kTakeSample, kJoinSamples, kLoad},
                            llvm::StringRef(target));
}

bool knowsTarget(const std::string &target) {
  if (isControlFlow(target) || findWrapper(target) || isOfSamples(target))
    return true;
  std::optional<std::string> name = operatorOf(target);
  return name && aten::knows(*name);
}

void findUnknown(const Graph &graph, std::map<std::string, std::vector<std::string>> &unknown) {
  for (const Node &node : graph.nodes) {
    if (!knowsTarget(node.target))
      unknown[node.target].push_back(node.name);
    for (const NamedArgument &input : node.inputs)
      if (input.value.graph)
        findUnknown(*input.value.graph, unknown);
  }
}

} // namespace

void GraphInterpreter::checkTargets(const Graph &graph) const {
  std::map<std::string, std::vector<std::string>> unknown;
  findUnknown(graph, unknown);
  if (unknown.empty())
    return;
  std::string list;
  for (const auto &[target, nodes] : unknown) {
    list += (list.empty() ? "" : "; ") + target + " (";
    for (size_t i = 0; i < nodes.size() && i < 3; ++i)
      list += (i ? ", '" : "'") + nodes[i] + "'";
    list += nodes.size() > 3 ? " and " + std::to_string(nodes.size() - 3) + " more)" : ")";
  }
  fail("the model has operators that Cleave does not support: ", list);
}

void GraphInterpreter::split(const std::string &name, const std::string &parameter, Make make) {
  splits_[name] = {parameter, std::move(make), {}};
}

const IValue &GraphInterpreter::lookUp(const Scope &scope, const std::string &name) const {
  if (auto found = scope.find(name); found != scope.end())
    return found->second;
  if (auto found = notComputed_.find(name); found != notComputed_.end())
    fail("reads '", name, "', a result of ", found->second, " that Cleave does not compute");
  fail("reads '", name, "', which is not defined");
}

// -- arguments ------------------------------------------------------------------------------------
IValue GraphInterpreter::valueOf(const Node &node, const Argument &argument, const Scope &scope) {
  switch (argument.kind) {
  case Argument::Kind::None:
    return {};
  case Argument::Kind::Integer:
    return IValue(argument.integer);
  case Argument::Kind::Number:
    return IValue(argument.number);
  case Argument::Kind::Bool:
    return IValue(argument.boolean);
  case Argument::Kind::String:
    return IValue(argument.text);
  case Argument::Kind::List: {
    IValueList items;
    for (const Argument &item : argument.items)
      items.push_back(valueOf(node, item, scope));
    return IValue::list(std::move(items));
  }
  case Argument::Kind::Name:
    break;
  case Argument::Kind::Graph:
  case Argument::Kind::Other:
    fail("has an argument of the kind '", argument.text, "', which Cleave does not support");
  }
  auto found = splits_.find(argument.text);
  if (found == splits_.end()) {
    const IValue &value = lookUp(scope, argument.text);
    if (!value.isList())
      return value;
    // A copy, so that no list can contain itself.
    return IValue::list(value.items(), value.listRef()->isTuple);
  }
  Split &split = found->second;
  size_t dot = split.parameter.rfind('.');
  std::string leaf = dot == std::string::npos ? split.parameter : split.parameter.substr(dot + 1);
  aten::TensorRef &own = split.byModule[node.module];
  if (!own)
    own = split.make(node.module.empty() ? leaf : node.module + "." + leaf);
  return own;
}

// -- graphs in arguments --------------------------------------------------------------------------
IValueList GraphInterpreter::callGraph(const Graph &graph, const IValueList &arguments) {
  if (graph.inputs.size() != arguments.size())
    fail("gives ", arguments.size(), " arguments to a graph of ", graph.inputs.size());
  Scope scope;
  for (size_t i = 0; i < arguments.size(); ++i)
    scope[graph.inputs[i].text] = arguments[i];
  run(graph, scope);
  IValueList out;
  for (const Argument &output : graph.outputs)
    out.push_back(valueOf({}, output, scope));
  return out;
}

IValueList GraphInterpreter::callWrapped(const Wrapper &wrapper, const IValueList &arguments,
                                         const Node &node) {
  if (node.inputs.size() <= wrapper.graph || !node.inputs[wrapper.graph].value.graph)
    fail("lacks its graph");
  const Graph &graph = *node.inputs[wrapper.graph].value.graph;
  IValueList own(arguments.begin() + static_cast<std::ptrdiff_t>(wrapper.graph) + 1,
                 arguments.end());
  if (!wrapper.isGrad)
    return callInRegion(regionOf(arguments), graph, own);
  const IValue &enabled = arguments.at(0);
  llvm::SaveAndRestore mode(context_.gradients, enabled.isBool() && enabled.boolean());
  return callGraph(graph, own);
}

// Ops of a region that disables autocast stay f32, those of an enabled region inside do not.
IValueList GraphInterpreter::callInRegion(const AutocastRegion &region, const Graph &graph,
                                          const IValueList &arguments) {
  graph::F32RegionScope scope(context_.emitter.b, /*isInside=*/!region.isEnabled);
  llvm::SaveAndRestore mode(region_, std::optional<AutocastRegion>(region));
  return callGraph(graph, arguments);
}

// The type of products of the node in a region that enables autocast for its result's device.
std::optional<ElementType> GraphInterpreter::regionType(const Graph &graph,
                                                        const Node &node) const {
  if (!region_ || !region_->isEnabled || node.outputs.empty())
    return std::nullopt;
  auto found = graph.tensors.find(node.outputs[0].text);
  bool isMeant = found != graph.tensors.end() && found->second.device == region_->device;
  return isMeant ? std::optional(region_->type) : std::nullopt;
}

// -- nodes ----------------------------------------------------------------------------------------
// The type of the node's first floating-point result at export.
static std::optional<ElementType> recordedFloat(const Graph &graph, const Node &node) {
  for (const Argument &output : node.outputs)
    if (auto found = graph.tensors.find(output.text);
        output.kind == Argument::Kind::Name && found != graph.tensors.end())
      if (std::optional<ElementType> element = found->second.element; element && isFloat(*element))
        return element;
  return std::nullopt;
}

IValueList GraphInterpreter::results(const Graph &graph, const Node &node, const Scope &scope) {
  IValueList positional;
  std::map<std::string, IValue> keyword;
  const Wrapper *wrapper = findWrapper(node.target);
  bool isHigherOrder = node.target.starts_with(kHigherOrder);
  for (const NamedArgument &input : node.inputs) {
    IValue value =
        isHigherOrder && input.value.graph ? IValue() : valueOf(node, input.value, scope);
    if (isHigherOrder || input.name.empty() || !node.target.starts_with("torch.ops."))
      positional.push_back(std::move(value));
    else
      keyword[input.name] = std::move(value);
  }
  if (isControlFlow(node.target))
    return callControlFlow(context_, node, positional,
                           [&](const Graph &called, const IValueList &arguments) {
                             return callGraph(called, arguments);
                           });
  if (wrapper)
    return callWrapped(*wrapper, positional, node);
  std::string name = *operatorOf(node.target);
  castArguments(context_, name, recordedFloat(graph, node), regionType(graph, node), positional,
                keyword);
  return aten::call(context_, name, positional, keyword);
}

void GraphInterpreter::bind(const Node &node, const Argument &output, const IValue &value,
                            Scope &scope) {
  if (output.kind == Argument::Kind::Name) {
    if (value.isList() &&
        llvm::any_of(value.items(), [](const IValue &item) { return item.isList(); }))
      fail("gives a list of lists, expected tensors, numbers and lists of them");
    scope[output.text] = value;
    return;
  }
  if (output.kind != Argument::Kind::List)
    return; // no node can read it
  if (!value.isList() || value.items().size() != output.items.size())
    fail("gives a ", value.kindName(), ", but the program expects ", output.items.size(),
         " tensors");
  for (size_t i = 0; i < output.items.size(); ++i)
    bind(node, output.items[i], value.items()[i], scope);
}

void GraphInterpreter::runNode(const Graph &graph, const Node &node, Scope &scope) {
  emit::Emitter &e = context_.emitter;
  std::string name = node.module.empty() ? node.name : node.module + "/" + node.name;
  mlir::Location module = mlir::UnknownLoc::get(e.b.getContext());
  if (!node.module.empty())
    module = mlir::NameLoc::get(e.b.getStringAttr(node.module));
  e.loc = mlir::NameLoc::get(e.b.getStringAttr(name), module);
  // PyTorch's default type at export, which nodes do not contain.
  context_.defaultFloat = recordedFloat(graph, node).value_or(ElementType::F32);
  IValueList values = results(graph, node, scope);
  for (size_t i = 0; i < node.outputs.size(); ++i) {
    if (i < values.size() && !(values[i].isNone() && node.outputs.size() > 1))
      bind(node, node.outputs[i], values[i], scope);
    else if (node.outputs[i].kind == Argument::Kind::Name)
      notComputed_[node.outputs[i].text] = node.target;
  }
}

// -- checks of data -------------------------------------------------------------------------------
// Whether the node only fails, on values that it does not expect.
static bool isAssertion(const Node &node) {
  llvm::StringRef target = node.target;
  return target.consume_front("torch.ops.aten.") &&
         (target.starts_with("_assert_") || target.starts_with("sym_constrain_range"));
}

static void addNames(const Argument &argument, std::set<std::string> &names) {
  if (argument.kind == Argument::Kind::Name)
    names.insert(argument.text);
  for (const Argument &item : argument.items)
    addNames(item, names);
}

// Whether the node reads a number from a tensor, or computes with such numbers.
static bool givesNumber(const Node &node) {
  llvm::StringRef target = node.target;
  return target.starts_with("torch.ops.aten.item.") ||
         target.starts_with("torch.ops.aten._local_scalar_dense.") ||
         target.starts_with("torch.ops.aten.sym_storage_offset.") || pythonFunction(target);
}

// The assertions, which the step leaves out, and the nodes of numbers that only they read: these
// may depend on data.
GraphInterpreter::Checks GraphInterpreter::checksOf(const Graph &graph) {
  Checks checks;
  std::set<std::string> read;
  for (const Argument &output : graph.outputs)
    addNames(output, read);
  for (const Node &node : llvm::reverse(graph.nodes)) {
    std::set<std::string> results;
    for (const Argument &output : node.outputs)
      addNames(output, results);
    const bool isRead = llvm::any_of(results, [&](const auto &name) { return read.count(name); });
    if (isAssertion(node) || (givesNumber(node) && !isRead)) {
      checks.insert(&node);
      continue;
    }
    for (const NamedArgument &input : node.inputs)
      addNames(input.value, read);
  }
  return checks;
}

// -- samples --------------------------------------------------------------------------------------
// The end of the samples that begin at node `begin`.
static size_t endOfSamples(const Graph &graph, size_t begin) {
  int depth = 0;
  for (size_t i = begin; i < graph.nodes.size(); ++i) {
    depth += graph.nodes[i].target == kBeginSamples;
    depth -= graph.nodes[i].target == kEndSamples;
    if (depth == 0)
      return i;
  }
  fail("begins a torch.vmap that does not end");
}

// The number of samples; fails where they cannot run one after the other.
int64_t GraphInterpreter::countSamples(const Node &node, const Scope &scope) {
  if (node.inputs.size() != 2)
    fail("has ", node.inputs.size(), " arguments, expected 2");
  const char *const way = "call run_decompositions() on the exported program, which writes "
                          "torch.vmap as operators on all samples";
  if (valueOf(node, node.inputs[1].value, scope).string() == "same")
    fail("maps with randomness='same', which Cleave does not do; ", way);
  Polynomial count = aten::integerOf(context_, valueOf(node, node.inputs[0].value, scope),
                                     "the number of samples");
  std::optional<int64_t> known = count.constant();
  if (!known || *known > kMaxRounds)
    fail("maps over ", count.str(), " samples, expected at most ", kMaxRounds, "; ", way);
  return *known;
}

// Runs the nodes between `begin` and `end` once per sample.
void GraphInterpreter::runSamples(const Graph &graph, const Checks &checks, size_t begin,
                                  size_t end, Scope &scope) {
  const int64_t count = countSamples(graph.nodes[begin], scope);
  samples_.push_back({0, {}});
  llvm::scope_exit leave([&] { samples_.pop_back(); });
  for (int64_t sample = 0; sample < count; ++sample) {
    samples_.back().number = sample;
    runNodes(graph, checks, begin + 1, end, scope);
  }
  for (const auto &[node, pieces] : samples_.back().results) {
    IValue dim = valueOf(*node, node->inputs.at(3).value, scope);
    IValue all = aten::call(context_, "aten::stack", {IValue::list(pieces), dim}).at(0);
    bind(*node, node->outputs.at(0), all, scope);
  }
}

// Runs a node that takes a sample of a tensor or adds a result of a sample to the others.
void GraphInterpreter::runOfSample(const Node &node, Scope &scope) {
  if (samples_.empty() || node.inputs.size() < 3 || node.outputs.empty())
    fail("is outside of a torch.vmap");
  IValue value = valueOf(node, node.inputs[0].value, scope);
  if (node.target == kJoinSamples) {
    auto &results = samples_.back().results;
    auto found = llvm::find_if(results, [&](const auto &known) { return known.first == &node; });
    if (found == results.end())
      found = results.emplace(found, &node, IValueList());
    found->second.push_back(value);
    return;
  }
  IValue dim = valueOf(node, node.inputs[1].value, scope);
  bind(node, node.outputs[0],
       aten::call(context_, "aten::select", {value, dim, samples_.back().number}).at(0), scope);
}

void GraphInterpreter::runNodes(const Graph &graph, const Checks &checks, size_t begin, size_t end,
                                Scope &scope) {
  for (size_t i = begin; i < end; ++i) {
    const Node &node = graph.nodes[i];
    if (checks.count(&node) || node.target == kLoad)
      continue;
    try {
      if (node.target == kBeginSamples) {
        const size_t last = endOfSamples(graph, i);
        runSamples(graph, checks, i, last, scope);
        i = last;
      } else if (isOfSamples(node.target)) {
        runOfSample(node, scope);
      } else {
        runNode(graph, node, scope);
      }
    } catch (const emit::Failure &failure) {
      throw emit::Failure{failure.status.withContext("node '" + node.name + "'")};
    }
  }
}

void GraphInterpreter::run(const Graph &graph, Scope &scope) {
  runNodes(graph, checksOf(graph), 0, graph.nodes.size(), scope);
}

} // namespace cleave::pt2
