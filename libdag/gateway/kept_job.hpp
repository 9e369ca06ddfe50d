#pragma once
// A gateway's data of one job: its clients and questions, its processes, its results. Decides nothing
// (gateway.hpp).
//
//   Following --lead--> Leading (starting --> running) --end--> Over (stays --> gathers --> rests --> closed)
//      ^                  |
//      +------follow------+      a job that is over stays over, whichever node leads it

#include <map>
#include <optional>
#include <set>
#include <string>
#include <variant>
#include <vector>

#include "libdag/base/time.hpp"
#include "libdag/keeper/messages.hpp"
#include "libdag/supervision/restart.hpp"

namespace dag {

namespace kept {

/// Another node leads the job, or none does yet.
struct Following {
  bool begun = false;    ///< it was running when this node led it last
  bool refused = false;  ///< its submitter was told no: it will not start
};

/// State of a job that this node leads.
struct Leading {
  enum class Stage : std::uint8_t { starting, running } stage = Stage::starting;
};

/// The job has ended.
struct Over {
  /// `stays`: its processes keep its outputs. `gathers`: all results are fetched from them. `rests`: it
  /// needs no processes. `closed`: nobody may ask for anything of it.
  enum class Stage : std::uint8_t { stays, gathers, rests, closed } stage = Stage::stays;
  JobPhase how = JobPhase::finished;
  Instant at;
  bool begun = false;                    ///< before it ended
  bool leads = true;                     ///< if not, another node has its results
  bool record_gone = false;              ///< this node has no copy of it any more
  std::optional<Instant> rest_at;        ///< until then its client may ask for outputs that tasks have read
  std::vector<std::uint32_t> to_gather;  ///< results that were not asked for yet
  /// The job was cancelled: processes whose kernels may log last words. Followers hear of the end when none
  /// is left, or at a deadline.
  std::set<Life> speaking;
  Instant told_at, ask_speaking_at;
};

}  // namespace kept

struct KeptJob {
  struct Worker {
    enum class Phase : std::uint8_t { starting, up, refused, down } phase = Phase::starting;
    Life node;
    std::uint32_t number = 0;
    Life life;
    Endpoint endpoint;
    std::uint32_t pid = 0;
    std::string end;
    bool retired = false;  ///< its host was told to end it
    bool replaced =
        true;  ///< when it ends and the job needs processes: not one of before the job was at rest
  };
  struct Cancelling {
    Life client;
    std::uint64_t number = 0;
    Instant until;
  };
  using Following = kept::Following;
  using Leading = kept::Leading;
  using Over = kept::Over;
  /// Limit for crashes of a job's processes without a running task, before the job is given up. Crashes with
  /// a running task are limited by the task's tries (supervision/blame).
  static constexpr Intensity crashes{20, std::chrono::seconds(60)};

  std::string name;
  std::shared_ptr<const detail::Fragment> graph;
  Launch launch;
  std::uint64_t key = 0;
  JobId retries;                 ///< 0: no other job
  bool only_unfinished = false;  ///< of it
  Representation representation = Representation::as_needed;
  std::optional<Life> client;
  std::set<Life> attached;  ///< others that follow it
  bool detached = false;    ///< its results are kept for a while, with or without a client
  std::optional<Instant> kept_until;
  /// The client that waits for acceptance.
  std::optional<std::pair<Life, std::uint64_t>> submitter;
  bool recorded = false;
  bool cancelled = false;  ///< its record has the cancelling, or has no copies
  /// Questions to be answered when it is cancelled.
  std::vector<Cancelling> cancelling;
  std::variant<Leading, Following, Over> state;
  std::uint32_t term = 0;
  std::optional<ProcessId> leader;
  std::vector<ProcessId> copies;
  std::optional<Instant> without_majority;
  std::optional<Instant> client_until;  ///< a client may come until then
  Instant accepted;
  std::vector<Worker> workers;
  /// Nodes with processes that this node may have started when it led: they are told that another node leads,
  /// or that the job has ended.
  std::set<Life> had_started_at;
  /// Processes of the job when this node came to lead it; their hosts may not have reported yet.
  std::vector<Life> earlier;
  std::map<ProcessId, std::uint32_t> numbers;
  std::set<std::uint32_t> wanted;  ///< outputs, before it began
  /// Outputs that the cell was asked for and has not given, with the clients that wait for them.
  std::map<std::uint32_t, std::set<Life>> asked;
  /// The cell's answers, for repeated questions when the job is at rest.
  std::map<std::uint32_t, client::TaskSettled> results;
  std::set<std::uint32_t> spilling;   ///< results on their way to the disk
  std::set<std::uint32_t> spilled;    ///< of `results`: their output is on the disk
  std::vector<std::uint32_t> unread;  ///< GatewayMachine::on_unread
  bool to_be_forgotten = false;       ///< in its turn: it has ended, and nobody follows it
  RestartBudget budget{crashes};
  std::map<Life, std::map<Life, Instant>> unheard;  ///< by reporter: processes not heard, since when
  std::map<Life, Instant> again_at;                 ///< when nodes get another process
  JobCounts counts;
  std::optional<JobDetails> details;                              ///< the newest report
  std::map<std::pair<Life, std::string>, TaskProgress> progress;  ///< by process and lane
  std::map<TaskId, std::uint32_t> crashes_told;                   ///< the newest reported crash of each task
  std::uint64_t total = 0;                                        ///< JobInfo::total
  std::optional<Error> error;
  std::vector<std::pair<Life, std::uint64_t>> waiting;  ///< questions for its end

  // ---- The job's state
  bool leads() const;
  bool begun() const;
  bool over() const { return ended() != nullptr; }
  bool is_at_rest() const { return is_over_at(Over::Stage::rests); }
  bool is_closed() const { return is_over_at(Over::Stage::closed); }
  JobPhase phase() const;
  Instant last_moment(Instant now) const { return over() ? ended()->at : now; }
  /// Null: the job has not ended.
  Over* ended() { return std::get_if<Over>(&state); }
  const Over* ended() const { return std::get_if<Over>(&state); }
  Over& must_have_ended();
  /// Begins to lead the job.
  void lead(bool has_begun);
  /// Another node leads it.
  void follow();
  /// Begins to run the job. Only at its leader.
  void begin();
  /// The same.
  void end(JobPhase how, Instant now);

  /// True: a client may ask for outputs, or be on its way.
  bool is_followed() const { return client || client_until || !attached.empty(); }
  /// A process that is not up yet counts: it has its room.
  bool has_process() const;
  /// True: before `until()`, neither nodes that come and go nor time can change the job.
  bool may_sleep() const;
  std::optional<Instant> until() const;
  /// Throws Bug when a rule is broken. The rules hold between two events.
  void check_invariants() const;

 private:
  bool is_over_at(Over::Stage stage) const { return over() && ended()->stage == stage; }
  void check_followed() const;
  void check_ended(const Over& over) const;
  void check_workers() const;
  void check_results() const;
};

}  // namespace dag
