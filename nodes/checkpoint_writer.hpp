#pragma once
// Brings the saves of job actors to the disk, behind the node: actors hand over copies that are in memory
// anyway, and a thread that may block puts those of a save group together and writes them. What it could not
// write is said in the log; no job waits for it or fails of it.
//
// DIRECTORY/LIFE-JOB/group-G/save-N (checkpoint_files.hpp), the two newest saves of each group. The files of
// a job go when it has ended well. Those of one that failed, or whose node died, stay until somebody deletes
// them: nothing reads them yet but the next start of the node, which says what is there and whether it is
// intact.

#include <condition_variable>
#include <filesystem>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <thread>

#include "libdag/base/ids.hpp"
#include "libdag/home/runner.hpp"
#include "nodes/checkpoint_files.hpp"

namespace dag {

enum class LogLevel : std::uint8_t { info, warn };

class CheckpointWriter {
 public:
  using Log = std::function<void(LogLevel level, const std::string& line)>;

  /// `self` sets the jobs of this start apart from those of earlier ones, which had the same numbers.
  CheckpointWriter(std::filesystem::path directory, Life self, Log log, Files& files = files_of_host());
  /// Writes what waits.
  ~CheckpointWriter();
  CheckpointWriter(const CheckpointWriter&) = delete;
  CheckpointWriter& operator=(const CheckpointWriter&) = delete;

  /// From any thread; does not block.
  void keep(const JobPlan& plan, KeepSave save);
  void job_ended(JobId job, bool well);

  /// Saves of one group whose copies come; of more than these the oldest is given up.
  static constexpr std::size_t unfinished_max = 4;

 private:
  using Names = std::vector<OutputName>;
  struct Whole {
    Checkpoint checkpoint;
    Names names;
  };
  struct Group {
    /// By number and job actor: saves of which not all copies are here.
    std::map<std::uint32_t, std::map<std::uint32_t, std::pair<OutputName, Checkpoint::Chunk>>> unfinished;
    /// All are here. A newer one takes the place of one that the disk was too slow for.
    std::optional<Whole> waiting;
    std::map<std::uint32_t, Names> written;  ///< the two newest
  };
  struct Job {
    std::map<std::uint32_t, Group> groups;
    std::optional<bool> ended;
  };

  void run();
  void say_what_is_there() const;
  bool work_once(std::unique_lock<std::mutex>& lock);
  void write(std::unique_lock<std::mutex>& lock, JobId id, std::uint32_t number, Whole whole);
  std::filesystem::path place_of(JobId job) const;

  const std::filesystem::path directory_;
  const Life self_;
  const Log log_;
  Files& files_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::map<JobId, Job> jobs_;
  std::set<JobId> over_;
  bool stopping_ = false;
  std::thread thread_;  ///< last: it uses all of the above
};

}  // namespace dag
