// MicroBatches: a batch cut into micro-batches (--micro-batch).
//
// The symbols of --set then give the whole batch of a step. Its symbols are those that are the
// first dim of inputs and occur nowhere else in their shapes; each is divided by the number of
// micro-batches. Loss and gradients are those of the whole batch, as with --accumulate.
#pragma once

#include "passes/driver/Compile.h"

namespace cleave::driver {

// The symbols of --set that give the number of samples. Reads the model once per symbol of --set.
// A user error if there are none.
Result<std::vector<std::string>> batchSymbols(const CompileOptions &options);

// A batch, and how it is cut.
struct Batches {
  std::vector<std::string> symbols; // batchSymbols()
  int64_t count = 1;                // of micro-batches
  std::vector<int64_t> counts;      // all that divide the batch, rising
};

// The batch of a step under these options, cut into options.accumulate micro-batches of the sizes
// that the symbols have.
Batches batchesOf(const CompileOptions &options, std::vector<std::string> symbols);

// The same options with the same batch in `count` micro-batches, one of `batches.counts`.
CompileOptions inMicroBatches(CompileOptions options, const Batches &batches, int64_t count);

// Sets the sizes of symbols and the number of micro-batches as --micro-batch says. For `auto` with
// stages, both stay open for chooseStages() (StageSearch.h). For `auto` without stages it tries
// counts in rising order, until even without a limit of memory no plan beats the best one so far:
// more micro-batches repeat more. The compilation is then that of the fastest plan, behind the
// phase `planned`, unless phases are dumped. A remark says what was tried. Infeasible as the phase
// `planned` if no count fits.
Status cutBatch(Compilation &c);

} // namespace cleave::driver
