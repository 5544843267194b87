// Reads one tensor message: dims, element type and the place of the elements. See Model.h.
#pragma once

#include "compiler/frontend/onnx/file/Model.h"

namespace cleave::onnx {

// Reads the tensor and checks that its bytes fit its dims (of external bytes, only the stated
// length).
StoredTensor readTensor(WireReader in);

// Adds the key and value of one StringStringEntryProto.
void readMetadata(WireReader in, Metadata &out);

} // namespace cleave::onnx
