// The secret of a job: ranks of one job recognise each other by it, and encrypt what they tell each
// other over the store (SecureChannel.h).
#pragma once

#include <array>
#include <string_view>

namespace cleave::comm {

struct JobSecret {
  std::array<unsigned char, 32> bytes{}; // all zero: not set

  // A new secret of random bytes.
  static JobSecret random();
  // The secret that a text stands for: equal for equal texts, and as hard to guess as the text.
  static JobSecret of(std::string_view text);
  bool isSet() const;
};

} // namespace cleave::comm
