#include "nodes/workers/frozen.hpp"

#include <fstream>
#include <iterator>
#include <string>

namespace dag {

std::string_view FrozenWatch::look(std::uint64_t beats, const std::function<ThreadState()>& state,
                                   Instant now) {
  const bool was_late = !looked_ || now - *looked_ > 2 * look_every;
  looked_ = now;
  if (beats == 0 || beats != beats_ || was_late) {
    beats_ = beats;
    since_ = now;
    return {};
  }
  if (now - since_ < frozen_after) return {};
  switch (state()) {
    case 'T':
    case 't':
      return "it was stopped by a signal or a debugger";
    case 'S':
      return "it stood still: code of the job waits for a lock that its process never releases";
    default:
      return {};
  }
}

/// The name of the thread lies between the last brackets, whatever it is.
ThreadState state_of_thread(std::uint32_t process, std::uint32_t thread) {
  std::ifstream file("/proc/" + std::to_string(process) + "/task/" + std::to_string(thread) + "/stat");
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  const auto end = text.rfind(") ");
  return end == std::string::npos || end + 2 >= text.size() ? ThreadState{} : text[end + 2];
}

}  // namespace dag
