// See Import.h. Here: the step function around the nodes: inputs, parameters, constants, state,
// results. The nodes themselves are imported by the operators' handlers (NodeImport.h).
#include "compiler/frontend/onnx/Import.h"

#include "compiler/frontend/step/FinishStep.h"
#include "compiler/frontend/onnx/DeclaredOutputs.h"
#include "compiler/frontend/onnx/file/Functions.h"
#include "compiler/frontend/onnx/file/Initialisation.h"
#include "compiler/frontend/onnx/parameters/Metadata.h"
#include "compiler/frontend/onnx/ModelInputs.h"
#include "compiler/frontend/onnx/file/NarrowTypes.h"
#include "compiler/frontend/onnx/parameters/Parameters.h"
#include "compiler/frontend/onnx/Refusals.h"
#include "compiler/frontend/onnx/file/Topology.h"
#include "dialects/graph/KnownTexts.h"
#include "dialects/graph/RandomOrigin.h"
#include "dialects/graph/SignatureEdit.h"
#include "dialects/graph/StopGradient.h"

#include "llvm/ADT/ScopeExit.h"

namespace cleave::onnx {
namespace {

using namespace graph;

// Tensors up to this size become constants, larger ones arguments of the step.
constexpr int64_t kMaxConstantBytes = 4096;

// Subgraphs in subgraphs that are imported; the reader allows no more either.
constexpr int kMaxDepth = 16;

// Nodes that are imported, every round of a loop counted.
constexpr int64_t kMaxNodes = int64_t(1) << 17;

// The state that counts the steps of a model with random operators.
constexpr const char *kRandomCounter = "random.step";

// -- checks of the whole model --------------------------------------------------------------------

void checkOpset(const Model &model) {
  int64_t opset = model.opset();
  if (opset < kOldestOpset || opset > kNewestOpset)
    fail("the model uses opset " + std::to_string(opset) + ", expected one from " +
         std::to_string(kOldestOpset) + " to " + std::to_string(kNewestOpset) +
         "; export it with opset_version=20");
}

// -- the import -----------------------------------------------------------------------------------

// Names of one graph, and those of the graphs around it.
struct Scope {
  const Scope *outer = nullptr;
  std::map<std::string, Binding> names;

  const Binding *find(const std::string &name) const {
    for (const Scope *scope = this; scope; scope = scope->outer)
      if (auto found = scope->names.find(name); found != scope->names.end())
        return &found->second;
    return nullptr;
  }
  std::set<std::string> allNames() const {
    std::set<std::string> all;
    for (const Scope *scope = this; scope; scope = scope->outer)
      for (const auto &[name, binding] : scope->names)
        all.insert(name);
    return all;
  }
};

class Importer {
public:
  Importer(mlir::MLIRContext &context, const Model &model, WeightFiles &files,
           const ImportOptions &options)
      : context_(context), model_(model), files_(files), options_(options),
        b_(&context), services_{evaluator_, options, model.opset(), texts_, {}, {}, {}, {}, {},
                                {},         {}} {
    evaluator_.countOpsOf(b_);
    services_.importGraph = [&](const Graph &graph, const Bindings &inputs) {
      return importSubgraph(graph, inputs);
    };
    services_.importSlice = [&](const auto &given, const std::string &result) {
      return importSlice(given, result);
    };
    services_.tensorValue = [&](mlir::OpBuilder &, mlir::Location, const StoredTensor &tensor) {
      return tensorValue(tensor, tensor.name);
    };
    services_.randomKey = [&] { return randomKey(); };
    // The last input says whether the subgraph counts.
    services_.importSpeculatively = [&](const Graph &graph, Bindings inputs) {
      Value counts = inputs.back().values[0];
      inputs.pop_back();
      int64_t before = refusals_.added();
      try {
        return importSpeculatively(graph, std::move(inputs), counts);
      } catch (const AlreadyRefused &) {
        throw AlreadyRefused{refusals_.added() > before};
      }
    };
    services_.replaceState = [&](Value state, Value next) { replaceState(state, next); };
    services_.isState = [&](Value value) { return states_.contains(value); };
  }

