#pragma once
// The program of main.cpp and run.cpp, as bytes: it lies in libdag, so it is there wherever libdag is.

#include <cstddef>
#include <span>

namespace dag::warden_detail {

std::span<const std::byte> image();

}  // namespace dag::warden_detail
