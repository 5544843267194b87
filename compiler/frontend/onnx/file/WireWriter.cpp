// See WireWriter.h.
#include "compiler/frontend/onnx/file/WireWriter.h"

namespace cleave::onnx {

void WireWriter::rawVarint(uint64_t value) {
  for (; value >= 0x80; value >>= 7)
    out_.push_back(static_cast<char>(value | 0x80));
  out_.push_back(static_cast<char>(value));
}

void WireWriter::integer(uint32_t field, int64_t value) {
  tag(field, 0);
  rawVarint(static_cast<uint64_t>(value));
}

void WireWriter::float32(uint32_t field, float value) {
  tag(field, 5);
  out_.append(reinterpret_cast<const char *>(&value), sizeof(value));
}

void WireWriter::bytes(uint32_t field, std::string_view value) {
  tag(field, 2);
  rawVarint(value.size());
  out_.append(value);
}

void WireWriter::entry(uint32_t field, std::string_view key, std::string_view value) {
  WireWriter pair;
  pair.bytes(1, key);
  pair.bytes(2, value);
  message(field, pair);
}

} // namespace cleave::onnx
