#pragma once
// Tells two builds of a program apart: the linker's build ids of the modules that hold kernels.

#include <string>

namespace dag {

/// The build of the program and, where it is another file, of libdag.so: kernels' code is named by its place
/// in one of these (libdag/wire), so processes that exchange such names must agree in both. A program without
/// a build id is named by a checksum of its file.
std::string build_of_this_process();

}  // namespace dag
