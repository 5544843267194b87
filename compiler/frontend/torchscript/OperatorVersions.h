// OperatorVersions: operators whose semantics PyTorch has changed. The version of an archive
// determines their meaning; PyTorch writes the lowest version that is right for all calls in it.
#pragma once

#include "compiler/frontend/aten/Aten.h"

namespace cleave::torchscript {

// The version of archives that do not state theirs.
inline constexpr int64_t kNewestVersion = INT64_MAX;

// Rewrites the arguments of a call in an archive of this version such that today's operator has the
// same result. Before version 4 the quotient of integers was truncated, and before version 5
// torch.full converted integers to floats.
void toTodaysMeaning(int64_t version, const std::string &name, aten::IValueList &positional,
                     std::map<std::string, aten::IValue> &keyword, emit::Emitter &emitter);

} // namespace cleave::torchscript
