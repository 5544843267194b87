// The start of libsodium, which its functions ask for before their first call.
#pragma once

namespace cleave {

// Initialises libsodium, once per process and from any thread: random numbers, and the instructions
// that the processor has. Ends the process with a message if the system has no random numbers.
void startSodium();

} // namespace cleave
