#include "libdag/base/ids.hpp"

namespace dag {

std::string to_string(JobId id) { return "job" + std::to_string(id.value); }

std::string to_string(TaskId id) {
  const std::string index = std::to_string(id.index);
  return id.origin == 0 ? index : "s" + std::to_string(id.origin - 1) + "/" + index;
}

std::string to_string(ProcessId id) { return "n" + std::to_string(id.value); }

std::string to_string(Life life) {
  return to_string(life.process) + "." + std::to_string(life.incarnation.value);
}

std::string to_string(Epoch epoch) { return std::to_string(epoch.term) + "." + std::to_string(epoch.count); }

std::string to_string(AttemptId id) { return "#" + to_string(id.epoch) + "." + std::to_string(id.number); }

}  // namespace dag
