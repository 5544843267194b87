// Parsing, printing, verification and plain form of the attributes.
#include "dialects/mesh/Axes.h"
#include "dialects/mesh/MeshDialect.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace cleave;
using namespace cleave::mesh;

#define GET_ATTRDEF_CLASSES
#include "dialects/mesh/MeshAttrs.cpp.inc"

void MeshDialect::registerAttributes() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "dialects/mesh/MeshAttrs.cpp.inc"
      >();
}

// -- text -----------------------------------------------------------------------------------------

// {dp, tp}
ParseResult cleave::mesh::parseAxes(AsmParser &parser, ArrayAttr &axes) {
  SmallVector<Attribute> names;
  auto parseName = [&]() -> ParseResult {
    std::string name;
    if (parser.parseKeywordOrString(&name))
      return failure();
    names.push_back(parser.getBuilder().getStringAttr(name));
    return success();
  };
  if (parser.parseCommaSeparatedList(AsmParser::Delimiter::Braces, parseName, " in a list of axes"))
    return failure();
  axes = parser.getBuilder().getArrayAttr(names);
  return success();
}

void cleave::mesh::printAxes(AsmPrinter &printer, ArrayAttr axes) {
  printer << "{";
  llvm::interleaveComma(axes.getAsRange<StringAttr>(), printer,
                        [&](StringAttr name) { printer.printKeywordOrString(name.getValue()); });
  printer << "}";
}

// [{dp}, {}]
static ParseResult parseAxisLists(AsmParser &parser, ArrayAttr &lists) {
  SmallVector<Attribute> elements;
  auto parseOne = [&] {
    ArrayAttr axes;
    ParseResult result = parseAxes(parser, axes);
    elements.push_back(axes);
    return result;
  };
  if (parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, parseOne))
    return failure();
  lists = parser.getBuilder().getArrayAttr(elements);
  return success();
}

static void printAxisLists(AsmPrinter &printer, ArrayAttr lists) {
  printer << "[";
  llvm::interleaveComma(lists.getAsRange<ArrayAttr>(), printer,
                        [&](ArrayAttr axes) { printAxes(printer, axes); });
  printer << "]";
}

Attribute MeshAttr::parse(AsmParser &parser, Type) {
  SmallVector<StringAttr> names;
  SmallVector<int64_t> sizes;
  auto parseAxis = [&]() -> ParseResult {
    std::string name;
    if (parser.parseKeywordOrString(&name) || parser.parseEqual() ||
        parser.parseInteger(sizes.emplace_back()))
      return failure();
    names.push_back(parser.getBuilder().getStringAttr(name));
    return success();
  };
  if (parser.parseLess() ||
      parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, parseAxis, " in a mesh") ||
      parser.parseGreater())
    return {};
  return parser.getChecked<MeshAttr>(parser.getContext(), names, sizes);
}

void MeshAttr::print(AsmPrinter &printer) const {
  printer << "<[";
  llvm::interleaveComma(llvm::zip(getNames(), getSizes()), printer, [&](auto axis) {
    printer.printKeywordOrString(std::get<0>(axis).getValue());
    printer << " = " << std::get<1>(axis);
  });
  printer << "]>";
}

static ParseResult parseReduceKind(AsmParser &parser, ReduceKind &kind) {
  StringRef word;
  SMLoc location = parser.getCurrentLocation();
  if (parser.parseKeyword(&word))
    return failure();
  std::optional<Reduction> reduction = symbolizeReduction(word);
  if (!reduction)
    return parser.emitError(location, "expected sum, max or min, found ") << word;
  kind = static_cast<ReduceKind>(*reduction);
  return success();
}

Attribute ShardingAttr::parse(AsmParser &parser, Type) {
  ArrayAttr dims, partial = parser.getBuilder().getArrayAttr({});
  ReduceKind kind = ReduceKind::Sum;
  if (parser.parseLess() || parseAxisLists(parser, dims))
    return {};
  if (succeeded(parser.parseOptionalComma()) &&
      (parser.parseKeyword("partial") || parser.parseEqual() || parseReduceKind(parser, kind) ||
       parseAxes(parser, partial)))
    return {};
  if (parser.parseGreater())
    return {};
  return parser.getChecked<ShardingAttr>(parser.getContext(), dims, partial, kind);
}

void ShardingAttr::print(AsmPrinter &printer) const {
  printer << "<";
  printAxisLists(printer, getDims());
  if (!getPartial().empty()) {
    printer << ", partial = " << stringifyReduction(static_cast<Reduction>(getReduce())) << " ";
    printAxes(printer, getPartial());
  }
  printer << ">";
}

Attribute StrategyAttr::parse(AsmParser &parser, Type) {
  ArrayAttr factors, partial = parser.getBuilder().getArrayAttr({}), results;
  if (parser.parseLess() || parseAxisLists(parser, factors) || parser.parseComma())
    return {};
  if (succeeded(parser.parseOptionalKeyword("partial")) &&
      (parser.parseEqual() || parseAxes(parser, partial) || parser.parseComma()))
    return {};
  if (parser.parseKeyword("results") || parser.parseEqual() || parser.parseAttribute(results) ||
      parser.parseGreater())
    return {};
  return parser.getChecked<StrategyAttr>(parser.getContext(), factors, partial, results);
}

void StrategyAttr::print(AsmPrinter &printer) const {
  printer << "<";
  printAxisLists(printer, getFactors());
  if (!getPartial().empty()) {
    printer << ", partial = ";
    printAxes(printer, getPartial());
  }
  printer << ", results = " << getResults() << ">";
}

static Mesh plainMesh(ArrayRef<StringAttr> names, ArrayRef<int64_t> sizes) {
  Mesh mesh;
  for (auto [name, size] : llvm::zip(names, sizes))
    mesh.axes.push_back({name.str(), size});
  return mesh;
}

