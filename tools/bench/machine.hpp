#pragma once
// The machine beside the numbers: without it they mean nothing.

#include <string>

namespace dag::bench {

struct Machine {
  std::string cpu;
  int cores = 0;         ///< this process may use
  std::string kernel;    ///< of the operating system
  std::string governor;  ///< of the first core's clock; empty where the system does not say
  double load = 0;       ///< over the last minute, at the start
  double memory_gib = 0;
  std::string compiler;

  /// Other programs computed before we began, and will be in the figures.
  bool busy() const { return load > 0.3 * cores; }
};

Machine this_machine();

}  // namespace dag::bench
