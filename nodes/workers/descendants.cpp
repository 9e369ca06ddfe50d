#include "nodes/workers/descendants.hpp"

#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

namespace dag {
namespace {

std::string threads_of(pid_t process) { return "/proc/" + std::to_string(process) + "/task"; }

std::vector<pid_t> children_of(const std::string& thread) {
  std::ifstream file(thread + "/children");
  if (!file) return {0};  // A Linux that does not say: there may be any.
  return {std::istream_iterator<pid_t>(file), {}};
}

/// The orphans of the process itself, if it is a warden, which has one thread.
std::vector<pid_t> orphans_beside(pid_t process, pid_t warden) {
  std::vector<pid_t> orphans = children_of(threads_of(warden) + "/" + std::to_string(warden));
  std::erase(orphans, process);
  return orphans;
}

template <class Which>
bool any_thread(pid_t process, Which&& which) {
  std::error_code failed;
  for (std::filesystem::directory_iterator one(threads_of(process), failed), end; !failed && one != end;
       one.increment(failed)) {
    if (which(one->path().string())) return true;
  }
  return static_cast<bool>(failed);
}

std::string name_of(const std::string& thread) {
  std::ifstream file(thread + "/comm");
  std::string name;
  std::getline(file, name);
  return name;
}

/// True: the process exists and has not ended (a zombie has).
bool runs(pid_t process) {
  std::ifstream file("/proc/" + std::to_string(process) + "/stat");
  std::string line;
  std::getline(file, line, '\0');
  const std::size_t after_name = line.rfind(')');  // The name may hold anything.
  return after_name != std::string::npos && line[after_name + 2] != 'Z';
}

bool any_runs(const std::vector<pid_t>& processes) {
  return std::any_of(processes.begin(), processes.end(), [](pid_t one) { return one == 0 || runs(one); });
}

}  // namespace

bool has_descendants(pid_t warden, pid_t process) {
  return !orphans_beside(process, warden).empty() ||
         any_thread(process, [](const std::string& thread) { return !children_of(thread).empty(); });
}

bool may_have_left_processes(std::string_view lanes) {
  const std::string own = threads_of(getpid()) + "/" + std::to_string(gettid());
  return any_runs(orphans_beside(getpid(), getppid())) ||
         any_thread(getpid(), [&](const std::string& thread) {
           const bool of_other_kernel = thread != own && name_of(thread).starts_with(lanes);
           return !of_other_kernel && any_runs(children_of(thread));
         });
}

}  // namespace dag
