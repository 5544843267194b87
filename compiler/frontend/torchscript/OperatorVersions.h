// OperatorVersions: calls whose meaning PyTorch has changed. An archive says with its version which one it means, and
// PyTorch writes the lowest version that has the meaning of all its calls.
#pragma once

#include "compiler/frontend/aten/Aten.h"

namespace cleave::torchscript {

// What an archive counts as whose version is not known.
inline constexpr int64_t kNewestVersion = INT64_MAX;

// Rewrites the arguments of a call in an archive of this version so that today's operator does the same. Before version
// 4 the quotient of integers was cut to an integer, and before version 5 torch.full made floats of integers.
void toTodaysMeaning(int64_t version, const std::string &name, aten::ValueList &positional,
                     std::map<std::string, aten::Value> &keyword, emit::Emitter &emitter);

} // namespace cleave::torchscript
