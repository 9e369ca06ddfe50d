#include "libdag/job/explained.hpp"

#include <algorithm>

namespace dag {

bool TaskSelector::takes(TaskId task, const std::string& its_name) const {
  if (takes_all()) return true;
  if (!name.empty() && its_name == name) return true;
  if (range && range->holds(task) && (range->name.empty() || its_name == range->name)) return true;
  return std::find(tasks.begin(), tasks.end(), task) != tasks.end();
}

}  // namespace dag
