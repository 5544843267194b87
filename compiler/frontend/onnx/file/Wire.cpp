// See Wire.h.
#include "compiler/frontend/onnx/file/Wire.h"

#include "compiler/frontend/onnx/file/Failure.h"

#include <cstring>

namespace cleave::onnx {

void WireReader::damaged(const std::string &what) const {
  fail("not a complete ONNX file: ", what, " at byte ", base_ + position_,
       "; copy or export it again");
}

uint64_t WireReader::rawVarint() {
  uint64_t value = 0;
  for (unsigned shift = 0; shift < 64; shift += 7) {
    if (position_ == bytes_.size())
      damaged("a number ends too early");
    auto byte = static_cast<uint8_t>(bytes_[position_++]);
    value |= static_cast<uint64_t>(byte & 0x7f) << shift;
    if (!(byte & 0x80))
      return value;
  }
  damaged("a number is longer than 64 bits");
}

uint64_t WireReader::fixed(unsigned size) {
  if (bytes_.size() - position_ < size)
    damaged("a number ends too early");
  uint64_t value = 0;
  std::memcpy(&value, bytes_.data() + position_, size);
  position_ += size;
  return value;
}

bool WireReader::next() {
  if (pending_)
    skip();
  if (position_ == bytes_.size())
    return false;
  uint64_t tag = rawVarint();
  if (tag >> 32 || (tag >> 3) == 0)
    damaged("a field has no valid number");
  field_ = static_cast<uint32_t>(tag >> 3);
  wireType_ = tag & 7;
  pending_ = true;
  return true;
}

void WireReader::expect(unsigned wireType) {
  if (wireType_ != wireType)
    damaged(concat("field ", field_, " has wire type ", wireType_, ", expected ", wireType));
  pending_ = false;
}

void WireReader::skip() {
  switch (wireType_) {
  case 0:
    varint();
    return;
  case 1:
    pending_ = false;
    fixed(8);
    return;
  case 2:
    bytes();
    return;
  case 5:
    pending_ = false;
    fixed(4);
    return;
  default:
    damaged(concat("field ", field_, " has unknown wire type ", wireType_));
  }
}

uint64_t WireReader::varint() {
  expect(0);
  return rawVarint();
}

float WireReader::float32() {
  expect(5);
  auto bits = static_cast<uint32_t>(fixed(4));
  float value;
  std::memcpy(&value, &bits, sizeof(value));
  return value;
}

ByteRange WireReader::range() {
  expect(2);
  uint64_t size = rawVarint();
  uint64_t left = bytes_.size() - position_;
  if (size > left)
    damaged(concat("field ", field_, " has ", size, " bytes but only ", left, " are left"));
  ByteRange range{base_ + position_, size};
  position_ += size;
  return range;
}

std::string_view WireReader::bytes() {
  ByteRange where = range();
  return bytes_.substr(where.offset - base_, where.size);
}

WireReader WireReader::message() {
  ByteRange where = range();
  return WireReader(bytes_.substr(where.offset - base_, where.size), where.offset);
}

void WireReader::integers(std::vector<int64_t> &out) {
  if (!isBytes()) {
    out.push_back(integer());
    return;
  }
  WireReader packed = message();
  while (packed.position_ != packed.bytes_.size())
    out.push_back(static_cast<int64_t>(packed.rawVarint()));
}

void WireReader::floats(std::vector<float> &out) {
  if (!isBytes()) {
    out.push_back(float32());
    return;
  }
  WireReader packed = message();
  while (packed.position_ != packed.bytes_.size()) {
    auto bits = static_cast<uint32_t>(packed.fixed(4));
    float value;
    std::memcpy(&value, &bits, sizeof(value));
    out.push_back(value);
  }
}

} // namespace cleave::onnx
