// The format in which a data command writes micro-batches to its standard output. Each micro-batch
// is either one safetensors file with an array per input, by name, or one .npy array per input, in
// the order of the inputs. Arrays have the shapes of the inputs. Private to this folder.
#pragma once

#include "runtime/base/Status.h"
#include "runtime/data/ArrayFile.h"
#include "runtime/data/DataSource.h"

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace cleave::data {

// Reads `bytes` bytes of a stream; fewer only at its end. A user error if they cannot be read.
using ReadBytes = std::function<Result<size_t>(char *to, size_t bytes)>;

// Reads the bytes of one micro-batch with `arrays` inputs; empty if the stream is at its end. A
// user error without the name of the stream: the bytes are no micro-batch, or end inside of one.
Result<std::string> readBatch(const ReadBytes &read, size_t arrays);

// The arrays of a micro-batch that readBatch has read, in the order of the inputs. A user error
// without the name of the stream: one is missing, or has another shape or a type that cannot be
// converted.
Result<std::shared_ptr<const ArrayFile>> parseBatch(std::string bytes,
                                                    const std::vector<InputDescription> &inputs);

} // namespace cleave::data