  Imported run() {
    if (model_.graph.outputs.empty())
      fail("the model has no outputs, expected at least one; export it with some");
    order_ = sortedNodes(model_.graph, {});
    plan_ = planParameters(model_.graph, order_, files_, {options_.tie, options_.untie});
    makeStep();
    scope_.names = bindInputs(model_, options_, *signature_, b_, texts_, refusals_);
    signature_->commit(); // messages name inputs
    for (const Parameter &parameter : plan_.parameters)
      addParameter(parameter);
    importNodes(model_.graph, order_, /*isMain=*/true);
    addResults();
    refusals_.check(model_);
    frontend::finishStep(*module_, model_.path, evaluator_.assumptions());
    return {std::move(module_), plan_.remarks, model_.producer};
  }

private:
  void makeStep() {
    auto location = mlir::FileLineColLoc::get(&context_, model_.path, 0, 0);
    module_ = mlir::ModuleOp::create(location);
    b_.setInsertionPointToStart(module_->getBody());
    step_ = mlir::func::FuncOp::create(b_, location, kStepName, b_.getFunctionType({}, {}));
    b_.setInsertionPointToStart(step_.addEntryBlock());
    auto end = mlir::func::ReturnOp::create(b_, location);
    b_.setInsertionPoint(end);
    signature_.emplace(step_);
  }

  // -- arguments ----------------------------------------------------------------------------------
  Value addTensorArgument(const StoredTensor &tensor, const std::string &name, const char *role,
                          bool transposed) {
    Ints dims = tensor.dims;
    if (transposed)
      std::swap(dims[0], dims[1]);
    auto type = mlir::RankedTensorType::get(dims, fromElementType(tensor.element(), &context_));
    if (std::optional<Initialisation> first = initialisationOf(tensor))
      return addInitialised(type, name, role, *first);
    TensorOrigin origin = files_.originOf(tensor, transposed);
    return signature_->addArgument(type, name, role, toAttribute(origin, &context_));
  }

  Value addInitialised(mlir::Type type, const std::string &name, const char *role,
                       const Initialisation &first) {
    if (first.kind != Initialisation::Kind::Fill) {
      RandomOrigin random{first.kind == Initialisation::Kind::Normal, first.value};
      return signature_->addArgument(type, name, role, toAttribute(random, &context_));
    }
    TensorOrigin equal;
    equal.fill = first.value;
    return signature_->addArgument(type, name, role, toAttribute(equal, &context_));
  }

  void addParameter(const Parameter &parameter) {
    const StoredTensor &tensor = model_.graph.initializers[parameter.initializer];
    if (parameter.zeros) {
      auto type = mlir::RankedTensorType::get({*parameter.zeros},
                                              fromElementType(tensor.element(), &context_));
      mlir::Attribute zeros = toAttribute(TensorOrigin(), &context_);
      parameters_.push_back(signature_->addArgument(type, parameter.name, "parameter", zeros));
      return;
    }
    Value value;
    if (parameter.kind == Claim::Kind::Constant) {
      value = tensorValue(tensor, parameter.name);
    } else {
      bool isState = parameter.kind == Claim::Kind::State;
      StoredTensor stored = tensor;
      if (parameter.dims)
        stored.dims = *parameter.dims;
      value = addTensorArgument(stored, parameter.name, isState ? "state" : "parameter",
                                parameter.storedTransposed);
      if (isState)
        states_[value] = value;
    }
    parameters_.push_back(value);
  }

  // A small tensor as a constant, a large one as an argument; one only, however often a loop's body
  // is imported.
  Value tensorValue(const StoredTensor &tensor, const std::string &name) {
    if (tensor.dataType == kStringType)
      return textNumbers(tensor);
    if (tensor.byteCount() > kMaxConstantBytes || initialisationOf(tensor)) {
      Value &argument = stored_[&tensor];
      if (!argument)
        argument = addTensorArgument(tensor, name, "constant", false);
      return argument;
    }
    mlir::Location location =
        mlir::NameLoc::get(b_.getStringAttr(name.empty() ? "constant" : name));
    auto type =
        mlir::RankedTensorType::get(tensor.dims, fromElementType(tensor.element(), &context_));
    std::string_view bytes = files_.bytesOf(tensor);
    if (tensor.element() != ElementType::I64)
      return ConstantOp::create(b_, location, toAttribute(files_.read(tensor), &context_));
    std::vector<int64_t> exact(bytes.size() / sizeof(int64_t));
    bytes.copy(reinterpret_cast<char *>(exact.data()), bytes.size());
    return ConstantOp::create(b_, location,
                              mlir::DenseElementsAttr::get(type, llvm::ArrayRef(exact)));
  }

