// Identifies files that are no model, for error messages.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace cleave::frontend {

// The formats that can be imported, to follow `expected` in a message.
inline constexpr const char *kModelFormats =
    "a torch.export archive (.pt2), an ONNX model or a TorchScript archive";

// The content of a file by its first bytes: `a NumPy array`, `text that begins with 'hello'`, ….
// None where they could begin an ONNX model, which has no signature. Must not be called for zip
// archives.
std::optional<std::string> otherContent(std::string_view bytes);

} // namespace cleave::frontend
