#pragma once
// The client of a shared cluster: a Session whose job runs in worker processes elsewhere.
//
// Each job is led by one node, at first the one where it was submitted. When that node is lost, or says that
// it does not lead the job any more (JobMoved), the client looks for the job at the other nodes. The new
// leader gets the list of wanted outputs (AskFollow) and sends news of the job. A settled task may be told
// twice; a JobState does not mind. The search ends when some node leads the job, or when it is given up
// (libdag/client/leader_search.hpp) and the job is lost. A cluster of one node has no other node to ask: the
// job is lost at once.
//
// A job that another client submitted is looked for in the same way.
//
//   at a node --node lost, JobMoved--> looked for --a node follows--> at that node
//                                          |------given up--------> lost
//
// A thread of its own asks and waits; it begins with the first job. Threads of transports only note work for
// it. User threads that submit or cancel meanwhile wait for its findings.

#include <condition_variable>
#include <thread>

#include "libdag/client/client.hpp"
#include "libdag/client/leader_search.hpp"
#include "libdag/client/node.hpp"
#include "nodes/client/node_links.hpp"

namespace dag {

class RemoteClient : public detail::Client {
 public:
  /// Throws Failure when no node answers at options.address. `limits`: how long it looks for a node that goes
  /// on with a job when the leader is gone.
  explicit RemoteClient(const NodeOptions& options, const detail::SearchLimits& limits = {});
  ~RemoteClient() override;

  Status submit(std::shared_ptr<const detail::Fragment> graph,
                std::shared_ptr<detail::JobState> state) override;
  Status possible(const std::shared_ptr<const detail::Fragment>& graph) override;
  void want(JobId job, std::uint32_t task) override;
  void attach(JobId job, std::shared_ptr<detail::JobState> state) override;
  std::map<std::uint32_t, std::string> outputs(JobId job, const std::string& name) override;
  void cancel(JobId job) override;
  void forget(JobId job) override;
  std::optional<std::map<Outcome, std::uint64_t>> counts(JobId job) override;
  void on_event(std::function<void(const JobEvent&)> handler) override;

 private:
  struct KnownJob {
    std::weak_ptr<detail::JobState> state;
    std::uint64_t key = 0;  ///< client::AskSubmit::key
    bool attached = false;  ///< another client submitted it
    bool found = false;     ///< some node has led it for us
    LinkId at;              ///< none while it is looked for
    std::optional<detail::LeaderSearch> search;
    Instant search_at;   ///< its next step
    LinkId asked;        ///< by the search, now
    bool moved = false;  ///< and that node has said JobMoved since
    std::set<std::uint32_t> wanted, settled;
    std::optional<Error> lost;
  };

  /// Asks the node that leads the job, also when the leader changes. Throws Failure.
  client::Answer ask_leader(JobId job, const GatewayLink::Question& question);

  // Threads of transports.
  void told(LinkId from, ClientMessage message);
  void note(wire::JobNote note);
  void on_lost(LinkId link, const Error& why);

  // With the lock held. A JobState must not end meanwhile: it would call forget().
  void look_for(KnownJob& job, Error why);
  KnownJob* find(JobId job);
  std::uint64_t key_of(JobId job);

  /// Where jobs are submitted; another node when that one is lost. Throws Failure when none is left.
  LinkId home();
  LinkId hand_out(JobId& job, const std::shared_ptr<detail::JobState>& state);
  /// Waits until some node leads the job. Throws why the job was lost.
  LinkId wait_for_leader(JobId job);

  // The thread.
  void begin_thread();
  void run();
  void step(std::unique_lock<std::mutex>& lock, JobId id);
  void ask(std::unique_lock<std::mutex>& lock, JobId id, const std::string& node);
  std::set<LinkId> links_used() const;

  const bool supervise_all_;
  const std::uint64_t session_;  ///< Launch::session; 0: of `dag submit`, which submits one job
  const detail::SearchLimits limits_;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool closing_ = false;
  LinkId home_;
  std::map<JobId, KnownJob> jobs_;
  std::mutex handler_mutex_;
  std::function<void(const JobEvent&)> handler_;
  Instant look_at_;  ///< when the nodes are asked for the node list next
  std::thread thread_;
  NodeLinks links_;  ///< last: its threads use the rest
};

}  // namespace dag
