#include "libdag/client/state_dir.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>

namespace dag::detail {

std::string state_dir_default() {
  const char* runtime = std::getenv("XDG_RUNTIME_DIR");
  struct stat status {};
  if (runtime != nullptr && *runtime == '/' && stat(runtime, &status) == 0 && S_ISDIR(status.st_mode)) {
    return std::string(runtime) + "/dag";
  }
  return "/tmp/dag-" + std::to_string(getuid());
}

/// Any user with write access above the directory could put a link in its place.
static std::string why_not_below(const std::filesystem::path& above) {
  struct stat status {};
  if (lstat(above.c_str(), &status) != 0) return {};  // The next call reports why.
  const bool ours = status.st_uid == geteuid() || status.st_uid == 0;
  if (!ours) return "lies below " + above.string() + ", which belongs to another user";
  const bool others_write = (status.st_mode & S_IWOTH) != 0 && (status.st_mode & S_ISVTX) == 0;
  if (S_ISDIR(status.st_mode) && others_write)
    return "lies below " + above.string() + ", which may be written by others";
  return {};
}

Status make_state_dir(const std::string& path) {
  const auto refuse = [&path](std::string why) {
    return Error{ErrorCode::configuration_invalid, "the state directory " + path + " " + std::move(why),
                 "name another one: --state-dir, DAG_STATE_DIR or state_dir in dag.toml"};
  };
  std::error_code problem;
  const std::filesystem::path above = std::filesystem::path(path).parent_path();
  if (!above.empty()) std::filesystem::create_directories(above, problem);
  if (std::string why = why_not_below(above); !why.empty()) return refuse(std::move(why));
  if (mkdir(path.c_str(), 0700) != 0 && errno != EEXIST) {
    return refuse(std::string("cannot be made: ") + strerror(errno));
  }
  struct stat status {};
  if (lstat(path.c_str(), &status) != 0) return refuse(std::string("cannot be read: ") + strerror(errno));
  if (!S_ISDIR(status.st_mode)) return refuse("is not a directory");
  if (status.st_uid != geteuid()) return refuse("belongs to another user");
  if ((status.st_mode & (S_IWGRP | S_IWOTH)) != 0) return refuse("may be written by others");
  return Done{};
}

}  // namespace dag::detail
