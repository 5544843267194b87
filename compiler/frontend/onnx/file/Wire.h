// WireReader: reads the fields of one Protobuf message in the order of the file, without copies. It
// records the byte offset of every field, so that weights can stay in the file. Every length is
// checked against the bytes that are left; damage is a Failure that names the byte.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace cleave::onnx {

// A range of bytes of the model file.
struct ByteRange {
  uint64_t offset = 0;
  uint64_t size = 0;
};

// Reads one message; the embedded messages of its fields have readers of their own.
class WireReader {
public:
  // `bytes` begins at byte `base` of the file.
  explicit WireReader(std::string_view bytes, uint64_t base = 0) : bytes_(bytes), base_(base) {}

  // Advances to the next field and skips the unread bytes of the last one; false at the end.
  bool next();
  // The number of the field.
  uint32_t field() const { return field_; }
  // Whether the field has the wire type of bytes: a string, a message, or packed numbers.
  bool isBytes() const { return wireType_ == 2; }

  // The field's value. Fails if the field has another wire type.
  uint64_t varint();
  int64_t integer() { return static_cast<int64_t>(varint()); }
  float float32();
  std::string_view bytes();
  std::string string() { return std::string(bytes()); }
  WireReader message();
  // The range of the field's bytes in the file.
  ByteRange range();

  // Appends the field's numbers, which may be packed or single.
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
