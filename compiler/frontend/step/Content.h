// What a file is that is no model, for messages.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace cleave::frontend {

// The files that can be imported, for messages: `expected …`.
inline constexpr const char *kModelFormats =
    "a torch.export archive (.pt2), an ONNX model or a TorchScript archive";

// `a NumPy array`, `text that begins with 'hello'`, …; none where the bytes could begin an ONNX
// model, which has no signature of its own. Never called with a zip archive.
std::optional<std::string> otherContent(std::string_view bytes);

} // namespace cleave::frontend
