// The signature of @step (dialects/graph/Step.h), from import to partitioned.
//
//  S1  The module holds one function, @step, with a body of one block.
//  S2  Every argument has a graph.name and the graph.role input, label, received, parameter, state,
//      constant or hyperparameter.
//  S3  All inputs, labels and received values have different names, and so have all parameters and
//      states, and all hyperparameters.
//  S4  Every parameter, state, constant and hyperparameter has a graph.source. The module of one in
//      a file has a graph.model (dialects/graph/Provenance.h).
//  S5  Every result has a graph.name and the graph.role output, loss, metric, sent,
//      parameter or state.
//  S6  A result of the role parameter or state, and no other, has a graph.alias: an argument of its
//      role and type, which no other result replaces.
//  S7  Every argument and result is a ranked tensor of one of the element types of graph ops, whose
//      dims are numbers or symbols.
//  S8  Before `planned`, tensors are whole: no argument or result has a mesh.global or a
//      mesh.sharding.
//  S9  A hyperparameter is a scalar in double precision, and its graph.source is one number.
//  S10  An argument with a graph.all_of is an input or label and, along its first dim, a multiple
//       of the input or label that it names.
//  S11  Received arguments and sent results, and no others, are messages from or to another stage
//       (dialects/graph/Messages.h); the module is then a stage.
#include "dialects/graph/FedArguments.h"
#include "dialects/graph/Messages.h"
#include "dialects/graph/Stage.h"
#include "dialects/mesh/MeshDialect.h"
#include "passes/promise/Rules.h"

#include "llvm/ADT/StringSet.h"

using namespace mlir;

namespace cleave::promise {

namespace {

bool isTensor(Type type) {
  if (!graph::hasKnownDims(type) || !graph::elementTypeOf(type).isIntOrFloat())
    return false;
  Type element = graph::elementTypeOf(type);
  return graph::fromElementType(graph::toElementType(element), type.getContext()) == element;
}

bool isReplaced(Role role) { return role == Role::Parameter || role == Role::State; }

class SignatureChecker {
public:
  SignatureChecker(func::FuncOp step, StringRef phase, Tensors tensors)
      : step_(step), phase_(phase), tensors_(tensors) {}

  LogicalResult check() {
    for (unsigned i = 0; i < step_.getNumArguments(); ++i)
      if (failed(checkArgument(i)))
        return failure();
    for (unsigned i = 0; i < step_.getNumResults(); ++i)
      if (failed(checkResult(i)))
        return failure();
    return success();
  }

private:
  InFlightDiagnostic broken(StringRef rule) {
    return promise::broken(step_.getLoc(), phase_, rule);
  }

  // S7
  LogicalResult failOnType(StringRef what, StringRef name, Type type) {
    return broken("S7") << what << " '" << name << "' has the type " << type
                        << ", expected a tensor of floats (f64, f32, f16 or bf16), integers (i8 to "
                           "i64, ui8 to ui64) or booleans (i1) with known dims";
  }

  static bool hasLayout(DictionaryAttr attrs) {
    return attrs && (attrs.contains(mesh::kGlobal) || attrs.contains(mesh::kSharding));
  }

  LogicalResult checkArgument(unsigned i) {
    StringRef name = graph::argName(step_, i);
    if (!step_.getArgAttrOfType<StringAttr>(i, "graph.name"))
      return broken("S2") << "argument " << i << " has no graph.name";
    if (std::string fault = graph::argRoleFault(step_, i); !fault.empty())
      return broken("S2") << fault;
    const Role role = *graph::argRole(step_, i);
    if (!isTensor(step_.getArgumentTypes()[i]))
      return failOnType("argument", name, step_.getArgumentTypes()[i]);
    if (tensors_ == Tensors::Whole && hasLayout(step_.getArgAttrDict(i)))
      return broken("S8") << "argument '" << name << "' has a layout";
    if (failed(checkMessage(role == Role::Received, step_.getArgAttrDict(i), "argument", name)))
      return failure();
    const bool isFed = role == Role::Input || role == Role::Label || role == Role::Received;
    const bool isHyperparameter = role == Role::Hyperparameter;
    if (isFed || isReplaced(role) || isHyperparameter)
      if (!(isFed ? fed_ : isHyperparameter ? set_ : stored_).insert(name).second)
        return broken("S3") << "two arguments have the name '" << name << "'";
    if (isHyperparameter && failed(checkHyperparameter(i)))
      return failure();
    if (step_.getArgAttr(i, graph::kAllOf) && failed(checkAllOf(i)))
      return failure();
    return isFed
               ? success()
               : checkSource(step_, phase_, "S4", StringRef(cleave::name(role)) + " '" + name + "'",
                             step_.getArgAttr(i, "graph.source"));
  }

  // S11
  LogicalResult checkMessage(bool isMessage, DictionaryAttr attrs, StringRef what, StringRef name) {
    const std::optional<graph::Stage> stage = graph::stageOf(step_);
    auto peer = attrs ? attrs.getAs<IntegerAttr>(graph::kPeer) : IntegerAttr();
    const bool isPassed = attrs && graph::passedNamed(attrs.get(graph::kMessage));
    const bool isComplete = isPassed && peer && stage && peer.getInt() >= 0 &&
                            peer.getInt() < stage->count && peer.getInt() != stage->index;
    if (isMessage ? isComplete : !isPassed && !peer)
      return success();
    return broken("S11") << what << " '" << name << "' "
                         << (isMessage ? "is not passed to or from another stage of a graph.stage"
                                       : "has the attributes of a message, expected none");
  }

