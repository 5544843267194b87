// See Import.h. Here: the step function around the nodes: inputs, parameters, constants, state,
// results. The nodes themselves are imported by the operators' handlers (NodeImport.h).
#include "compiler/frontend/onnx/Import.h"

#include "compiler/frontend/FinishStep.h"
#include "compiler/frontend/KnownInput.h"
#include "compiler/frontend/onnx/Functions.h"
#include "compiler/frontend/onnx/Initialisation.h"
#include "compiler/frontend/onnx/Metadata.h"
#include "compiler/frontend/onnx/NarrowTypes.h"
#include "compiler/frontend/onnx/NodeImport.h"
#include "compiler/frontend/onnx/Parameters.h"
#include "compiler/frontend/onnx/Topology.h"
#include "dialects/graph/RandomOrigin.h"

namespace cleave::onnx {
namespace {

using namespace graph;

// Tensors up to this size become constants, larger ones arguments of the step.
constexpr int64_t kMaxConstantBytes = 4096;

// Subgraphs in subgraphs that are imported; the reader allows no more either.
constexpr int kMaxDepth = 16;

// Nodes that are imported, every round of a loop counted.
constexpr int64_t kMaxNodes = int64_t(1) << 20;

// -- checks of the whole model --------------------------------------------------------------------

void checkOpset(const Model &model) {
  int64_t opset = model.opset();
  if (opset < kOldestOpset || opset > kNewestOpset)
    fail("the model uses opset " + std::to_string(opset) + ", expected one from " +
         std::to_string(kOldestOpset) + " to " + std::to_string(kNewestOpset) +
         "; export it with opset_version=" +
         std::to_string(opset < kOldestOpset ? kOldestOpset : 20));
}

// Operators without a handler, with the nodes that use them.
void findUnknown(const Graph &graph, int64_t opset,
                 std::map<std::string, std::vector<std::string>> &unknown) {
  for (const Node &node : graph.nodes) {
    if (!findOp(node.domain, node.op, node.opset ? node.opset : opset))
      unknown[node.op + (node.domain.empty() ? "" : " of the domain " + node.domain)].push_back(
          node.label());
    for (const Attribute &attribute : node.attributes)
      if (attribute.graph)
        findUnknown(*attribute.graph, opset, unknown);
  }
}

void checkOperators(const Model &model) {
  std::map<std::string, std::vector<std::string>> unknown;
  findUnknown(model.graph, model.opset(), unknown);
  if (unknown.empty())
    return;
  std::string list;
  for (const auto &[op, nodes] : unknown) {
    list += (list.empty() ? "" : "; ") + op + " (";
    for (size_t i = 0; i < nodes.size() && i < 3; ++i)
      list += (i ? ", '" : "'") + nodes[i] + "'";
    list += nodes.size() > 3 ? " and " + std::to_string(nodes.size() - 3) + " more)" : ")";
  }
  fail("the model has operators that Cleave does not know at opset " +
       std::to_string(model.opset()) + ": " + list);
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
        b_(&context), services_{evaluator_, options, model.opset(), {}, {}, {}, {}} {
    services_.importGraph = [&](const Graph &graph, const Bindings &inputs) {
      return importSubgraph(graph, inputs);
    };
    services_.tensorValue = [&](mlir::OpBuilder &, mlir::Location, const StoredTensor &tensor) {
      return tensorValue(tensor, tensor.name);
    };
    services_.replaceState = [&](Value state, Value next) { replaceState(state, next); };
    services_.isState = [&](Value value) { return states_.contains(value); };
  }

  Imported run() {
    order_ = sortedNodes(model_.graph, {});
    plan_ = planParameters(model_.graph, order_, files_, {options_.tie, options_.untie});
    makeStep();
    checkTypedInputs();
    for (const ValueInfo &input : model_.graph.inputs)
      scope_.names[input.name] = Binding{{addInput(input)}, false, narrowNumber(input.dataType)};
    checkSymbols();
    checkValues();
    for (const Parameter &parameter : plan_.parameters)
      addParameter(parameter);
    importNodes(model_.graph, order_, /*isMain=*/true);
    addResults();
    frontend::finishStep(*module_);
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
  }

  // -- arguments
  // An input whose type the user gives.
  Value addTyped(const frontend::InputType &input) {
    if (!input.element)
      fail("--input " + input.name + ": found the value '" + input.literal +
           "', expected a tensor's type as in float32[batch,3]");
    std::vector<std::string> used;
    Result<Shape> dims = frontend::sizesOf(input, options_.symbols, options_.keepSymbols, used);
    if (!dims)
      throw Failure{dims.status()};
    symbols_.insert(used.begin(), used.end());
    mlir::Type element = fromElementType(*input.element, &context_);
    return addArgument(step_, tensorOf(*dims, element), input.name, "input");
  }

  void checkTypedInputs() {
    for (const frontend::InputType &typed : options_.inputs)
      if (!llvm::any_of(model_.graph.inputs,
                        [&](const ValueInfo &input) { return input.name == typed.name; }))
        fail("--input " + typed.name + ": the model has no such input");
  }

  Value addInput(const ValueInfo &input) {
    for (const frontend::InputType &typed : options_.inputs)
      if (typed.name == input.name)
        return addTyped(typed);
    std::optional<ElementType> type = elementTypeOf(input.dataType);
    if (!type)
      fail("input '" + input.name + "' has elements of " + dataTypeName(input.dataType) +
           ", which Cleave does not compute with");
    if (!input.hasShape || input.dims.size() > kMaxRank)
      fail("input '" + input.name + "' has no usable shape; give --input " + input.name +
           "=float32[...] or export the model with one");
    if (auto known = options_.values.find(input.name); known != options_.values.end())
      return knownInput(input, *type, known->second);
    Shape dims;
    int64_t count = 1;
    for (size_t i = 0; i < input.dims.size(); ++i) {
      dims.push_back(sizeOf(input, i));
      int64_t size = dims.back().constant().value_or(1);
      if (__builtin_mul_overflow(count, size, &count) || count > (int64_t(1) << 56))
        fail("input '" + input.name + "' has more elements than fit into memory");
    }
    return addArgument(step_, tensorOf(dims, fromElementType(*type, &context_)), input.name,
                       "input");
  }

  // An input whose value the user fixed, as a constant.
  Value knownInput(const ValueInfo &input, ElementType type, const std::vector<double> &values) {
    std::vector<std::optional<int64_t>> dims;
    bool hasOpen = false;
    for (size_t i = 0; i < input.dims.size(); ++i) {
      bool isOpen =
          !hasOpen && !input.dims[i].size && !options_.symbols.contains(symbolOf(input, i));
      hasOpen |= isOpen;
      dims.push_back(isOpen ? std::nullopt : sizeOf(input, i).constant());
      if (!isOpen && !dims.back())
        fail("--value " + input.name + "=…: give --set " + symbolOf(input, i) + "=8, say, too");
    }
    Tensor tensor = frontend::knownInput(input.name, type, dims, values);
    mlir::Location location = mlir::NameLoc::get(b_.getStringAttr(input.name));
    return ConstantOp::create(b_, location, toAttribute(tensor, &context_));
  }

  // What --set calls dim i.
  static std::string symbolOf(const ValueInfo &input, size_t i) {
    const std::string &symbol = input.dims[i].symbol;
    return symbol.empty() ? input.name + "." + std::to_string(i) : symbol;
  }

  Polynomial sizeOf(const ValueInfo &input, size_t i) {
    const Dim &dim = input.dims[i];
    std::string name = symbolOf(input, i);
    bool isSymbol = !dim.size || *dim.size == 0;
    Polynomial size = isSymbol ? symbolicSize(name, i, input.name) : Polynomial(*dim.size);
    if (size.constant().value_or(0) < 0)
      fail("dim " + std::to_string(i) + " of input '" + input.name + "' has the size " +
           size.str() + ", expected at least 0");
    return size;
  }

  // An expression of symbols as exporters write them, `past + 1`; but `batch-size` is a name.
  static std::optional<Polynomial> expressionOf(const std::string &name) {
    for (size_t at = name.find_first_of("+-"); at != std::string::npos;
         at = name.find_first_of("+-", at + 1))
      if (at == 0 || name[at - 1] != ' ' || at + 1 == name.size() || name[at + 1] != ' ')
        return std::nullopt;
    return Polynomial::parse(name);
  }

  // A symbol, or an expression of symbols.
  Polynomial symbolicSize(const std::string &name, size_t i, const std::string &input) {
    std::optional<Polynomial> size = expressionOf(name);
    if (!size || size->isConstant() || options_.symbols.contains(name))
      size = Polynomial::symbol(symbolName(name));
    if (*size == Polynomial::symbol(symbolName(name)))
      givenNames_[symbolName(name)] = name;
    Polynomial::Binding values;
    for (const std::string &symbol : size->symbols()) {
      const std::string &given = givenNames_.try_emplace(symbol, symbol).first->second;
      symbols_.insert(given);
      auto found = options_.symbols.find(given);
      if (found == options_.symbols.end())
        found = options_.symbols.find(symbol);
      if (found != options_.symbols.end())
        values[symbol] = found->second;
      else
        missing_.try_emplace(given, "dim " + std::to_string(i) + " of input '" + input + "'");
    }
    return size->substitute(values);
  }

  void checkSymbols() {
    for (const auto &[symbol, size] : options_.symbols) {
      auto isMeant = [&](const std::string &name) {
        return name == symbol || symbolName(name) == symbol;
      };
      if (llvm::any_of(symbols_, isMeant))
        continue;
      std::string known;
      for (const std::string &name : symbols_)
        known += (known.empty() ? "" : ", ") + name;
      fail("--set " + symbol + "=" + std::to_string(size) + ": the model has no symbol '" + symbol +
           "'; it has " + (known.empty() ? "none" : known));
    }
    if (missing_.empty() || options_.keepSymbols)
      return;
    std::string list, options;
    for (const auto &[name, place] : missing_) {
      list += (list.empty() ? "'" : ", '") + name + "' (" + place + ")";
      options += " --set " + name + "=8";
    }
    fail((missing_.size() == 1 ? "symbol " + list + " has no value"
                               : "symbols " + list + " have no values") +
         ": give" + options + ", say");
  }

  void checkValues() {
    for (const auto &[name, values] : options_.values)
      if (llvm::none_of(model_.graph.inputs, [&](const ValueInfo &i) { return i.name == name; }))
        fail("--value " + name + "=…: the model has no input '" + name + "'");
  }

  Value addTensorArgument(const StoredTensor &tensor, const std::string &name, const char *role,
                          bool transposed) {
    Ints dims = tensor.dims;
    std::vector<int64_t> permutation;
    if (transposed) {
      std::swap(dims[0], dims[1]);
      permutation = {1, 0};
    }
    auto type = mlir::RankedTensorType::get(dims, fromElementType(tensor.element(), &context_));
    if (std::optional<Initialisation> first = initialisationOf(tensor))
      return addInitialised(type, name, role, *first);
    TensorOrigin origin = files_.originOf(tensor, permutation);
    return addArgument(step_, type, name, role, &origin);
  }

  Value addInitialised(mlir::Type type, const std::string &name, const char *role,
                       const Initialisation &first) {
    TensorOrigin equal;
    equal.fill = first.value;
    mlir::BlockArgument argument = addArgument(step_, type, name, role, &equal);
    RandomOrigin random{first.kind == Initialisation::Kind::Normal, first.value};
    if (first.kind != Initialisation::Kind::Fill)
      step_.setArgAttr(argument.getArgNumber(), "graph.source", toAttribute(random, &context_));
    return argument;
  }

  void addParameter(const Parameter &parameter) {
    const StoredTensor &tensor = model_.graph.initializers[parameter.initializer];
    if (parameter.zeros) {
      auto type = mlir::RankedTensorType::get({*parameter.zeros},
                                              fromElementType(tensor.element(), &context_));
      TensorOrigin origin; // zeros
      parameters_.push_back(addArgument(step_, type, parameter.name, "parameter", &origin));
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
    std::memcpy(exact.data(), bytes.data(), bytes.size());
    return ConstantOp::create(b_, location,
                              mlir::DenseElementsAttr::get(type, llvm::ArrayRef(exact)));
  }

  // -- nodes
  void importNodes(const Graph &graph, const std::vector<size_t> &order, bool isMain) {
    bindInitializers(graph, isMain);
    for (size_t i : order) {
      const Node &node = graph.nodes[i];
      try {
        importNode(node, isMain ? std::optional(i) : std::nullopt);
      } catch (const Failure &failure) {
        throw Failure{failure.status.withContext(node.op + " node '" + node.label() + "'")};
      }
    }
  }

  // Names of initializers; floats of the main graph are the plan's.
  void bindInitializers(const Graph &graph, bool isMain) {
    for (size_t i = 0; i < graph.initializers.size(); ++i) {
      const StoredTensor &tensor = graph.initializers[i];
      auto planned = plan_.byInitializer.find(i);
      if (isMain && planned != plan_.byInitializer.end())
        scope_.names[tensor.name] = {{initializerValue(tensor, planned->second)}};
      else if (!isMain && isWeight(tensor))
        scope_.names[tensor.name] = {{subgraphWeight(tensor)}};
      else if (elementTypeOf(tensor.dataType))
        scope_.names[tensor.name] = {{tensorValue(tensor, tensor.name)}};
      if (auto bound = scope_.names.find(tensor.name); bound != scope_.names.end())
        bound->second.narrow = narrowNumber(tensor.dataType);
    }
  }

  // Whether an initializer of a subgraph is a parameter; findConstants looks at its use later.
  static bool isWeight(const StoredTensor &tensor) {
    std::optional<ElementType> type = elementTypeOf(tensor.dataType);
    return type && isFloat(*type) && tensor.elementCount() > 1 && !isMadeUpName(tensor.name);
  }

  Value subgraphWeight(const StoredTensor &tensor) {
    Value &argument = stored_[&tensor];
    if (!argument)
      argument = addTensorArgument(tensor, tensor.name, "parameter", false);
    return argument;
  }

  // The initializer itself, whatever parameter it became.
  Value initializerValue(const StoredTensor &tensor, size_t parameter) {
    const Parameter &planned = plan_.parameters[parameter];
    return valueOf({parameter, planned.storedTransposed,
                    planned.dims ? std::optional(tensor.dims) : std::nullopt});
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
    const Binding *binding = scope_.find(node.inputs[input]);
    if (!binding)
      fail("reads '" + node.inputs[input] +
           "', which has elements that Cleave does not compute with");
    return *binding;
  }

  // The node, and the module that it stands in as its child.
  mlir::Location locationOf(const Node &node) {
    mlir::Location module = mlir::UnknownLoc::get(&context_);
    if (std::string path = moduleOf(node); !path.empty())
      module = mlir::NameLoc::get(b_.getStringAttr(path));
    return mlir::NameLoc::get(b_.getStringAttr(node.label()), module);
  }

  void importNode(const Node &node, std::optional<size_t> mainIndex) {
    if (++nodes_ > kMaxNodes)
      fail("is one of more than " + std::to_string(kMaxNodes) +
           " nodes when all rounds of all loops are written out");
    b_.setInsertionPoint(step_.getBody().front().getTerminator());
    mlir::Location location = locationOf(node);
    Bindings inputs;
    for (size_t i = 0; i < node.inputs.size(); ++i)
      inputs.push_back(operand(node, mainIndex, i));
    // A bias that the exporter dropped.
    if (auto use = mainIndex ? plan_.uses.find({*mainIndex, inputs.size()}) : plan_.uses.end();
        use != plan_.uses.end())
      inputs.push_back({{valueOf(use->second)}});
    NodeImport import(node, std::move(inputs), b_, location, services_);
    const OpEntry *entry = findOp(node.domain, node.op, import.opset());
    Bindings results;
    if (entry->bindingHandler)
      results = entry->bindingHandler(import);
    else
      for (Value value : entry->handler(import))
        results.push_back({{value}});
    import.checkAttributes();
    bindOutputs(node, results);
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
    if (++depth_ > kMaxDepth)
      fail("has subgraphs nested too deeply");
    if (inputs.size() < graph.inputs.size())
      fail("has a subgraph with " + std::to_string(graph.inputs.size()) + " inputs, but gives it " +
           std::to_string(inputs.size()));
    Scope outer = std::move(scope_);
    scope_ = Scope{&outer, {}};
    for (size_t i = 0; i < graph.inputs.size(); ++i)
      scope_.names[graph.inputs[i].name] = inputs[i];
    importNodes(graph, sortedNodes(graph, outer.allNames()), /*isMain=*/false);
    Bindings outputs;
    for (const ValueInfo &output : graph.outputs)
      outputs.push_back(resolve(output.name));
    scope_ = std::move(outer);
    --depth_;
    return outputs;
  }

  Binding resolve(const std::string &name) {
    if (const Binding *binding = scope_.find(name))
      return *binding;
    auto known = unsupported_.find(name);
    fail(known != unsupported_.end()
             ? known->second
             : "'" + name + "' has elements that Cleave does not compute with");
  }

  void replaceState(Value state, Value next) {
    for (auto &[argument, current] : states_)
      if (current == state)
        current = next;
  }

  // -- results
  void addResults() {
    for (const ValueInfo &output : model_.graph.outputs) {
      Binding binding = resolve(output.name);
      if (!binding.isTensor())
        fail("the model's output '" + output.name + "' is a sequence, expected a tensor");
      addResult(step_, binding.values[0], output.name, "output");
    }
    for (Value argument : parameters_) {
      auto state = states_.find(argument);
      if (state == states_.end())
        continue;
      unsigned index = mlir::cast<mlir::BlockArgument>(argument).getArgNumber();
      if (state->second == argument) // only read
        step_.setArgAttr(index, "graph.role", b_.getStringAttr("constant"));
      else
        addResult(step_, state->second, argName(step_, index), "state", index);
    }
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
  std::vector<size_t> order_;
  ParameterPlan plan_;
  std::set<std::string> symbols_;                 // as the model names them
  std::map<std::string, std::string> givenNames_; // by the name that a polynomial can have
  std::map<std::string, std::string> missing_;    // without a size -> where it occurs
  std::vector<Value> parameters_;                 // by index in the plan
  llvm::MapVector<Value, Value> states_;          // argument -> its value at this point of the step
  std::map<const StoredTensor *, Value> stored_;  // tensors that became arguments, looked up only
  std::map<std::string, std::string> unsupported_; // outputs that handlers left out -> message
  Scope scope_;
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
    checkOperators(model);
    return Importer(context, model, files, options).run();
  } catch (const Failure &failure) {
    return failure.status.withContext(path);
  }
}

} // namespace cleave::onnx
