#pragma once
// Brings saves of job actors and of running tasks to the disk, without holding up the node, and back when the
// job is led here after a start. Actors hand over copies that are in memory anyway, and a thread that may
// block puts the saves of a save group together and writes them. A failed write is said in the log; no job
// waits for it or fails because of it.
//
// DIRECTORY/LIFE-JOB/group-G/save-N and DIRECTORY/LIFE-JOB/task-T/save-N (checkpoint_files.hpp), the two
// newest saves of each. LIFE is that of the start in which the job came here; a later start goes on there.
// The files of a job go when it has ended well, or when nobody needs this node's copy of its record any more.
// The files of a job that failed where it was led stay until a person deletes them; the next start says what
// is there and whether it is intact.

#include <condition_variable>
#include <filesystem>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "actors/ports.hpp"
#include "libdag/base/ids.hpp"
#include "libdag/keeper/messages.hpp"
#include "nodes/disk/checkpoint_files.hpp"

namespace dag {

enum class LogLevel : std::uint8_t { info, warn };

class CheckpointStore final : public SaveStore {
 public:
  using Log = std::function<void(LogLevel level, const std::string& line)>;

  /// `open`: jobs of earlier starts that go on.
  CheckpointStore(std::filesystem::path directory, Life self, std::set<JobId> open, Log log,
                  Files& files = files_of_host());
  /// Writes the waiting saves.
  ~CheckpointStore() override;
  CheckpointStore(const CheckpointStore&) = delete;
  CheckpointStore& operator=(const CheckpointStore&) = delete;

  /// From any thread, as all of these; does not block.
  void keep(keeper::SaveCopy copy) override;
  void job_ended(JobId job, bool well);
  void forget(JobId job) override { job_ended(job, true); }
  /// `found` is called on the thread here; damaged saves are left out.
  bool read(JobId job, const std::string& job_name,
            std::function<void(std::vector<KeepSave>)> found) override;

  /// Incomplete saves of one group; of more than these the oldest is given up.
  static constexpr std::size_t unfinished_max = 4;

 private:
  using Names = std::vector<OutputName>;
  struct Group {
    /// By number and job actor: saves of which not all copies are here.
    std::map<std::uint32_t, std::map<std::uint32_t, Checkpoint::Chunk>> unfinished;
    /// A complete save. A newer one replaces it when the disk is too slow.
    std::optional<Checkpoint> waiting;
    std::map<std::uint32_t, Names> written;  ///< the two newest
  };
  struct Job {
    std::map<std::string, Group> groups;  ///< by the name of their directory
    std::string served;                   ///< the group that was written last
    std::optional<bool> ended;
  };
  struct Read {
    JobId job;
    std::string line;  ///< as Checkpoint::job
    std::function<void(std::vector<KeepSave>)> done;
  };

  void run();
  void say_what_is_there() const;
  bool work_once(std::unique_lock<std::mutex>& lock);
  void write(std::unique_lock<std::mutex>& lock, JobId id, const std::string& group, Checkpoint checkpoint);
  void bring_back(std::unique_lock<std::mutex>& lock, const Read& read);
  void forget(std::unique_lock<std::mutex>& lock, JobId id, bool well);
  std::filesystem::path place_now(JobId job) const;
  const std::filesystem::path& place_of(JobId job, const std::string& line);

  const std::filesystem::path directory_;
  const Life self_;
  const std::set<JobId> open_;
  /// Where earlier starts left saves of open jobs: the newest such place.
  std::map<JobId, std::filesystem::path> earlier_;
  std::map<JobId, std::filesystem::path> places_;  ///< looked up; the thread's alone
  const Log log_;
  Files& files_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::map<JobId, Job> jobs_;
  JobId served_;  ///< the job that the thread served last
  std::vector<Read> reads_;
  std::set<JobId> over_;
  bool stopping_ = false;
  std::thread thread_;  ///< last: it uses all of the above
};

}  // namespace dag
