// SHA-256 as in FIPS 180-4, and the same rounds with the processor's SHA instructions where
// available (a run begins with the hash of a model file, which may have gigabytes). See Sha256.h.
#include "runtime/artifact/Sha256.h"

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <vector>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace cleave::artifact {
namespace {

// The first 32 bits of the fractional parts of the cube roots of the first 64 primes.
alignas(16) constexpr uint32_t kRound[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

uint32_t bigEndian(const uint8_t *bytes) {
  return uint32_t(bytes[0]) << 24 | uint32_t(bytes[1]) << 16 | uint32_t(bytes[2]) << 8 | bytes[3];
}

// Mixes one 64-byte block into the state.
void mixPlain(uint32_t *state, const uint8_t *block) {
  uint32_t w[64];
  for (int i = 0; i < 16; ++i)
    w[i] = bigEndian(block + 4 * i);
  for (int i = 16; i < 64; ++i) {
    uint32_t s0 = std::rotr(w[i - 15], 7) ^ std::rotr(w[i - 15], 18) ^ (w[i - 15] >> 3);
    uint32_t s1 = std::rotr(w[i - 2], 17) ^ std::rotr(w[i - 2], 19) ^ (w[i - 2] >> 10);
    w[i] = w[i - 16] + s0 + w[i - 7] + s1;
  }
  auto [a, b, c, d, e, f, g, h] = std::to_array(
      {state[0], state[1], state[2], state[3], state[4], state[5], state[6], state[7]});
  for (int i = 0; i < 64; ++i) {
    uint32_t s1 = std::rotr(e, 6) ^ std::rotr(e, 11) ^ std::rotr(e, 25);
    uint32_t t1 = h + s1 + ((e & f) ^ (~e & g)) + kRound[i] + w[i];
    uint32_t s0 = std::rotr(a, 2) ^ std::rotr(a, 13) ^ std::rotr(a, 22);
    uint32_t t2 = s0 + ((a & b) ^ (a & c) ^ (b & c));
    h = g, g = f, f = e, e = d + t1, d = c, c = b, b = a, a = t1 + t2;
  }
  const uint32_t mixed[8] = {a, b, c, d, e, f, g, h};
  for (int i = 0; i < 8; ++i)
    state[i] += mixed[i];
}

#if defined(__x86_64__)
// The same with SHA-NI, which holds the state as (a, b, e, f) and (c, d, g, h).
__attribute__((target("sha,sse4.1,ssse3"))) void mixShaNi(uint32_t *state, const uint8_t *block) {
  const __m128i swap = _mm_set_epi64x(0x0c0d0e0f08090a0bLL, 0x0405060700010203LL);
  __m128i abef = _mm_set_epi32(state[0], state[1], state[4], state[5]);
  __m128i cdgh = _mm_set_epi32(state[2], state[3], state[6], state[7]);
  const __m128i abefBefore = abef, cdghBefore = cdgh;
  __m128i w[4];
  for (int i = 0; i < 4; ++i)
    w[i] = _mm_shuffle_epi8(_mm_loadu_si128((const __m128i *)(block + 16 * i)), swap);
  for (int quad = 0; quad < 16; ++quad) {
    __m128i &now = w[quad % 4];
    if (quad >= 4) {
      __m128i before7 = _mm_alignr_epi8(w[(quad + 3) % 4], w[(quad + 2) % 4], 4);
      now = _mm_add_epi32(_mm_sha256msg1_epu32(now, w[(quad + 1) % 4]), before7);
      now = _mm_sha256msg2_epu32(now, w[(quad + 3) % 4]);
    }
    __m128i sum = _mm_add_epi32(now, _mm_load_si128((const __m128i *)(kRound + 4 * quad)));
    cdgh = _mm_sha256rnds2_epu32(cdgh, abef, sum);
    abef = _mm_sha256rnds2_epu32(abef, cdgh, _mm_shuffle_epi32(sum, 0x0e));
  }
  alignas(16) uint32_t first[4], second[4];
  _mm_store_si128((__m128i *)first, _mm_add_epi32(abef, abefBefore));
  _mm_store_si128((__m128i *)second, _mm_add_epi32(cdgh, cdghBefore));
  state[0] = first[3], state[1] = first[2], state[4] = first[1], state[5] = first[0];
  state[2] = second[3], state[3] = second[2], state[6] = second[1], state[7] = second[0];
}

bool hasShaNi() {
  // GCC 12 has no __builtin_cpu_supports("sha"): CPUID leaf 7, EBX bit 29.
  uint32_t a = 7, b = 0, c = 0, d = 0;
  __asm__("cpuid" : "+a"(a), "=b"(b), "+c"(c), "=d"(d));
  return (b >> 29 & 1) && __builtin_cpu_supports("sse4.1");
}
#endif

void mix(uint32_t *state, const uint8_t *block) {
#if defined(__x86_64__)
  static const bool fast = hasShaNi();
  if (fast)
    return mixShaNi(state, block);
#endif
  mixPlain(state, block);
}

} // namespace

// The first 32 bits of the fractional parts of the square roots of the first 8 primes.
Sha256::Sha256()
    : state_{0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
             0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19} {}

void Sha256::update(const void *data, size_t size) {
  const uint8_t *bytes = static_cast<const uint8_t *>(data);
  total_ += size;
  while (size > 0) {
    if (filled_ == 0 && size >= 64) {
      mix(state_.data(), bytes);
      bytes += 64, size -= 64;
      continue;
    }
    size_t piece = std::min(size, 64 - filled_);
    std::memcpy(block_.data() + filled_, bytes, piece);
    bytes += piece, size -= piece, filled_ += piece;
    if (filled_ == 64) {
      mix(state_.data(), block_.data());
      filled_ = 0;
    }
  }
}

std::string Sha256::finish() {
  uint64_t bits = total_ * 8;
  const uint8_t one = 0x80, zero = 0;
  update(&one, 1);
  while (filled_ != 56)
    update(&zero, 1);
  uint8_t length[8];
  for (int i = 0; i < 8; ++i)
    length[i] = uint8_t(bits >> (56 - 8 * i));
  update(length, 8);
  std::string hex;
  for (uint32_t word : state_)
    for (int shift = 28; shift >= 0; shift -= 4)
      hex += "0123456789abcdef"[word >> shift & 15];
  return hex;
}

std::string sha256(std::string_view bytes) {
  Sha256 hash;
  hash.update(bytes.data(), bytes.size());
  return hash.finish();
}

Result<std::string> sha256OfFile(const std::string &path) {
  FILE *file = std::fopen(path.c_str(), "rb");
  if (!file)
    return Status::userError("cannot read '", path, "': ", std::strerror(errno));
  Sha256 hash;
  std::vector<uint8_t> piece(1 << 20);
  size_t size;
  while ((size = std::fread(piece.data(), 1, piece.size(), file)) > 0)
    hash.update(piece.data(), size);
  bool failed = std::ferror(file);
  std::fclose(file);
  if (failed)
    return Status::userError("cannot read '", path, "' to its end");
  return hash.finish();
}

} // namespace cleave::artifact
