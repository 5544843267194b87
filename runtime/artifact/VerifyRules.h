// The functions of the verifier's rules (Verify.h), and the names of places in a plan in their
// messages. Private to this folder.
#pragma once

#include "runtime/artifact/program.pb.h"
#include "runtime/base/Status.h"

#include <string>

namespace cleave::artifact {

// One program of a plan and the first rank that runs it.
struct ProgramView {
  const plan::Plan &plan;
  const plan::Program &program;
  uint32_t rank;

  // `rank 1, buffer 'w1'`
  std::string buffer(uint32_t index) const;
  // `rank 1, segment 'micro', instruction 7 (matmul 'mlp.fc1')`
  std::string instruction(int segment, int index) const;
};

// Mesh, program table, tensors. The other rules rely on it.
Status verifyStructure(const plan::Plan &plan);
// Buffers and arenas of one program.
Status verifyPlacement(const ProgramView &view);
// Every instruction by itself. Needs verifyPlacement.
Status verifyInstructions(const ProgramView &view);
// One step's schedule in order. Needs verifyInstructions.
Status verifyDataflow(const ProgramView &view);
// All ranks together. Needs verifyInstructions on all programs.
Status verifyCommunication(const plan::Plan &plan);

} // namespace cleave::artifact
