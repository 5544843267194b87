// The results of a TorchScript program as outputs of the step.
#pragma once

#include "compiler/frontend/emit/Emitter.h"
#include "compiler/frontend/step/StepBuilder.h"
#include "compiler/frontend/torchscript/Objects.h"

namespace cleave::torchscript {

// Adds the tensors in `value`, which the model returned: one tensor, or any nest of tuples, lists
// and dictionaries. Tensors are numbered in order; those below a key of a dictionary are named by
// keys and positions (`logits`, `states.0`). Fails where there is no tensor, or there are too many
// values.
void addOutputs(const IValue &value, frontend::StepBuilder &step, emit::Emitter &emitter);

} // namespace cleave::torchscript