  // A tensor of texts: their numbers.
  Value textNumbers(const StoredTensor &tensor) {
    Tensor numbers(ElementType::I64, tensor.dims);
    for (size_t i = 0; i < tensor.texts.size(); ++i)
      numbers.values[i] = static_cast<double>(texts_.numberOf(tensor.texts[i]));
    return ConstantOp::create(b_, mlir::NameLoc::get(b_.getStringAttr("texts")),
                              toAttribute(numbers, &context_));
  }

  // -- nodes --------------------------------------------------------------------------------------
  void importNodes(const Graph &graph, const std::vector<size_t> &order, bool isMain) {
    const Graph *outerGraph = std::exchange(graph_, &graph);
    const std::vector<size_t> *outerOrder = std::exchange(nodesInOrder_, &order);
    llvm::scope_exit leave([&] { graph_ = outerGraph, nodesInOrder_ = outerOrder; });
    bindInitializers(graph, isMain);
    importInOrder(graph, order, isMain);
  }

  void importInOrder(const Graph &graph, const std::vector<size_t> &order, bool isMain) {
    for (size_t i : order) {
      const Node &node = graph.nodes[i];
      const std::string outside = place_, here = place_ + node.op + " node '" + node.label() + "'";
      place_ = here + ": ";
      bool done = false;
      try {
        done = importNode(node, isMain ? std::optional(i) : std::nullopt);
      } catch (const Failure &failure) {
        refusals_.add(failure, here);
      } catch (const AlreadyRefused &) {
      }
      place_ = outside;
      for (const std::string &output : node.outputs)
        if (!done)
          scope_.names[output].failed = true;
    }
  }

  // Names of initializers; floats of the main graph are the plan's.
  void bindInitializers(const Graph &graph, bool isMain) {
    for (size_t i = 0; i < graph.initializers.size(); ++i) {
      const StoredTensor &tensor = graph.initializers[i];
      auto planned = plan_.byInitializer.find(i);
      if (isMain && planned != plan_.byInitializer.end())
        scope_.names[tensor.name] = {{valueOf(planned->second)}};
      else if (plan_.subgraphWeights.contains(&tensor)) // findConstants looks at its use later
        scope_.names[tensor.name] = {{subgraphWeight(tensor)}};
      else if (elementTypeOf(tensor.dataType) || tensor.dataType == kStringType)
        scope_.names[tensor.name] = {{tensorValue(tensor, tensor.name)}};
      if (auto bound = scope_.names.find(tensor.name); bound != scope_.names.end())
        bound->second.narrow = narrowNumber(tensor.dataType),
        bound->second.isText = tensor.dataType == kStringType;
    }
  }

  Value subgraphWeight(const StoredTensor &tensor) {
    Value &argument = stored_[&tensor];
    if (!argument)
      argument = addTensorArgument(tensor, tensor.name, "parameter", false);
    return guardedBy(argument);
  }

  // What the slot reads, as it is at this point of the step.
  Value valueOf(const Use &use) {
    Value value = parameters_[use.parameter];
    if (auto state = states_.find(value); state != states_.end())
      value = state->second;
    if (use.transposed)
      value = buildTranspose(b_, value, {1, 0});
    if (!use.dims)
      return value;
    return buildReshape(b_, value, Shape(use.dims->begin(), use.dims->end()));
  }

  Binding operand(const Node &node, std::optional<size_t> mainIndex, size_t input) {
    if (node.inputs[input].empty())
      return {};
    if (mainIndex)
      if (auto use = plan_.uses.find({*mainIndex, input}); use != plan_.uses.end())
        return {{valueOf(use->second)}};
    return resolve(node.inputs[input]);
  }

