// See Initialisation.h.
#include "compiler/frontend/onnx/file/Initialisation.h"

#include "compiler/frontend/onnx/file/Failure.h"

#include <algorithm>
#include <charconv>
#include <cmath>

namespace cleave::onnx {

static const std::string kLocation = std::string(kInitialisationKey) + ":";

static const char *nameOf(Initialisation::Kind kind) {
  switch (kind) {
  case Initialisation::Kind::Fill:
    return "fill";
  case Initialisation::Kind::Normal:
    return "normal";
  case Initialisation::Kind::Uniform:
    return "uniform";
  }
  return "";
}

std::string Initialisation::str() const {
  char digits[32];
  auto end = std::to_chars(digits, digits + sizeof(digits), value).ptr;
  return nameOf(kind) + ("(" + std::string(digits, end)) + ")";
}

std::optional<Initialisation> Initialisation::parse(const std::string &text) {
  for (Kind kind : {Kind::Fill, Kind::Normal, Kind::Uniform}) {
    std::string prefix = std::string(nameOf(kind)) + "(";
    if (!text.starts_with(prefix) || !text.ends_with(")"))
      continue;
    Initialisation out{kind, 0};
    const char *last = text.data() + text.size() - 1;
    auto [end, error] = std::from_chars(text.data() + prefix.size(), last, out.value);
    bool sensible = std::isfinite(out.value) && (kind == Kind::Fill || out.value >= 0);
    return error == std::errc() && end == last && sensible ? std::optional(out) : std::nullopt;
  }
  return std::nullopt;
}

std::optional<Initialisation> initialisationOf(const StoredTensor &tensor) {
  if (!tensor.location.starts_with(kLocation))
    return std::nullopt;
  return Initialisation::parse(tensor.location.substr(kLocation.size()));
}

void setInitialisation(StoredTensor &tensor, const Initialisation &initialisation) {
  tensor.inFile = true;
  tensor.location = kLocation + initialisation.str();
}

// The input as a tensor; its dims are numbers whose product fits.
static StoredTensor tensorOf(const ValueInfo &input, const std::string &text) {
  StoredTensor tensor;
  tensor.name = input.name;
  tensor.dataType = input.dataType;
  std::string entry = "input '" + input.name + "' has the entry " + kInitialisationKey;
  std::optional<Initialisation> initialisation = Initialisation::parse(text);
  if (!initialisation)
    fail(entry, " '", text, "', expected fill(X), normal(X) or uniform(X)");
  if (!elementTypeOf(input.dataType))
    fail(entry, ", but elements of ", dataTypeName(input.dataType));
  int64_t count = 1;
  for (const Dim &dim : input.dims) {
    if (!dim.size || *dim.size < 0)
      fail(entry, ", but no fixed shape");
    if (tensor.dims.size() == kMaxRank ||
        __builtin_mul_overflow(count, std::max<int64_t>(*dim.size, 1), &count) ||
        count > (int64_t(1) << 56))
      fail(entry, ", but more elements than fit into memory");
    tensor.dims.push_back(*dim.size);
  }
  setInitialisation(tensor, *initialisation);
  return tensor;
}

void takeInitialised(Graph &graph) {
  for (const ValueInfo &input : graph.inputs)
    if (auto entry = input.metadata.find(kInitialisationKey); entry != input.metadata.end())
      graph.initializers.push_back(tensorOf(input, entry->second));
  std::erase_if(graph.inputs,
                [](const ValueInfo &input) { return input.metadata.contains(kInitialisationKey); });
}

} // namespace cleave::onnx
