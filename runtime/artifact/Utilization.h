// Model FLOPs utilization (MFU): the share of the devices' peak rate that the products of the model
// take, each counted once whatever the plan recomputes.
#pragma once

#include "runtime/artifact/program.pb.h"

#include <string>

namespace cleave::artifact {

// The utilization of all ranks in steps of these seconds; 0: the plan does not know the peak rates
// of its cluster, or has no products.
double utilizationOf(const plan::Plan &plan, double seconds);

// `MFU 41.2 %`, `MFU 0.25 %`; empty below 0.1 %, where a step is all overhead and the number says
// nothing.
std::string utilizationText(double utilization);

} // namespace cleave::artifact
