#include "compiler/schedule/Timeline.h"

#include "runtime/base/Concat.h"

namespace cleave::schedule {

std::string nameOf(const Resource &resource) {
  switch (resource.kind) {
  case ResourceKind::Compute:
    return "compute";
  case ResourceKind::Link:
    return concat("link ", resource.number);
  case ResourceKind::HostLink:
    return "host link";
  case ResourceKind::Disk:
    return "disk";
  }
  return "?";
}

const char *nameOf(SpaceKind kind) {
  return kind == SpaceKind::Device ? "device" : kind == SpaceKind::Host ? "host" : "file";
}

} // namespace cleave::schedule
