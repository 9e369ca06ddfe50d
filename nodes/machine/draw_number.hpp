#pragma once
// Draws a random number that nobody can guess: for nonces, secrets and seeds that must differ from process to
// process.

#include <cstdint>
#include <random>

namespace dag {

inline std::uint64_t draw_number() {
  std::random_device device;
  return std::uint64_t{device()} << 32 | device();
}

}  // namespace dag