// -- checks ---------------------------------------------------------------------------------------

LogicalResult MeshAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                               ArrayRef<StringAttr> names, ArrayRef<int64_t> sizes) {
  Status valid = plainMesh(names, sizes).check(); // M1, M2
  if (!valid)
    return emitError() << valid.message();
  return success();
}

// Verifies that the lists hold names of axes, each at most once.
static LogicalResult verifyAxes(function_ref<InFlightDiagnostic()> emitError, ArrayAttr lists,
                                ArrayAttr partial) {
  SmallVector<Attribute> all(lists.begin(), lists.end());
  all.push_back(partial);
  llvm::StringSet<> seen;
  for (Attribute list : all) {
    auto axes = dyn_cast<ArrayAttr>(list);
    if (!axes)
      return emitError() << "expected a list of axes, found " << list;
    for (Attribute axis : axes) {
      auto name = dyn_cast<StringAttr>(axis);
      if (!name)
        return emitError() << "expected the name of a mesh axis, found " << axis;
      if (!seen.insert(name.getValue()).second)
        return emitError() << "mesh axis " << name << " occurs twice";
    }
  }
  return success();
}

LogicalResult ShardingAttr::verify(function_ref<InFlightDiagnostic()> emitError, ArrayAttr dims,
                                   ArrayAttr partial, ReduceKind) {
  return verifyAxes(emitError, dims, partial); // S1
}

LogicalResult StrategyAttr::verify(function_ref<InFlightDiagnostic()> emitError, ArrayAttr factors,
                                   ArrayAttr partial, ArrayAttr results) {
  for (Attribute result : results)
    if (!isa<ShardingAttr>(result))
      return emitError() << "expected a sharding as layout of a result, found " << result;
  return verifyAxes(emitError, factors, partial); // T1
}

// -- plain form -----------------------------------------------------------------------------------

MeshAttr cleave::mesh::toAttribute(const Mesh &mesh, MLIRContext *context) {
  SmallVector<StringAttr> names;
  SmallVector<int64_t> sizes;
  for (const MeshAxis &axis : mesh.axes) {
    names.push_back(StringAttr::get(context, axis.name));
    sizes.push_back(axis.size);
  }
  return MeshAttr::get(context, names, sizes);
}

Mesh cleave::mesh::toMesh(MeshAttr attr) { return plainMesh(attr.getNames(), attr.getSizes()); }

ArrayAttr cleave::mesh::toAttribute(const std::vector<int> &axes, const Mesh &mesh,
                                    MLIRContext *context) {
  SmallVector<Attribute> names;
  for (int axis : axes)
    names.push_back(StringAttr::get(context, mesh.axes[axis].name));
  return ArrayAttr::get(context, names);
}

static ArrayAttr listsAttribute(const std::vector<std::vector<int>> &lists, const Mesh &mesh,
                                MLIRContext *context) {
  SmallVector<Attribute> result;
  for (const std::vector<int> &axes : lists)
    result.push_back(toAttribute(axes, mesh, context));
  return ArrayAttr::get(context, result);
}

ShardingAttr cleave::mesh::toAttribute(const Sharding &sharding, const Mesh &mesh,
                                       MLIRContext *context) {
  return ShardingAttr::get(context, listsAttribute(sharding.dims, mesh, context),
                           toAttribute(sharding.partial, mesh, context), sharding.reduce);
}

StrategyAttr cleave::mesh::toAttribute(const Strategy &strategy, const Mesh &mesh,
                                       MLIRContext *context) {
  SmallVector<Attribute> results;
  for (const Sharding &result : strategy.results)
    results.push_back(toAttribute(result, mesh, context));
  return StrategyAttr::get(context, listsAttribute(strategy.factors, mesh, context),
                           toAttribute(strategy.partial, mesh, context),
                           ArrayAttr::get(context, results));
}

std::optional<std::vector<int>> cleave::mesh::toAxes(ArrayAttr axes, const Mesh &mesh) {
  std::vector<int> result;
  for (auto name : axes.getAsRange<StringAttr>()) {
    int axis = mesh.axisIndex(name.str());
    if (axis < 0)
      return std::nullopt;
    result.push_back(axis);
  }
  return result;
}

static std::optional<std::vector<std::vector<int>>> toLists(ArrayAttr lists, const Mesh &mesh) {
  std::vector<std::vector<int>> result;
  for (auto list : lists.getAsRange<ArrayAttr>()) {
    std::optional<std::vector<int>> axes = toAxes(list, mesh);
    if (!axes)
      return std::nullopt;
    result.push_back(std::move(*axes));
  }
  return result;
}

std::optional<Sharding> cleave::mesh::toSharding(ShardingAttr attr, const Mesh &mesh) {
  auto dims = toLists(attr.getDims(), mesh);
  auto partial = toAxes(attr.getPartial(), mesh);
  if (!dims || !partial)
    return std::nullopt;
  llvm::sort(*partial);
  return Sharding{std::move(*dims), std::move(*partial), attr.getReduce()};
}

std::optional<Strategy> cleave::mesh::toStrategy(StrategyAttr attr, const Mesh &mesh) {
  auto factors = toLists(attr.getFactors(), mesh);
  auto partial = toAxes(attr.getPartial(), mesh);
  if (!factors || !partial)
    return std::nullopt;
  Strategy strategy{std::move(*factors), std::move(*partial), {}};
  for (auto result : attr.getResults().getAsRange<ShardingAttr>()) {
    std::optional<Sharding> sharding = toSharding(result, mesh);
    if (!sharding)
      return std::nullopt;
    strategy.results.push_back(std::move(*sharding));
  }
  return strategy;
}