  // S9
  LogicalResult checkHyperparameter(unsigned i) {
    Type type = step_.getArgumentTypes()[i];
    auto source = step_.getArgAttrOfType<DictionaryAttr>(i, "graph.source");
    bool isNumber = source && source.getAs<FloatAttr>("fill");
    if (isNumber && type == RankedTensorType::get({}, Float64Type::get(step_.getContext())))
      return success();
    return broken("S9") << "hyperparameter '" << graph::argName(step_, i) << "' is " << type
                        << (isNumber ? " with" : " without")
                        << " a number as graph.source, expected tensor<f64> with one";
  }

  // Whether `all` has the dims of `one`, but for a first one that is a multiple. A block of the
  // first dim is one of any size.
  bool isMultiple(Type all, Type one) const {
    graph::Shape whole = graph::shapeOf(all), part = graph::shapeOf(one);
    if (whole.empty() || whole.size() != part.size() ||
        graph::elementTypeOf(all) != graph::elementTypeOf(one))
      return false;
    if (tensors_ != Tensors::Whole)
      return true;
    std::optional<int64_t> rows = whole[0].constant(), of = part[0].constant();
    return std::equal(whole.begin() + 1, whole.end(), part.begin() + 1) &&
           (!rows || !of || (*of > 0 && *rows % *of == 0));
  }

  // S10
  LogicalResult checkAllOf(unsigned i) {
    std::optional<unsigned> one = graph::argNamed(step_, graph::allOf(step_, i));
    if (graph::isFed(step_, i) && one && graph::isPerMicroBatch(step_, *one) &&
        isMultiple(step_.getArgument(i).getType(), step_.getArgument(*one).getType()))
      return success();
    return broken("S10") << StringRef(name(graph::argRole(step_, i))) << " '"
                         << graph::argName(step_, i) << "' holds all of '" << graph::allOf(step_, i)
                         << "', expected an input or label of fewer rows and otherwise its type";
  }

  LogicalResult checkResult(unsigned i) {
    StringRef name = graph::resultName(step_, i);
    if (!step_.getResultAttrOfType<StringAttr>(i, "graph.name"))
      return broken("S5") << "result " << i << " has no graph.name";
    if (std::string fault = graph::resultRoleFault(step_, i); !fault.empty())
      return broken("S5") << fault;
    const Role role = *graph::resultRole(step_, i);
    if (!isTensor(step_.getResultTypes()[i]))
      return failOnType("result", name, step_.getResultTypes()[i]);
    if (tensors_ == Tensors::Whole && hasLayout(step_.getResultAttrDict(i)))
      return broken("S8") << "result '" << name << "' has a layout";
    if (failed(checkMessage(role == Role::Sent, step_.getResultAttrDict(i), "result", name)))
      return failure();
    std::optional<unsigned> alias = graph::aliasOf(step_, i);
    if (isReplaced(role) != alias.has_value())
      return broken("S6") << StringRef(cleave::name(role)) << " result '" << name << "' "
                          << (alias ? "has a graph.alias, expected none" : "has no graph.alias");
    return alias ? checkAlias(i, *alias) : success();
  }

  LogicalResult checkAlias(unsigned i, unsigned argument) {
    StringRef name = graph::resultName(step_, i);
    const std::optional<Role> role = graph::resultRole(step_, i);
    if (argument >= step_.getNumArguments())
      return broken("S6") << "result '" << name << "' replaces argument " << argument << " of "
                          << step_.getNumArguments();
    Type type = step_.getResultTypes()[i], old = step_.getArgumentTypes()[argument];
    if (graph::argRole(step_, argument) != role || type != old)
      return broken("S6") << StringRef(cleave::name(role)) << " result '" << name << "' of type "
                          << type << " replaces the "
                          << StringRef(cleave::name(graph::argRole(step_, argument))) << " '"
                          << graph::argName(step_, argument) << "' of type " << old
                          << ", expected equal roles and types";
    if (!replaced_.insert(argument).second)
      return broken("S6") << "two results replace '" << graph::argName(step_, argument) << "'";
    return success();
  }

  func::FuncOp step_;
  StringRef phase_;
  Tensors tensors_;
  // Names of inputs and labels; of parameters and states; of hyperparameters.
  llvm::StringSet<> fed_, stored_, set_;
  llvm::DenseSet<unsigned> replaced_;
};

} // namespace

LogicalResult checkSignature(ModuleOp module, StringRef phase, Tensors tensors) {
  auto functions = llvm::to_vector(module.getOps<func::FuncOp>());
  func::FuncOp step = graph::stepOf(module);
  if (functions.size() != 1 || !step || !llvm::hasSingleElement(step.getBody()))
    return broken(module.getLoc(), phase, "S1")
           << "the module holds " << functions.size() << " functions"
           << (step ? "" : " and no @step") << ", expected @step alone with one block";
  return SignatureChecker(step, phase, tensors).check();
}

} // namespace cleave::promise
