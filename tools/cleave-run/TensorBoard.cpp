// Event files: records of TFRecord's format. A record is the length of its data in 8 bytes, a
// checksum of the length, the data, and a checksum of the data; all little endian. A checksum is a
// CRC-32C, rotated right by 15 bits, plus 0xa282ead8.
#include "tools/cleave-run/TensorBoard.h"

#include "tools/cleave-run/event.pb.h"

#include <cerrno>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <unistd.h>

namespace cleave::run {

// The Castagnoli polynomial, bits reversed.
static uint32_t crc32c(const std::string &data) {
  constexpr uint32_t kPolynomial = 0x82f63b78;
  uint32_t crc = ~0u;
  for (unsigned char byte : data) {
    crc ^= byte;
    for (int bit = 0; bit < 8; ++bit)
      crc = crc >> 1 ^ (crc & 1 ? kPolynomial : 0);
  }
  return ~crc;
}

template <typename T> static std::string bytesOf(T number) {
  std::string bytes;
  for (size_t i = 0; i < sizeof(T); ++i)
    bytes += static_cast<char>(number >> (8 * i));
  return bytes;
}

static std::string checksumOf(const std::string &data) {
  const uint32_t crc = crc32c(data);
  return bytesOf((crc >> 15 | crc << 17) + 0xa282ead8);
}

static double secondsSince1970() {
  return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

TensorBoard::~TensorBoard() {
  if (file_)
    std::fclose(file_);
}

Status TensorBoard::open(const std::string &folder) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error)
    return Status::userError("--tensorboard: cannot create folder '", folder,
                             "': ", error.message());
  // Readers know event files by this name. Files of several attempts in one second differ by the
  // process.
  const auto now = secondsSince1970();
  path_ = concat(folder, "/events.out.tfevents.", int64_t(now), ".cleave.", getpid());
  file_ = std::fopen(path_.c_str(), "wb");
  if (!file_)
    return Status::userError("--tensorboard: cannot write '", path_, "': ", std::strerror(errno));
  tensorboard::Event event;
  event.set_wall_time(now);
  event.set_file_version("brain.Event:2");
  return write(event.SerializeAsString());
}

static std::string tagOf(const std::string &name) {
  if (name.starts_with("eval_"))
    return "eval/" + name.substr(5);
  const bool isRate = name == "lr" || name.starts_with("lr/");
  return "train/" + (isRate ? "learning_rate" + name.substr(2) : name);
}

Status TensorBoard::step(int64_t step, const std::vector<std::pair<std::string, double>> &values) {
  if (!file_)
    return Status::ok();
  tensorboard::Event event;
  event.set_wall_time(secondsSince1970());
  event.set_step(step);
  for (const auto &[name, number] : values) {
    tensorboard::Value &value = *event.mutable_summary()->add_value();
    value.set_tag(tagOf(name));
    value.set_simple_value(static_cast<float>(number));
  }
  return write(event.SerializeAsString());
}

Status TensorBoard::write(const std::string &event) {
  const std::string length = bytesOf(uint64_t(event.size()));
  const std::string record = length + checksumOf(length) + event + checksumOf(event);
  const bool written = std::fwrite(record.data(), 1, record.size(), file_) == record.size() &&
                       std::fflush(file_) == 0;
  return written ? Status::ok()
                 : Status::userError("cannot write '", path_, "': ", std::strerror(errno));
}

} // namespace cleave::run