  // The node, and the module that it stands in as its child.
  mlir::Location locationOf(const Node &node) {
    mlir::Location module = mlir::UnknownLoc::get(&context_);
    if (std::string path = moduleOf(node); !path.empty())
      module = mlir::NameLoc::get(b_.getStringAttr(path));
    return mlir::NameLoc::get(b_.getStringAttr(node.label()), module);
  }

  void countNodes(int64_t more) {
    if ((nodes_ += more) > kMaxNodes)
      fail("is one of more than " + std::to_string(kMaxNodes) +
           " nodes when all rounds of all loops are written out");
  }

  // False where the node is left out, since what it needs has been refused.
  bool importNode(const Node &node, std::optional<size_t> mainIndex) {
    countNodes(1);
    evaluator_.checkOps();
    b_.setInsertionPoint(step_.getBody().front().getTerminator());
    mlir::Location location = locationOf(node);
    Bindings inputs;
    for (size_t i = 0; i < node.inputs.size(); ++i)
      inputs.push_back(operand(node, mainIndex, i));
    int64_t operands = 0;
    for (const Binding &input : inputs)
      operands += static_cast<int64_t>(input.values.size());
    countNodes(operands / 256); // long lists are work, too
    if (llvm::any_of(inputs, [](const Binding &input) { return input.failed; }))
      return false;
    // A bias that the exporter dropped.
    if (auto use = mainIndex ? plan_.uses.find({*mainIndex, inputs.size()}) : plan_.uses.end();
        use != plan_.uses.end())
      inputs.push_back({{valueOf(use->second)}});
    TextUse texts = textUse(node, inputs);
    NodeImport import(node, std::move(inputs), b_, location, services_);
    const OpEntry *entry = findOp(node.domain, node.op, import.opset());
    if (!entry) {
      refusals_.addUnknownOperator();
      return false;
    }
    Bindings results;
    if (entry->bindingHandler)
      results = entry->bindingHandler(import);
    else
      for (Value value : entry->handler(import))
        results.push_back({{value}});
    import.checkAllRead();
    for (Binding &result : results)
      result.isText |= texts == TextUse::Moves;
    bindOutputs(node, results);
    return true;
  }

  // What the node does with texts; Knows where it has none.
  static TextUse textUse(const Node &node, const Bindings &inputs) {
    if (llvm::none_of(inputs, [](const Binding &input) { return input.isText; }))
      return TextUse::Knows;
    TextUse use = textUseOf(node.domain, node.op);
    if (use == TextUse::None)
      fail("has texts as operands, expected numbers");
    return use;
  }

  void bindOutputs(const Node &node, const Bindings &results) {
    for (size_t i = 0; i < node.outputs.size(); ++i) {
      if (node.outputs[i].empty())
        continue;
      if (i >= results.size() || (results[i].isTensor() && !results[i].values[0]))
        unsupported_[node.outputs[i]] = "output " + std::to_string(i) + " ('" + node.outputs[i] +
                                        "') of " + node.op + " node '" + node.label() +
                                        "' is read, but Cleave does not compute it";
      else
        scope_.names[node.outputs[i]] = results[i];
    }
  }

  Bindings importSubgraph(const Graph &graph, const Bindings &inputs) {
    // A round without nodes is work, too, and so are its names and constants.
    size_t names = graph.inputs.size() + graph.initializers.size() + graph.outputs.size();
    countNodes(1 + static_cast<int64_t>(names / 16));
    evaluator_.checkOps();
    if (depth_ == kMaxDepth)
      fail("has subgraphs nested too deeply");
    if (inputs.size() < graph.inputs.size())
      fail("has a subgraph with " + std::to_string(graph.inputs.size()) + " inputs, but gives it " +
           std::to_string(inputs.size()));
    ++depth_;
    Scope outer = std::move(scope_);
    scope_ = Scope{&outer, {}};
    llvm::scope_exit leave([&] { scope_ = std::move(outer), --depth_; });
    for (size_t i = 0; i < graph.inputs.size(); ++i)
      scope_.names[graph.inputs[i].name] = inputs[i];
    auto order = orders_.find(&graph);
    if (order == orders_.end()) // once only, however many rounds a loop has
      order = orders_.emplace(&graph, sortedNodes(graph, outer.allNames())).first;
    importNodes(graph, order->second, /*isMain=*/false);
    Bindings outputs;
    for (const ValueInfo &output : graph.outputs)
      outputs.push_back(resolve(output.name));
    if (llvm::any_of(outputs, [](const Binding &output) { return output.failed; }))
      throw AlreadyRefused();
    return outputs;
  }

