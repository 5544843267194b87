// Speed: what the predicted seconds of a step mean for the user: samples, tokens, utilization.
#pragma once

#include "runtime/artifact/program.pb.h"

#include <cstdint>
#include <string>

namespace cleave::dump {

// The number of micro-batches of a step.
uint32_t microBatchesOf(const plan::Plan &plan);

// The samples of a micro-batch: the first dim that all inputs have in common; 0 if there is none.
int64_t samplesOf(const plan::Plan &plan);

// The tokens of a micro-batch: the elements of the first input of token numbers, samples by
// positions; 0 if there is none.
int64_t tokensOf(const plan::Plan &plan);

struct Speed {
  double samples = 0;     // per second; 0: inputs have no common number of samples
  double tokens = 0;      // per second; 0: the model has no input of tokens
  double utilization = 0; // runtime/artifact/Utilization.h; 0: unknown
};
Speed speedOf(const plan::Plan &plan);

// `3.20k samples/s, 1.64M tokens/s, MFU 41.2 % of the peak in bf16`; empty if nothing is known.
std::string speedText(const plan::Plan &plan);

// Seconds of a step in which communication overlaps with computation; 0 if nearly none.
double overlappedSeconds(const plan::Prediction &predicted);

// `637 us by the planner's model, without overlap; no plan takes less than 630 us`
std::string boundText(const plan::Plan &plan);

} // namespace cleave::dump
