#include "libdag/warden/group.hpp"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/sched.h>
#include <signal.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace dag::warden_detail {
namespace {

/// Its files go with a directory of a group, and groups below it only first.
bool remove_at(int above, const char* name) {
  const auto is_gone = [&] { return unlinkat(above, name, AT_REMOVEDIR) == 0 || errno == ENOENT; };
  if (is_gone()) return true;
  if (errno != EBUSY) return false;
  const int here = openat(above, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  DIR* const entries = here < 0 ? nullptr : fdopendir(here);
  if (entries == nullptr) return false;
  bool any = false;
  while (const dirent* entry = readdir(entries)) {
    if (entry->d_type == DT_DIR && entry->d_name[0] != '.') any = remove_at(here, entry->d_name) || any;
  }
  closedir(entries);
  return any && is_gone();
}

}  // namespace

Group::Group(const char* prefix, pid_t pid, As as) {
  const int length = snprintf(path_, sizeof path_, "%s%d", prefix, pid);
  if (prefix[0] == '\0' || length >= static_cast<int>(sizeof path_)) return;
  if (as == As::made && mkdir(path_, 0755) != 0) return;
  const int directory = open(path_, O_PATH | O_DIRECTORY | O_CLOEXEC);
  if (directory < 0) return;
  kill_ = openat(directory, "cgroup.kill", O_WRONLY | O_CLOEXEC);
  close(directory);
  if (kill_ < 0 && as == As::made) rmdir(path_);
}

Group::~Group() { let_go(); }

void Group::let_go() {
  if (kill_ >= 0) close(kill_);
  kill_ = -1;
}

pid_t Group::fork_into() {
  const int directory = exists() ? open(path_, O_PATH | O_DIRECTORY | O_CLOEXEC) : -1;
  if (directory >= 0) {
    // A process that is moved later has to wait for every processor (synchronize_rcu), for milliseconds.
    clone_args how{};
    how.flags = CLONE_INTO_CGROUP;
    how.exit_signal = SIGCHLD;
    how.cgroup = static_cast<unsigned>(directory);
    const auto child = static_cast<pid_t>(syscall(SYS_clone3, &how, sizeof how));
    close(directory);
    if (child >= 0) return child;
    remove();
  }
  return fork();
}

void Group::kill() const {
  if (exists()) static_cast<void>(!write(kill_, "1", 1));
}

bool Group::remove() {
  if (exists() && !remove_at(AT_FDCWD, path_)) return false;
  let_go();
  return true;
}

}  // namespace dag::warden_detail
