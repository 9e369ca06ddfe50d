#pragma once
// How many threads libraries may start in a kernel. Lanes are one thread per core: a library that starts its
// own in each of them would only be in the way. Whoever sets a number means it.

#include <string>
#include <vector>

namespace dag::detail {

/// NAME=1 for what is to be set. `is_set(name)`: the user has set it. OpenBLAS, MKL and others go by
/// OMP_NUM_THREADS where nothing else is said: who has set that has said it for them, too.
template <class IsSet>
std::vector<std::string> one_thread_each(IsSet is_set) {
  std::vector<std::string> variables;
  if (is_set("OMP_NUM_THREADS")) return variables;
  for (const char* name : {"OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"}) {
    if (!is_set(name)) variables.push_back(std::string(name) + "=1");
  }
  return variables;
}

}  // namespace dag::detail
