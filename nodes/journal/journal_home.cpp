#include "nodes/journal/journal_home.hpp"

#include <fcntl.h>
#include <sys/file.h>

#include <cerrno>
#include <cstring>
#include <filesystem>

namespace dag {

Result<JournalHome> JournalHome::open(const std::string& state_directory, Files& files) {
  std::string directory = state_directory + "/journal";
  std::error_code none;
  const auto cannot = [&](const std::string& why) {
    return Error{ErrorCode::configuration_invalid, "there is no journal in " + directory + ": " + why,
                 "set state_dir to a directory of this node's own, or data"};
  };
  // A data directory, too: its files are not ours to remove.
  if (std::filesystem::exists(state_directory + "/node", none))
    return cannot("it is the journal of a data directory");
  if (!files.make_directories(directory)) return cannot(strerror(errno));
  OwnedFile lock(::open((directory + "/lock").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
  if (!lock) return cannot(strerror(errno));
  if (flock(lock.number(), LOCK_EX | LOCK_NB) != 0) return cannot("another node has it");
  for (const auto& entry : std::filesystem::directory_iterator(directory, none)) {
    const std::string name = entry.path().filename().string();
    if (name != "lock") files.remove(entry.path().string());
  }
  return JournalHome(std::move(directory), std::move(lock));
}

}  // namespace dag
