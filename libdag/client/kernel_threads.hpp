#pragma once
// How many threads libraries may start in a kernel. There is a lane per core: a library that starts a thread
// per core in each of them slows all down. A number that the user sets stays.

#include <string>
#include <vector>

namespace dag::detail {

/// Yields NAME=1 for each variable to set. `is_set(name)`: the user has set it. OpenBLAS, MKL and others
/// follow OMP_NUM_THREADS unless their own variable is set: if the user set it, it holds for them.
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
