// Reading one tensor message: its dims, element type and where its elements are. See Model.h.
#pragma once

#include "compiler/frontend/onnx/file/Model.h"

namespace cleave::onnx {

// Reads the tensor and checks its dims and its bytes against each other (external bytes: only the
// stated length).
StoredTensor readTensor(WireReader in);

// Adds the key and the value of one StringStringEntryProto.
void readMetadata(WireReader in, Metadata &out);

} // namespace cleave::onnx
