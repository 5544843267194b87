// See UnsupportedOperators.h.
#include "compiler/frontend/onnx/UnsupportedOperators.h"

#include "compiler/frontend/onnx/ops/OpTable.h"

#include <algorithm>

namespace cleave::onnx {
namespace {

constexpr size_t kMaxMessages = 50; // messages that are listed; others are counted
constexpr size_t kMaxPlaces = 3;    // places of one message that are listed

using Places = std::vector<std::string>;

// Adds the operators without a handler, with the nodes that use them, to `unknown`.
void findUnknown(const Graph &graph, int64_t opset, std::map<std::string, Places> &unknown) {
  for (const Node &node : graph.nodes) {
    if (!findOp(node.domain, node.op, node.opset ? node.opset : opset))
      unknown[node.op + (node.domain.empty() ? "" : " of the domain " + node.domain)].push_back(
          "'" + node.label() + "'");
    for (const Attribute &attribute : node.attributes)
      if (attribute.graph)
        findUnknown(*attribute.graph, opset, unknown);
  }
}

// The first kMaxPlaces places and the number of others.
std::string showPlaces(const Places &places) {
  std::string text;
  for (size_t i = 0; i < places.size() && i < kMaxPlaces; ++i)
    text += (i ? ", " : "") + places[i];
  if (places.size() > kMaxPlaces)
    text += concat(" and ", places.size() - kMaxPlaces, " more");
  return text;
}

std::string showUnknown(const Model &model) {
  std::map<std::string, Places> unknown;
  findUnknown(model.graph, model.opset(), unknown);
  std::string list;
  for (const auto &[op, nodes] : unknown)
    list += concat(list.empty() ? "" : "; ", op, " (", showPlaces(nodes), ")");
  return list.empty() ? list
                      : concat("the model has operators that Cleave does not know at opset ",
                               model.opset(), ": ", list);
}

} // namespace

void UnsupportedOperators::add(const Failure &failure, const std::string &place) {
  if (failure.status.kind() == StatusKind::Defect)
    throw Failure{place.empty() ? failure.status : failure.status.withContext(place)};
  ++added_;
  Places &places = messages_[failure.status.message()];
  if (!place.empty())
    places.push_back(place);
}

void UnsupportedOperators::check(const Model &model, const std::string &hint) const {
  if (messages_.empty() && !unknown_)
    return;
  std::string text = showUnknown(model);
  size_t listed = std::min(messages_.size(), kMaxMessages);
  for (const auto &[message, places] :
       llvm::make_range(messages_.begin(), messages_.begin() + listed))
    text += (text.empty() ? "" : "; ") +
            (places.empty() ? message : concat(showPlaces(places), ": ", message));
  if (messages_.size() > kMaxMessages)
    text += concat("; and ", messages_.size() - kMaxMessages, " more");
  bool isAnswered = messages_.empty() || text.find("--value ") != std::string::npos;
  fail(isAnswered ? text : text + hint);
}

} // namespace cleave::onnx
