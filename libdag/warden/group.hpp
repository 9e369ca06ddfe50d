#pragma once
// The control group (version 2) of all processes that a warden starts. The kernel kills all of it at once,
// including processes that are being forked, and those of other users. Throws nothing, and needs no C++
// runtime: a part of the warden's program.

#include <limits.h>
#include <sys/types.h>

namespace dag::warden_detail {

/// Pause between two looks at the remaining processes.
constexpr long look_every_ns = 5'000'000;
/// Processes that do not end (they may not be signalled, or their disk hangs) are left after this many looks.
constexpr int looks_in_vain_max = 400;

class Group {
 public:
  enum class As { made, found };

  /// The group of the warden `pid`: its directory is PREFIX and that number. If it cannot be made or found,
  /// or has no cgroup.kill (Linux before 5.14), the other functions do without.
  Group(const char* prefix, pid_t pid, As as);
  ~Group();
  Group(const Group&) = delete;
  Group& operator=(const Group&) = delete;
  bool exists() const { return kill_ >= 0; }

  /// As fork(); the child is in the group. A group that takes no process is removed.
  pid_t fork_into();
  /// Kills all processes in it, and in groups below it.
  void kill() const;
  /// Removes it with the groups below it. False: a process is in it.
  bool remove();

 private:
  void let_go();

  char path_[PATH_MAX];
  int kill_ = -1;  // Its cgroup.kill, open.
};

}  // namespace dag::warden_detail
