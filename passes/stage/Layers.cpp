// See Layers.h.
#include "passes/stage/Layers.h"

#include "dialects/graph/Step.h"

#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;

namespace cleave::stage {

// The part of a parameter's name that identifies its layer, such as `h.3` of `h.3.attn.weight`;
// empty if the parameter belongs to none.
static StringRef layerOf(StringRef parameter) {
  for (size_t begin = 0; begin < parameter.size();) {
    const size_t end = std::min(parameter.find('.', begin), parameter.size());
    const StringRef part = parameter.slice(begin, end);
    const StringRef number = part.substr(part.rfind('_') + 1);
    if (!number.empty() && llvm::all_of(number, llvm::isDigit))
      return parameter.take_front(end);
    begin = end + 1;
  }
  return "";
}

namespace {

// The first and the last op that reads parameters of a layer.
struct Span {
  int64_t first = 0, last = 0;
};

using Spans = llvm::MapVector<StringRef, Span>;

} // namespace

// The spans of all layers in the order in which they begin. The span with the name "" has the ops
// that read parameters of no layer, from the first layer on; `lastBefore` is the last one before.
static Spans spansOf(func::FuncOp step, ArrayRef<Operation *> ops, int64_t &lastBefore) {
  llvm::DenseMap<Value, StringRef> layers; // of values that depend on parameters alone
  for (unsigned i = 0; i < step.getNumArguments(); ++i)
    if (graph::argRole(step, i) == Role::Parameter)
      layers[step.getArgument(i)] = layerOf(graph::argName(step, i));
  llvm::DenseMap<Operation *, int64_t> number;
  for (auto [i, op] : llvm::enumerate(ops))
    number[op] = static_cast<int64_t>(i);
  Spans spans;
  for (Operation &op : step.getBody().front().without_terminator())
    for (Value operand : op.getOperands()) {
      const auto layer = layers.find(operand);
      if (layer == layers.end())
        continue;
      const StringRef name = layer->second;
      const auto at = number.find(&op);
      if (at == number.end())
        for (Value result : op.getResults())
          layers[result] = name;
      else if (name.empty() && spans.empty())
        lastBefore = at->second;
      else
        spans.try_emplace(name, Span{at->second, at->second}).first->second.last = at->second;
    }
  return spans;
}

Result<Layers> layersOf(func::FuncOp step, ArrayRef<Operation *> ops) {
  int64_t before = -1; // the last op that reads a parameter of what lies before
  Spans spans = spansOf(step, ops, before);
  int64_t end = static_cast<int64_t>(ops.size());
  if (const auto after = spans.find(""); after != spans.end()) {
    end = after->second.first;
    spans.erase("");
  }
  if (spans.empty())
    return Status::userError("no parameter has a layer number in its name");
  Layers layers;
  std::string name = "the embedding";
  for (const auto &[next, span] : spans) {
    if (span.first <= before)
      return Status::userError("layer '", next.str(), "' begins before ", name, " has ended");
    layers.places.push_back({before + 1, span.first});
    layers.names.push_back(next.str());
    name = "'" + next.str() + "'", before = span.last;
  }
  if (end <= before)
    return Status::userError("parameters of no layer are read before ", name, " has ended");
  layers.places.push_back({before + 1, end});
  return layers;
}

int64_t narrowest(const Layers::Places &places, ArrayRef<double> crossing) {
  int64_t least = places.to;
  for (int64_t place = places.to; place >= places.from; --place)
    if (crossing[place] < crossing[least])
      least = place;
  return least;
}

std::optional<pipelines::LayerLayout> layoutOf(const Layers &layers, ArrayRef<int64_t> cuts) {
  pipelines::LayerLayout layout{{"E"}};
  size_t before = 0; // layers
  auto addLayersUpTo = [&](size_t layer) {
    layout.stages.back().append(layer - before, 't');
    before = layer;
  };
  for (int64_t cut : cuts) {
    const auto found = llvm::find_if(layers.places, [&](const Layers::Places &range) {
      return range.from <= cut && cut <= range.to;
    });
    if (found == layers.places.end())
      return std::nullopt;
    addLayersUpTo(static_cast<size_t>(found - layers.places.begin()));
    layout.stages.emplace_back();
  }
  addLayersUpTo(layers.names.size());
  layout.stages.back() += 'L';
  return layout;
}

} // namespace cleave::stage