  // A subgraph that may not count: what it reads from outside is guarded.
  Bindings importSpeculatively(const Graph &graph, Bindings inputs, Value counts) {
    if (counts_) // of a subgraph that may not count itself
      counts = AndOp::create(b_, counts.getLoc(), counts_, counts);
    Value around = std::exchange(counts_, counts);
    Scope outer = std::move(scope_);
    scope_ = Scope{&outer, {}};
    llvm::scope_exit leave([&] { scope_ = std::move(outer), counts_ = around; });
    for (Binding &input : inputs)
      guard(input);
    for (const std::string &name : freeNames(graph))
      if (const Binding *binding = outer.find(name))
        guard(scope_.names[name] = *binding);
    return importSubgraph(graph, inputs);
  }

  void guard(Binding &binding) {
    for (Value &value : binding.values)
      value = guardedBy(value);
  }

  // The value, to which the subgraph gives a gradient only where it counts: what it computes where it does not may have
  // none, and zero times infinity is not zero.
  Value guardedBy(Value value) {
    if (!counts_ || !isFloat(graph::toElementType(graph::elementTypeOf(value))) ||
        evaluator_.sizes(value))
      return value;
    mlir::Location location = value.getLoc();
    Value stopped = StopGradientOp::create(b_, location, value.getType(), value);
    return SelectOp::create(b_, location, value.getType(),
                            buildBroadcast(b_, location, counts_, graph::shapeOf(value)), value,
                            stopped);
  }

  Binding importSlice(const std::map<std::string, Binding> &given, const std::string &result) {
    countNodes(static_cast<int64_t>(nodesInOrder_->size() / 64)); // all are looked at
    std::set<std::string> names;
    for (const auto &[name, binding] : given)
      names.insert(name);
    Scope outer = std::move(scope_);
    scope_ = Scope{&outer, given};
    llvm::scope_exit leave([&] { scope_ = std::move(outer), --depth_; });
    if (depth_++ == kMaxDepth)
      fail("computes a gradient of itself");
    importInOrder(*graph_, nodesBetween(*graph_, *nodesInOrder_, names, result), /*isMain=*/false);
    Binding binding = resolve(result);
    if (binding.failed)
      throw AlreadyRefused();
    return binding;
  }

  Binding resolve(const std::string &name) {
    if (const Binding *binding = scope_.find(name))
      return *binding;
    auto known = unsupported_.find(name);
    fail(known != unsupported_.end()
             ? known->second
             : "reads '" + name + "', which has elements that Cleave does not compute with");
  }

  // Steps are counted by a state, draws within a step by two each.
  Value randomKey() {
    constexpr double drawsPerStep = 65536;
    if (!randomCounter_) {
      TensorOrigin zero;
      randomCounter_ = signature_->addArgument(tensorOf(Shape(), b_.getF64Type()), kRandomCounter,
                                               "state", toAttribute(zero, &context_));
    }
    mlir::Location location = step_.getLoc();
    Value first = MulOp::create(b_, location, randomCounter_,
                                buildSplatLike(b_, randomCounter_, drawsPerStep));
    Value number = AddOp::create(b_, location, first, buildSplatLike(b_, first, 2.0 * draws_++));
    return buildCast(b_, number, b_.getI64Type());
  }

  void replaceState(Value state, Value next) {
    if (counts_)
      fail("moves running statistics where it depends on data whether it is reached");
    if (next.getType() != state.getType())
      fail("gives running statistics another shape or type, expected that they keep theirs");
    for (auto &[argument, current] : states_)
      if (current == state)
        current = next;
  }

  // -- results ------------------------------------------------------------------------------------
  void addKnownTexts(const std::string &name, Value numbers) {
    try {
      Texts texts = knownTexts(evaluator_, texts_, numbers);
      graph::addKnownTexts(*module_, {name, texts.shape, texts.elements});
    } catch (const Failure &failure) {
      throw Failure{failure.status.withContext("output '" + name + "'")};
    }
  }

