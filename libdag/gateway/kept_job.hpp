#pragma once
// What a gateway keeps of one job: who asks for what, which processes it has, what it has left. Decides
// nothing (gateway.hpp).

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "libdag/base/time.hpp"
#include "libdag/keeper/messages.hpp"
#include "libdag/supervision/restart.hpp"

namespace dag {

struct KeptJob {
  struct Worker {
    enum class Phase : std::uint8_t { starting, up, refused, down } phase = Phase::starting;
    Life node;
    std::uint32_t number = 0;
    Life life;
    Endpoint endpoint;
    std::uint32_t pid = 0;
    std::string end;
    bool retired = false;  ///< its host was told that it is to end
    bool replaced =
        true;  ///< when it ends and the job needs processes: not one of before the job was at rest
  };
  struct Cancelling {
    Life client;
    std::uint64_t number = 0;
    Instant until;
  };
  /// Processes of one job that may crash, with no task running, before it is given up. Where one runs its
  /// tries are the limit (supervision/blame).
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
  bool detached = false;    ///< what it leaves stays for a while, whether it has a client or not
  std::optional<Instant> kept_until;
  /// To be told that it is accepted.
  std::optional<std::pair<Life, std::uint64_t>> submitter;
  bool refused = false;  ///< nothing is to come of it
  bool recorded = false;
  bool cancelled = false;  ///< its record has that, or it has no copies
  /// Who is to be told so.
  std::vector<Cancelling> cancelling;
  bool leads = true;
  std::uint32_t term = 0;
  std::optional<ProcessId> leader;
  std::vector<ProcessId> copies;
  std::optional<Instant> without_majority;
  std::optional<Instant> client_until;  ///< one may come until then
  JobPhase phase = JobPhase::starting;
  bool begun = false;
  bool closed = false;
  bool record_gone = false;  ///< this node has no copy of it any more
  Instant accepted;
  Instant ended;
  std::vector<Worker> workers;
  /// Where processes may be that this node had started when it led: to be told that another one leads, or
  /// that the job has ended.
  std::set<Life> had_started_at;
  /// Processes it ran in when this node came to lead it, of which hosts may not have told yet.
  std::vector<Life> earlier;
  std::map<ProcessId, std::uint32_t> numbers;
  std::set<std::uint32_t> wanted;  ///< outputs, before it began
  /// Outputs that the cell was asked for and has not told, and who is to be told.
  std::map<std::uint32_t, std::set<Life>> asked;
  /// What the cell told, for whoever asks (again) when the job is at rest.
  std::map<std::uint32_t, client::TaskSettled> results;
  std::set<std::uint32_t> spilling;      ///< results on their way to the disk
  std::set<std::uint32_t> spilled;       ///< of `results`: their output is on the disk
  std::vector<std::uint32_t> unread;     ///< GatewayMachine::on_unread
  std::vector<std::uint32_t> to_gather;  ///< results that were not asked for yet
  std::optional<Instant> rest_at;        ///< until then its client may ask for outputs that tasks have read
  bool to_be_forgotten = false;          ///< in its turn: it has ended, and nobody follows it
  bool gathers = false;                  ///< it has ended, and rests when nothing is asked for any more
  bool at_rest = false;                  ///< and needs no processes
  RestartBudget budget{crashes};
  std::map<Life, std::map<Life, Instant>> unheard;  ///< by who says so: whom, and since when
  std::map<Life, Instant> again_at;                 ///< nodes that get another process then
  /// It was cancelled: processes whose kernels may have last words. Its followers hear of the end when none
  /// has, or then.
  std::set<Life> speaking;
  Instant told_at, ask_speaking_at;
  JobCounts counts;
  std::optional<JobDetails> details;                              ///< the newest that was heard of
  std::map<std::pair<Life, std::string>, TaskProgress> progress;  ///< by process and lane
  std::map<TaskId, std::uint32_t> crashes_told;                   ///< the newest that was told of each task
  std::uint64_t total = 0;                                        ///< JobInfo::total
  std::optional<Error> error;
  std::vector<std::pair<Life, std::uint64_t>> waiting;  ///< questions for its end
  bool over() const { return phase > JobPhase::running; }
  /// A client may ask for its outputs, or be on its way.
  bool is_followed() const { return client || client_until || !attached.empty(); }
  /// One that is not up yet counts: it has room.
  bool has_process() const;
  /// Neither nodes that come and go change it nor time, before `until()`.
  bool may_sleep() const;
  std::optional<Instant> until() const;
};

}  // namespace dag
