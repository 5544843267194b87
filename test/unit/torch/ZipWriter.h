// Zip files and pickles built in memory, for tests of their readers.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <zlib.h>

namespace cleave::torch {

class ZipWriter {
public:
  // Adds a file; compressed by deflate on request.
  void add(const std::string &name, const std::string &bytes, bool compress = false) {
    std::string stored = compress ? deflated(bytes) : bytes;
    uint32_t checksum = crc32(0, reinterpret_cast<const Bytef *>(bytes.data()), bytes.size());
    uint32_t offset = out_.size();
    std::string common;
    put(common, 20, 2), put(common, 0, 2), put(common, compress ? 8 : 0, 2), put(common, 0, 4);
    put(common, checksum, 4), put(common, stored.size(), 4), put(common, bytes.size(), 4);
    put(common, name.size(), 2), put(common, 0, 2);
    put(out_, 0x04034b50, 4);
    out_ += common + name + stored;
    put(directory_, 0x02014b50, 4), put(directory_, 20, 2);
    directory_ += common;
    put(directory_, 0, 2), put(directory_, 0, 2), put(directory_, 0, 2), put(directory_, 0, 4);
    put(directory_, offset, 4);
    directory_ += name;
    ++entries_;
  }

  std::string finish() const {
    std::string out = out_ + directory_;
    put(out, 0x06054b50, 4), put(out, 0, 4), put(out, entries_, 2), put(out, entries_, 2);
    put(out, directory_.size(), 4), put(out, out_.size(), 4), put(out, 0, 2);
    return out;
  }

  static void put(std::string &out, uint64_t value, int bytes) {
    for (int i = 0; i < bytes; ++i)
      out += static_cast<char>(value >> (8 * i));
  }

private:
  static std::string deflated(const std::string &bytes) {
    z_stream stream{};
    deflateInit2(&stream, 9, Z_DEFLATED, -MAX_WBITS, 8, Z_DEFAULT_STRATEGY);
    std::string out(deflateBound(&stream, bytes.size()), '\0');
    stream.next_in = reinterpret_cast<Bytef *>(const_cast<char *>(bytes.data()));
    stream.avail_in = bytes.size();
    stream.next_out = reinterpret_cast<Bytef *>(out.data());
    stream.avail_out = out.size();
    deflate(&stream, Z_FINISH);
    out.resize(stream.total_out);
    deflateEnd(&stream);
    return out;
  }

  std::string out_, directory_;
  uint16_t entries_ = 0;
};

// Pieces of pickles, by Python's opcodes.
inline std::string text(const std::string &value) {
  std::string out = "X";
  ZipWriter::put(out, value.size(), 4);
  return out + value;
}
inline std::string global(const std::string &module, const std::string &name) {
  return "c" + module + "\n" + name + "\n";
}
inline std::string integer(int32_t value) {
  std::string out = "J";
  ZipWriter::put(out, static_cast<uint32_t>(value), 4);
  return out;
}
inline std::string tuple(const std::vector<std::string> &items) {
  std::string out = "(";
  for (const std::string &item : items)
    out += item;
  return out + "t";
}
inline std::string pickled(const std::string &body) { return "\x80\x02" + body + "."; }
// A float tensor of all `count` elements of the storage `key`.
inline std::string floats(const std::string &key, int elements, int offset,
                          const std::vector<int> &dims, const std::vector<int> &strides) {
  std::vector<std::string> sizes, steps;
  for (int dim : dims)
    sizes.push_back(integer(dim));
  for (int stride : strides)
    steps.push_back(integer(stride));
  std::string storage = tuple({text("storage"), global("torch", "FloatStorage"), text(key),
                               text("cpu"), integer(elements)}) +
                        "Q";
  return global("torch._utils", "_rebuild_tensor_v2") +
         tuple({storage, integer(offset), tuple(sizes), tuple(steps), "\x89",
                global("collections", "OrderedDict") + ")R"}) +
         "R";
}

} // namespace cleave::torch
