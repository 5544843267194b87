// WireWriter: the fields of one Protobuf message, appended one after the other. The counterpart of
// WireReader.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace cleave::onnx {

class WireWriter {
public:
  // Each appends one field; `field` is its number in the format.
  void integer(uint32_t field, int64_t value);
  void float32(uint32_t field, float value);
  void bytes(uint32_t field, std::string_view value);
  void message(uint32_t field, const WireWriter &value) { bytes(field, value.out_); }
  // A message of two strings, fields 1 and 2, as the format's maps are.
  void entry(uint32_t field, std::string_view key, std::string_view value);

  // Appends fields as WireReader::encoded gives them.
  void encoded(std::string_view fields) { out_.append(fields); }

  // What has been written.
  std::string take() { return std::move(out_); }

private:
  void rawVarint(uint64_t value);
  void tag(uint32_t field, unsigned wireType) { rawVarint(uint64_t(field) << 3 | wireType); }

  std::string out_;
};

} // namespace cleave::onnx
