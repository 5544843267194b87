// See Metadata.h.
#include "compiler/frontend/onnx/parameters/Metadata.h"

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <string_view>

namespace cleave::onnx {
namespace {

constexpr const char *kSignature = "pkg.torch.export.ExportedProgram.graph_signature";
constexpr const char *kSpecKind = "pkg.torch.export.graph_signature.InputSpec.kind";
constexpr const char *kOriginalName = "pkg.torch.onnx.original_node_name";

std::string entry(const Metadata &metadata, const std::string &key) {
  auto found = metadata.find(key);
  return found == metadata.end() ? std::string() : found->second;
}

// The text between the first `before` and the next `after` behind it; empty if there is none.
std::string between(const std::string &text, const std::string &before, const std::string &after) {
  size_t begin = text.find(before);
  if (begin == std::string::npos)
    return {};
  begin += before.size();
  size_t end = text.find(after, begin);
  return end == std::string::npos ? std::string() : text.substr(begin, end - begin);
}

std::string identifierAt(const std::string &text, size_t begin) {
  size_t end = begin;
  while (end < text.size() &&
         (std::isalnum(static_cast<unsigned char>(text[end])) || text[end] == '_'))
    ++end;
  return text.substr(begin, end - begin);
}

std::vector<std::string> split(const std::string &text, char separator) {
  std::vector<std::string> parts;
  size_t begin = 0;
  while (begin <= text.size()) {
    size_t end = std::min(text.find(separator, begin), text.size());
    parts.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return parts;
}

// The levels of `namespace`: (`blocks.0.ln1`, `torch.nn.modules.normalization.LayerNorm`),
// outermost first; the last one is the operator.
std::vector<std::pair<std::string, std::string>> namespaceLevels(const Node &node) {
  std::vector<std::pair<std::string, std::string>> levels;
  std::string text = entry(node.metadata, "namespace");
  if (text.empty())
    return levels;
  for (const std::string &part : split(text, '/')) {
    size_t colon = part.find(": ");
    if (colon != std::string::npos)
      levels.emplace_back(part.substr(0, colon), part.substr(colon + 2));
  }
  return levels;
}

// `/layer2/layer2.0/downsample/downsample.0/Conv` -> `layer2.0.downsample.0`: a level that repeats
// the one before it as its prefix replaces it.
std::string modulePathOf(const std::string &nodeName) {
  std::vector<std::string> levels;
  std::vector<std::string> parts = split(nodeName, '/');
  for (size_t i = 1; i + 1 < parts.size(); ++i) {
    if (!levels.empty() && parts[i].starts_with(levels.back() + "."))
      levels.pop_back();
    levels.push_back(parts[i]);
  }
  std::string path;
  for (const std::string &level : levels)
    path += (path.empty() ? "" : ".") + level;
  return path;
}

// The arguments in brackets that begin at `begin`, up to the bracket that closes them.
std::vector<std::string> argumentsFrom(const std::string &text, size_t begin) {
  std::vector<std::string> out;
  int depth = 0;
  for (size_t i = begin; i < text.size() && depth >= 0; ++i) {
    const char c = text[i];
    depth += (c == '(' || c == '[' || c == '{') - (c == ')' || c == ']' || c == '}');
    if (depth >= 0 && (depth > 0 || c != ','))
      continue;
    const size_t first = text.find_first_not_of(' ', begin);
    if (first < i)
      out.push_back(text.substr(first, i - first));
    begin = i + 1;
  }
  return out;
}

bool hasNumberFrom(const std::string &text, size_t begin) {
  return begin < text.size() &&
         std::all_of(
             text.begin() + begin, text.end(), [](unsigned char c) { return std::isdigit(c); });
}

} // namespace

std::string FxNode::text(size_t position) const {
  return position < texts.size() ? texts[position] : std::string();
}

std::optional<double> FxNode::number(size_t position) const {
  const std::string found = text(position);
  char *end = nullptr;
  const double number = std::strtod(found.c_str(), &end);
  return found.empty() || *end ? std::nullopt : std::optional(number);
}

std::optional<FxNode> fxNodeOf(const Node &node) {
  std::string text = entry(node.metadata, "pkg.torch.onnx.fx_node");
  constexpr std::string_view kArguments = "](args = (";
  size_t arguments = text.find(kArguments);
  if (text.empty() || text[0] != '%' || arguments == std::string::npos)
    return std::nullopt;
  FxNode out;
  out.name = identifierAt(text, 1);
  out.target = between(text, "[target=", "]");
  if (out.target.starts_with("torch.ops."))
    out.target = out.target.substr(10);
  for (size_t i = arguments; i < text.size(); ++i)
    if (text[i] == '%')
      out.arguments.push_back(identifierAt(text, i + 1));
  out.texts = argumentsFrom(text, arguments + kArguments.size());
  return out;
}

std::map<std::string, SignatureEntry> signatureOf(const Graph &graph) {
  std::map<std::string, SignatureEntry> out;
  for (const std::string &line : split(entry(graph.metadata, kSignature), '\n')) {
    std::string target = between(line, "target='", "'");
    size_t colon = line.find(": ");
    if (line == "# outputs")
      break;
    if (!target.empty() && colon != std::string::npos)
      out[line.substr(0, colon)] = {target, line.compare(colon + 2, 9, "PARAMETER") == 0};
  }
  for (const ValueInfo &value : graph.values) {
    std::string fxName = entry(value.metadata, kOriginalName);
    std::string kind = entry(value.metadata, kSpecKind);
    if (!fxName.empty() && !kind.empty() && kind != "USER_INPUT")
      out.insert({fxName, {value.name, kind == "PARAMETER"}});
  }
  return out;
}

std::map<std::string, std::vector<std::string>> foldedFrom(const Graph &graph) {
  std::map<std::string, std::vector<std::string>> out;
  for (const ValueInfo &value : graph.values) {
    std::string text = entry(value.metadata, "pkg.onnxscript.optimizer.folded_from");
    if (text.empty())
      continue;
    std::vector<std::string> parts = split(text, '\'');
    std::vector<std::string> &names = out[value.name];
    for (size_t i = 1; i < parts.size(); i += 2)
      names.push_back(parts[i]);
  }
  return out;
}

std::string moduleOf(const Node &node) {
  auto levels = namespaceLevels(node);
  if (levels.size() >= 2)
    return levels[levels.size() - 2].first;
  return node.name.starts_with("/") ? modulePathOf(node.name) : std::string();
}

bool isInBatchNorm(const Node &node) {
  auto levels = namespaceLevels(node);
  return levels.size() >= 2 &&
         levels[levels.size() - 2].second.find(".BatchNorm") != std::string::npos;
}

bool isMadeUpName(const std::string &name) {
  if (name.find("::") != std::string::npos || name.starts_with("/"))
    return true;
  if (name.starts_with("scalar_tensor_default")) // torch.export's name for a number
    return true;
  return hasNumberFrom(name, 0) || (name.starts_with("val_") && hasNumberFrom(name, 4));
}

} // namespace cleave::onnx
