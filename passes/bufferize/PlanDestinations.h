// Chooses the destinations of results before any instruction exists.
#pragma once

#include "passes/bufferize/Destinations.h"
#include "passes/bufferize/StepOrder.h"
#include "passes/bufferize/ValueViews.h"

namespace cleave::bufferize {

// Sets the destinations, and adds their buffers. The arguments of the step have their views.
void planDestinations(const StepOrder &order, ValueBuffers &buffers, const ValueViews &views,
                      Destinations &destinations);

} // namespace cleave::bufferize
