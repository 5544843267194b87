// WireReader: the fields of one Protobuf message, in the order of the file, without a copy. It
// knows the byte offset of everything, so weights can stay where they are. Every length is checked
// against the bytes that are there; damage is a Failure that names the byte.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace cleave::onnx {

// Bytes of the model file: from its first byte, and how many.
struct ByteRange {
  uint64_t offset = 0;
  uint64_t size = 0;
};

class WireReader {
public:
  // `bytes` begin at byte `base` of the file.
  explicit WireReader(std::string_view bytes, uint64_t base = 0) : bytes_(bytes), base_(base) {}

  // Goes to the next field and skips what was not read of the last one; false at the end.
  bool next();
  // The number of the field.
  uint32_t field() const { return field_; }
  // Whether the field is bytes: a string, a message, or packed numbers.
  bool isBytes() const { return wireType_ == 2; }

  // The field's value. A field of another wire type is damage.
  uint64_t varint();
  int64_t integer() { return static_cast<int64_t>(varint()); }
  float float32();
  std::string_view bytes();
  std::string text() { return std::string(bytes()); }
  WireReader message();
  // Where the field's bytes are in the file.
  ByteRange range();

  // Appends the field's numbers, packed or single.
  void integers(std::vector<int64_t> &out);
  void floats(std::vector<float> &out);

private:
  [[noreturn]] void damaged(const std::string &what) const;
  void expect(unsigned wireType);
  void skip();
  uint64_t rawVarint();
  uint64_t fixed(unsigned size);

  std::string_view bytes_;
  uint64_t base_;
  size_t position_ = 0;
  uint32_t field_ = 0;
  unsigned wireType_ = 0;
  bool pending_ = false; // the field's value has not been read
};

} // namespace cleave::onnx
