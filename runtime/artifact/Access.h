// Which buffers an instruction reads and writes, and how far into them: what the verifier's rules
// and the executor's reports are made of.
#pragma once

#include "runtime/artifact/program.pb.h"

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace cleave::artifact {

struct Access {
  uint32_t buffer; // index into Program.buffers; not checked
  bool reads;
  bool writes;    // a launch may also read what it writes; `reads` is then false
  uint64_t bytes; // touched from the buffer's beginning on; 0: whatever the buffer holds
};

// Every buffer that the instruction touches, in the order of its fields. `buffers` gives dtypes; an
// index out of range gives an Access with that index and bytes 0.
std::vector<Access> accessesOf(const plan::Program &program, const plan::Instruction &instruction);

// Elements from an operand's first to its last one, plus its offset: the buffer must hold as many.
// `sizes` has one entry per stride. -1 when a stride or the offset is negative or the counts
// differ.
int64_t reachOf(const plan::StridedOperand &operand, std::span<const int64_t> sizes);

// Elements of a dense shape; 2^56 if there are too many to count.
int64_t elementCount(const google::protobuf::RepeatedField<int64_t> &shape);

// `launch`, `matmul`, `all-reduce`, …: the word for an instruction in messages and traces.
std::string kindName(const plan::Instruction &instruction);

// `all-reduce`, `send`, …
const char *kindName(plan::Collective::Kind kind);

} // namespace cleave::artifact
