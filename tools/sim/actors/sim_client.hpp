#pragma once
// A client with one job, as nodes/client/remote_client and nodes/client/node_links speak to nodes, without
// their threads: it submits, wants all that comes of the job, and follows it from one node that leads it to
// the next.
//
//   asks for a handle --> submits --> follows --told all--> done
//        |                   |           |--JobMoved, node lost--> searches --a node follows--> follows
//        |  (node lost: the next one)    |--JobLost------------------|--given up--> lost
//
// An accepted job must end well. Any other may be lost. The client may cancel its job: it asks the job's
// leader until it is told that this is done.

#include <memory>
#include <optional>
#include <set>

#include "libdag/client/leader_search.hpp"
#include "tools/sim/actors/ledger.hpp"
#include "tools/sim/actors/sim_process.hpp"

namespace dag::sim {

struct SimClientOptions {
  std::vector<std::string> nodes;  ///< addresses
  bool supervise_all = false;
  std::optional<Duration> cancels_after = std::nullopt;  ///< since it begins
  /// Called when node `by` has told the client that the job is cancelled.
  std::function<void(JobId job, Life by)> cancelled = {};
};

class SimClient {
 public:
  SimClient(SimWorld world, SimClientOptions options, std::uint16_t number, Program& program);
  ~SimClient();

  void begin();
  /// Nothing is to come any more.
  bool done() const { return phase_ == Phase::done; }
  /// To be called when it is done. Throws Violation if it did not hear the expected ends of its job.
  void check() const;
  std::string state() const;
  std::optional<JobId> job() const { return job_; }

 private:
  class OnTransport;
  enum class Phase : std::uint8_t { handle, submitting, following, searching, done };
  struct Link;

  /// The connection to the listener there; null when there is none.
  Link* open(const std::string& address);
  void hear(Link& link, const ClientMessage& message);
  void on_answer(Link& link, const client::Answer& answer);
  void on_settled(const client::TaskSettled& settled);
  void lose(Link& link);
  /// Sends a question that is waited for, at one node at a time.
  template <class Question>
  void ask(Link& link, Question question);

  void look_for_handle();
  void submit(Link& link);
  void search(const Error& why);
  void search_on();
  void finish(std::optional<Error> lost);
  void finish_if_told_all();
  void follow(Link& link);
  void cancel();
  void on_cancelled(Life by);
  /// Asks for the list of nodes, to notice a node that is silent.
  void inquire();
  void after(Duration pause, std::function<void()> what);
  std::vector<std::uint32_t> still_wanted() const;
  bool is_read(std::uint32_t task) const;

  SimWorld world_;
  const SimClientOptions options_;
  const std::uint16_t number_;
  Program& program_;
  const std::uint64_t key_;
  const std::shared_ptr<const detail::Fragment> graph_;
  Phase phase_ = Phase::handle;
  std::vector<std::unique_ptr<Link>> links_;  ///< lost ones, too
  Link* at_ = nullptr;                        ///< the node that leads the job
  Link* asked_ = nullptr;                     ///< whose answer is waited for
  std::uint64_t questions_ = 0, awaited_ = 0;
  std::uint32_t tries_ = 0;
  bool accepted_ = false, moved_ = false;
  bool cancels_ = false, cancelled_ = false;  ///< it wants that; it was told so
  std::uint64_t cancel_asked_ = 0;            ///< the question
  std::optional<JobId> job_;
  std::optional<detail::LeaderSearch> search_;
  std::optional<JobCounts> ended_;
  std::map<std::uint32_t, client::TaskSettled> settled_;
  std::optional<Error> lost_;
  const std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace dag::sim
