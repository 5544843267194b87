// What a run says before its first step: a line about ranks and memory, and with --verbose the
// plan, every rank, every communicator, every file, and memory by kind.
#pragma once

#include "runtime/artifact/program.pb.h"
#include "runtime/base/Status.h"
#include "runtime/executor/Executor.h"
#include "runtime/launch/Launch.h"
#include "tools/cleave-run/Options.h"
#include "tools/cleave-run/RunInputs.h"
#include "tools/cleave-run/Session.h"

#include <string>
#include <vector>

namespace cleave::run {

// `4 ranks (dp 2, tp 2) over shm, 1 thread each; 33.1 MiB of arenas on rank 0`; on GPUs `on GPUs`
// in place of the threads. `ranks`: their number.
std::string runLine(const plan::Plan &plan, int ranks, int threads,
                    const executor::Executor &executor);

// A warning if the plan is for CPUs and the ranks of this machine outnumber its cores, which
// predictions do not count; else empty.
std::string crowdText(const plan::Plan &plan, int ranks);

// `plan 'gpt.plan': mesh dp 2, tp 2; 310 instructions a step, 124 an evaluation, planned for
// local-cpu by cleave 0.1.0`.
std::string planLine(const plan::Plan &plan, const std::string &path);

// `process 4711 on host node7 under cleave-run, GPU 2; arenas 33.1 MiB, scratch of libraries 0 B`:
// what rank 0 prints for each rank.
std::string placeOfRank(const plan::Plan &plan, const launch::RankEnvironment &environment,
                        const std::string &device, int threads,
                        const executor::MemoryNumbers &memory);

// A line per group of ranks in which this rank's program communicates:
// `communicator dp of rank 0: with ranks 0, 2; 6 collectives a step (4 all_reduce, 2 all_gather)`.
std::vector<std::string> communicatorLines(const plan::Plan &plan, int rank);

// `memory of rank 0: parameters 1.20 MiB, states 2.40 MiB, values of a step 29.5 MiB, …`: the
// kinds that always live, and the rest of the arenas.
std::string memoryLine(const plan::Plan &plan, int rank);

// A line per file that the run reads, with its bytes: model, data, evaluation data, and the
// checkpoint or the weights. Of many data files the first and the number of the others.
Result<std::vector<std::string>> fileLines(const plan::Plan &plan, const Options &options,
                                           const std::string &checkpoint);

// Prints the description of the run and its warnings on rank 0.
void describeRun(const plan::Plan &plan, const Options &options, const Session &session,
                 const RunInputs &inputs, const executor::Executor &executor);

// Prints on rank 0 all of the above, once all ranks have loaded. Collective. `device`: the name of
// this rank's.
Status describeRanks(const plan::Plan &plan, const Options &options, const Session &session,
                     const RunInputs &inputs, const std::string &device,
                     const executor::Executor &executor);

} // namespace cleave::run
