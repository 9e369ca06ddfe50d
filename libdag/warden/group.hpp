#pragma once
// The control group (version 2) of all that a warden starts. The kernel kills whatever is in it at once, with
// what is being forked meanwhile, whoever its user is. Throws nothing, and needs no C++ runtime: a part of
// the warden's program.

#include <limits.h>
#include <sys/types.h>

namespace dag::warden_detail {

/// Between two looks at what is left.
constexpr long look_every_ns = 5'000'000;
/// What does not end (it may not be signalled, or its disk hangs) is left after this many looks.
constexpr int looks_in_vain_max = 400;

class Group {
 public:
  enum class As { made, found };

  /// The group of the warden `pid`: its directory is PREFIX and that number. Where it cannot be made or
  /// found, or has no cgroup.kill (Linux before 5.14), there is none, and all the rest does without.
  Group(const char* prefix, pid_t pid, As as);
  ~Group();
  Group(const Group&) = delete;
  Group& operator=(const Group&) = delete;
  bool exists() const { return kill_ >= 0; }

  /// As fork(); the child is in the group. A group that takes no process is removed.
  pid_t fork_into();
  /// All that is in it, and in groups below it.
  void kill() const;
  /// With the groups below it. False: something is in it.
  bool remove();

 private:
  void let_go();

  char path_[PATH_MAX];
  int kill_ = -1;  // Its cgroup.kill, open.
};

}  // namespace dag::warden_detail
