// Limits of the link between device memory and host memory or a file, in plans and cluster files.
// Beyond them, a copy looks like a hang.
#pragma once

namespace cleave {

inline constexpr double kLeastLinkBytesPerSecond = 1e6, kMostLinkLatencySeconds = 1;

} // namespace cleave
