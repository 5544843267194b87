// See OpTable.h.
#include "compiler/frontend/onnx/ops/OpTable.h"

namespace cleave::onnx {
namespace {

using Table = std::map<std::string, std::map<int64_t, const OpEntry *>>;

Table buildTable() {
  Table table;
  for (llvm::ArrayRef<OpEntry> family : {elementwiseOps(),
                                         activationOps(),
                                         contractionOps(),
                                         poolingOps(),
                                         normalizationOps(),
                                         movementOps(),
                                         slicingOps(),
                                         reductionOps(),
                                         indexingOps(),
                                         structureOps(),
                                         controlFlowOps(),
                                         sequenceOps(),
                                         attentionOps(),
                                         coordinateOps(),
                                         lossOps(),
                                         quantizationOps(),
                                         recurrentOps(),
                                         resizeOps(),
                                         samplingOps(),
                                         beforeOpset7Ops(),
                                         bitwiseOps(),
                                         contribOps(),
                                         contribAttentionOps(),
                                         contribQuantizedOps(),
                                         argMaxOps(),
                                         flexAttentionOps(),
                                         generatorOps(),
                                         selectionOps(),
                                         stateOps(),
                                         stringOps(),
                                         gradientOps(),
                                         lookupOps(),
                                         randomOps(),
                                         regionOps(),
                                         updateOps()})
    for (const OpEntry &entry : family)
      table[entry.name][entry.since] = &entry;
  return table;
}

} // namespace

const OpEntry *findOp(const std::string &domain, const std::string &op, int64_t opset) {
  static const Table table = buildTable();
  auto found = table.find(domain.empty() ? op : domain + ":" + op);
  if (found == table.end())
    return nullptr;
  auto after = found->second.upper_bound(domain.empty() ? opset : 1);
  return after == found->second.begin() ? nullptr : std::prev(after)->second;
}

} // namespace cleave::onnx