  // A tensor under its name, a sequence x as x.0, x.1, …, of an optional without an element nothing; texts are known
  // already.
  void addOutput(const std::string &name, const Binding &binding) {
    if (binding.failed)
      return;
    for (auto [i, value] : llvm::enumerate(binding.values)) {
      std::string element = binding.isSequence ? name + "." + std::to_string(i) : name;
      if (binding.isText)
        addKnownTexts(element, value);
      else
        signature_->addResult(value, element, "output");
    }
  }

  // Where the user gives inputs other types, outputs have others, too.
  void noteContradiction(const ValueInfo &declared, const Binding &binding) {
    if (!options_.inputs.empty() || !binding.isTensor() || binding.narrow || binding.isText)
      return;
    if (std::optional<Remark> remark = contradiction(declared, binding.values[0]))
      plan_.remarks.push_back(*remark);
  }

  void addResults() {
    for (const ValueInfo &output : model_.graph.outputs) {
      try {
        Binding binding = resolve(output.name);
        addOutput(output.name, binding);
        noteContradiction(output, binding);
      } catch (const Failure &failure) {
        refusals_.add(failure);
      }
    }
    if (randomCounter_) {
      Value next =
          AddOp::create(b_, step_.getLoc(), randomCounter_, buildSplatLike(b_, randomCounter_, 1));
      unsigned index = mlir::cast<mlir::BlockArgument>(randomCounter_).getArgNumber();
      signature_->addResult(next, kRandomCounter, "state", index);
    }
    for (Value argument : parameters_) {
      auto state = states_.find(argument);
      if (state == states_.end())
        continue;
      unsigned index = mlir::cast<mlir::BlockArgument>(argument).getArgNumber();
      if (state->second == argument) // only read
        signature_->setArgAttr(index, "graph.role", b_.getStringAttr("constant"));
      else
        signature_->addResult(state->second, nameOf(index), "state", index);
    }
    signature_->commit();
  }

  // The user's name of argument `index`.
  llvm::StringRef nameOf(unsigned index) const {
    return mlir::cast<mlir::StringAttr>(signature_->argAttr(index, "graph.name")).getValue();
  }

  mlir::MLIRContext &context_;
  const Model &model_;
  WeightFiles &files_;
  const ImportOptions &options_;
  mlir::OpBuilder b_;
  Evaluator evaluator_;
  ImportServices services_;
  mlir::OwningOpRef<mlir::ModuleOp> module_;
  mlir::func::FuncOp step_;
  std::optional<SignatureEdit> signature_; // of the step, until its results are known
  std::vector<size_t> order_;
  std::map<const Graph *, std::vector<size_t>> orders_; // of subgraphs, looked up only
  ParameterPlan plan_;
  std::vector<Value> parameters_;                // by index in the plan
  llvm::MapVector<Value, Value> states_;         // argument -> its value at this point of the step
  std::map<const StoredTensor *, Value> stored_; // tensors that became arguments, looked up only
  std::map<std::string, std::string> unsupported_; // outputs that handlers left out -> message
  Scope scope_;
  TextPool texts_;
  Refusals refusals_;
  std::string place_;            // of the subgraph that is imported: `If node 'x': `
  const Graph *graph_ = nullptr; // that is imported, and its order
  const std::vector<size_t> *nodesInOrder_ = nullptr;
  Value randomCounter_; // null: nothing is drawn
  int draws_ = 0;
  Value counts_; // whether what is imported counts, where that depends on data; null: it does
  int depth_ = 0;
  int64_t nodes_ = 0; // imported so far
};

} // namespace

Result<Imported> importOnnx(mlir::MLIRContext &context, const std::string &path,
                            const ImportOptions &options) {
  try {
    context.loadDialect<GraphDialect, mlir::func::FuncDialect>();
    WeightFiles files(path);
    Model model = readModel(files.modelBytes(), path);
    checkOpset(model);
    inlineFunctions(model);
    return Importer(context, model, files, options).run();
  } catch (const Failure &failure) {
    return failure.status.withContext(path);
  }
}

} // namespace cleave::onnx
