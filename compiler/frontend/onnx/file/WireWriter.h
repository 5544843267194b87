// WireWriter: writes the fields of one Protobuf message. The counterpart of WireReader.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace cleave::onnx {

// Builds the bytes of one message.
class WireWriter {
public:
  // Each function appends one field; `field` is its number in the format.
  void integer(uint32_t field, int64_t value);
  void float32(uint32_t field, float value);
  void bytes(uint32_t field, std::string_view value);
  void message(uint32_t field, const WireWriter &value) { bytes(field, value.out_); }
  // A message of two strings, fields 1 and 2: an entry of the format's maps.
  void entry(uint32_t field, std::string_view key, std::string_view value);

  // Appends encoded fields.
  void encoded(std::string_view fields) { out_.append(fields); }

  // The bytes of all fields.
  std::string take() { return std::move(out_); }

private:
  void rawVarint(uint64_t value);
  void tag(uint32_t field, unsigned wireType) { rawVarint(uint64_t(field) << 3 | wireType); }

  std::string out_;
};

} // namespace cleave::onnx
