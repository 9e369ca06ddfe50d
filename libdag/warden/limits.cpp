#include "libdag/warden/limits.hpp"

#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <charconv>
#include <filesystem>
#include <fstream>
#include <optional>

namespace dag {
namespace {

namespace fs = std::filesystem;

/// A number alone in a file; nothing when there is none, as in `max`.
std::optional<std::uint64_t> number_in(const fs::path& path) {
  std::ifstream file(path);
  std::uint64_t value = 0;
  return file >> value ? std::optional(value) : std::nullopt;
}

/// Threads of all processes of this user.
std::uint64_t threads_of_user() {
  std::uint64_t threads = 0;
  std::error_code gone;
  for (fs::directory_iterator one("/proc", gone), end; !gone && one != end; one.increment(gone)) {
    const std::string name = one->path().filename();
    struct stat about {};
    if (name.front() < '0' || name.front() > '9' || stat(one->path().c_str(), &about) != 0) continue;
    if (about.st_uid != geteuid()) continue;
    // NUMBER (NAME) STATE and 16 more before the number of threads; the name may have any character.
    std::ifstream file(one->path() / "stat");
    std::string line;
    std::getline(file, line, '\0');
    std::size_t at = line.rfind(')');
    for (int field = 0; field < 18 && at != std::string::npos; ++field) at = line.find(' ', at + 1);
    if (at == std::string::npos) continue;
    std::uint64_t count = 0;
    std::from_chars(line.data() + at + 1, line.data() + line.size(), count);
    threads += count;
  }
  return threads;
}

}  // namespace

std::uint64_t files_limit() {
  rlimit files{};
  if (getrlimit(RLIMIT_NOFILE, &files) != 0 || files.rlim_cur == RLIM_INFINITY) return 0;
  return files.rlim_cur;
}

std::vector<ProcessLimit> process_limits() {
  std::vector<ProcessLimit> limits;
  rlimit processes{};
  const bool is_limited =
      geteuid() != 0 && getrlimit(RLIMIT_NPROC, &processes) == 0 && processes.rlim_cur != RLIM_INFINITY;
  if (is_limited) limits.push_back({"processes (ulimit -u)", processes.rlim_cur, threads_of_user()});
  std::ifstream of_self("/proc/self/cgroup");
  for (std::string line; std::getline(of_self, line);) {
    if (!line.starts_with("0::")) continue;
    for (fs::path group = line.substr(3);; group = group.parent_path()) {
      const fs::path directory = fs::path("/sys/fs/cgroup") / group.relative_path();
      if (const auto limit = number_in(directory / "pids.max")) {
        limits.push_back({"processes (pids.max of " + group.string() + ")", *limit,
                          number_in(directory / "pids.current").value_or(0)});
      }
      if (group == group.parent_path()) break;
    }
  }
  return limits;
}

}  // namespace dag
