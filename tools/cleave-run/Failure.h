// The files of a failed job: the flight record, and the error file for torchrun.
#pragma once

#include "tools/cleave-run/FlightRecord.h"
#include "tools/cleave-run/Options.h"

namespace cleave::run {

// Writes the record of lost ranks and defects into the file of --flight-record (default:
// `SAVE.flight-record.json` beside the folder of --save), or, without either, its most useful lines
// to stderr. `rank`: the only rank that the record knows, of a job of another launcher; the file is
// then FILE.rankN.json. User errors are not recorded; a record that cannot be written is a warning.
void recordFailure(const plan::Plan &plan, const Options &options, const FlightRecord &record,
                   int rank = -1);

// Writes the failure of this rank into the file that torchrun has named in TORCHELASTIC_ERROR_FILE,
// from which it prints the root cause. A file that cannot be written is left out.
void writeElasticError(const Status &status);

} // namespace cleave::run
