// See RankReport.h.
#include "runtime/launch/RankReport.h"

#include "runtime/base/Concat.h"

namespace cleave::launch {

std::string placeText(Place place, int64_t step) {
  if (place == Place::Loading)
    return "while loading, before its first step";
  if (step < 0)
    return "before its first step";
  if (place == Place::Saving)
    return concat("while saving after step ", step);
  return concat(place == Place::Finishing ? "after its last step, step " : "in step ", step);
}

} // namespace cleave::launch
