// What a rank is about to run, as facts that all ranks must share (Agreement.h).
#pragma once

#include "runtime/artifact/program.pb.h"
#include "runtime/base/Status.h"
#include "runtime/checkpoint/Checkpoint.h"
#include "runtime/data/DataSource.h"
#include "tools/cleave-run/Agreement.h"
#include "tools/cleave-run/Options.h"

#include <cstdint>
#include <string>
#include <vector>

namespace cleave::run {

// The facts of a run of `count` steps from step `first`: version, plan, options, data, model file
// and the checkpoint or the weights (null: none). A user error if a file cannot be read.
Result<std::vector<Fact>> factsOf(const plan::Plan &plan, const Options &options, int64_t first,
                                  int64_t count, const checkpoint::TensorStore *checkpoint);

// `text.bin, 1115394 bytes, 3fa2c19b04de`: name and size of a file, and a digest of its first and
// last 64 KiB, which is cheap for files of any size. A user error if it cannot be read.
Result<std::string> fingerprint(const std::string &path);

// Adds what the names of the samples are in a folder (null: no data). `kind` as in the other facts:
// `data` or `evaluation`.
void addContents(std::vector<Fact> &facts, const std::string &kind, const data::DataSource *source);

} // namespace cleave::run
