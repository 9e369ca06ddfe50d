// The world of a node's actors and of its transport's thread: each port is a class of its own.

#include "libdag/host/silences.hpp"
#include "nodes/keeper/keeper.hpp"
#include "nodes/process/os_process.hpp"

namespace dag {
namespace {

/// The gateway's form of the note.
decltype(mail::Noted::what) told_by(const wire::JobNote& note) {
  using Kind = wire::JobNote::Kind;
  if (note.kind == Kind::over) return mail::Noted::Progress{note.device, std::nullopt};
  if (note.kind == Kind::crash) return mail::Noted::Crash{note.task, note.number};
  if (note.kind != Kind::progress) return std::monostate();
  // A NaN is no share of anything.
  const double fraction = note.fraction > 0 ? std::min(note.fraction, 1.0) : 0;
  return mail::Noted::Progress{
      note.device, TaskProgress{note.task, note.name, note.number, note.device, fraction, note.text}};
}

}  // namespace

// ---- The actors of jobs

class Keeper::ForNodeActor final : public OsProcess {
 public:
  explicit ForNodeActor(Keeper& node) : OsProcess(node.logger_), node_(node) {}

  void send(Life to, JobMessage message) override { node_.transport_->send(to, std::move(message)); }

 private:
  Keeper& node_;
};

std::unique_ptr<ProcessPort> Keeper::process_port() { return std::make_unique<ForNodeActor>(*this); }

class Keeper::ToReplicas final : public ReplicaTransport {
 public:
  explicit ToReplicas(Keeper& node) : node_(node) {}

  void send(Life to, consensus::Addressed message) override {
    node_.transport_->send(to, std::move(message));
  }
  void send(Life to, keeper::SaveCopy copy) override { node_.transport_->send(to, std::move(copy)); }

 private:
  Keeper& node_;
};

std::unique_ptr<ReplicaTransport> Keeper::replica_transport() { return std::make_unique<ToReplicas>(*this); }

// ---- The keeper's actor

class Keeper::ForKeeperActor final : public KeeperPorts {
 public:
  explicit ForKeeperActor(Keeper& node) : node_(node) {}

  Instant now() override { return steady_now(); }
  Duration since_1970() override { return Duration(std::chrono::seconds(time(nullptr))); }
  void send(Life to, ClientMessage message) override {
    if (to != web_client()) return node_.transport_->send(to, std::move(message));
    if (auto* answer = std::get_if<client::Answer>(&message); answer != nullptr && node_.web_)
      node_.web_->answered(std::move(*answer));
  }
  void send(Life to, KeeperMessage message) override { node_.transport_->send(to, std::move(message)); }
  void life_at(const LifeAt& at) override { node_.transport_->member_up(at.life, at.endpoint); }
  void forget(Life life) override { node_.transport_->forget(life); }

  void start_process(StartProcess order) override {
    ClusterId cluster;
    {
      const std::lock_guard lock(node_.mutex_);
      cluster = node_.cluster_;
    }
    node_.processes_->start(std::move(order), cluster);
  }
  void stop_process(Life life) override { node_.processes_->stop(life); }

  Status keep_program(ProgramId program, const Blob& bytes) override {
    Status put = node_.programs_.put(program, bytes);
    if (!put || !node_.data_) return put;
    // The program runs from memory. Only the next start misses it.
    if (const Status kept = node_.data_->keep(program, bytes); !kept)
      node_.logger_->warn("{}", kept.error().what);
    return put;
  }
  Blob program(ProgramId program) override { return node_.programs_.bytes(program); }
  void drop_program(ProgramId program) override {
    node_.logger_->info("a binary of {} bytes is dropped: the jobs that needed it are over",
                        program.size_bytes);
    node_.programs_.drop(program);
    if (node_.data_) node_.data_->drop(program);
  }

  std::optional<JobDetails> details(JobId job) override { return node_.details_.details(job); }
  void forget_details(JobId job) override { node_.details_.forget(job); }
  void job_begins(const JobPlan& plan) override {
    node_.logger_->info("{} ({}) is led here", to_string(plan.job), plan.name);
    node_.memory_.add(plan.job, *plan.graph);
  }
  void job_closed(JobId job) override { node_.memory_.leave(job); }
  void job_ended(JobId job, bool well) override {
    if (node_.checkpoints_) node_.checkpoints_->job_ended(job, well);
  }

  void spill(client::TaskSettled settled) override { node_.spill_->write(std::move(settled)); }
  void keep_save(keeper::SaveCopy copy) override {
    if (node_.checkpoints_) node_.checkpoints_->keep(std::move(copy));
  }
  bool read_journal(Life client, const client::AskJournal& what) override {
    if (!node_.journal_reader_) return false;
    node_.journal_reader_->read(what, [&node = node_, client](client::Answer answer) {
      node.transport_->send(client, ClientMessage(std::move(answer)));
    });
    return true;
  }

  void drain(bool draining) override {
    if (node_.draining_.exchange(draining) == draining) return;
    node_.logger_->info(draining
                            ? "this node is draining: it accepts no jobs, and its jobs move to other nodes"
                            : "this node accepts jobs again");
  }
  void shut_down() override { node_.end(std::nullopt); }

 private:
  Keeper& node_;
};

std::unique_ptr<KeeperPorts> Keeper::keeper_ports() { return std::make_unique<ForKeeperActor>(*this); }

// ---- Membership

class Keeper::ForMembership final : public MembershipPorts {
 public:
  explicit ForMembership(Keeper& node) : node_(node) {}

  Instant now() override { return steady_now(); }
  void send(SendMembership message) override { node_.transport_->send(std::move(message)); }
  void up(const MemberUp& up) override {
    node_.members_->up(up);
    node_.transport_->member_up(up.life, up.endpoint);
  }
  void doubted(Life life, bool suspected) override { node_.members_->doubted(life, suspected); }
  void down(const MemberDown& down) override {
    node_.members_->down(down);
    node_.transport_->member_down(down.life);
    if (node_.ends_with_.load() != static_cast<std::int64_t>(down.life.process.value)) return;
    node_.end(down.why == DownWhy::left
                  ? std::nullopt
                  : std::optional(Error{ErrorCode::cluster_lost,
                                        to_string(down.life.process) + ", which held the jobs, is gone (" +
                                            std::string(name(down.why)) + ")",
                                        "start the run again; what was saved in checkpoints is not lost"}));
  }
  void view(std::vector<Claim> members, Hearings heard) override {
    {
      const std::lock_guard lock(node_.mutex_);
      if (std::exchange(node_.nodes_up_, members.size()) != members.size()) node_.changed_.notify_all();
    }
    node_.members_->seen(members);
    caf::anon_send(node_.keeper_, mail::Nodes{std::move(members), std::move(heard)});
  }
  LoadSummary load() override { return node_.load_now(); }
  void over() override {
    node_.end(Error{ErrorCode::cluster_lost, "the other nodes took this one for dead, and go on without it",
                    "it did not answer for seconds: was it stopped, or the machine asleep? Start it again"});
  }
  void come_back(Incarnation next) override {
    {
      const std::lock_guard lock(node_.mutex_);
      node_.come_back_as_ = next;
    }
    node_.end(Error{ErrorCode::cluster_lost, "the other nodes remember a later start of this one",
                    "was the clock set back? Start it again"});
  }

 private:
  Keeper& node_;
};

std::unique_ptr<MembershipPorts> Keeper::membership_ports() { return std::make_unique<ForMembership>(*this); }

// ---- The transport's thread

class Keeper::OnTransport final : public MemberEvents {
 public:
  explicit OnTransport(Keeper& node) : MemberEvents(node.membership_), node_(node) {}

  void arrived(Life from, std::vector<JobMessage> messages, std::function<void()> handled) override {
    caf::anon_send(node_.node_, mail::Arrived{from, std::move(messages), std::move(handled)});
  }
  /// Kernels may log faster than clients receive. The journal has all of it.
  void note(Life from, wire::JobNote note) override {
    const std::size_t bytes = sizeof note + note.text.size();
    if (notes_waiting_->fetch_add(bytes) > notes_bytes_max) {
      notes_waiting_->fetch_sub(bytes);
      return node_.transport_->note_dropped();
    }
    const std::shared_ptr<void> held(nullptr,
                                     [waiting = notes_waiting_, bytes](void*) { waiting->fetch_sub(bytes); });
    mail::Noted noted{note.job, from, told_by(note), {}};
    noted.pass_on = [&node = node_, held, note = std::move(note)](Life client) {
      node.transport_->note(client, note);
    };
    caf::anon_send(node_.keeper_, std::move(noted));
  }
  void client(Life from, ClientMessage message) override {
    if (is_client(from.process) && from != web_client())
      caf::anon_send(node_.keeper_, mail::ClientSaid{from, std::move(message)});
  }
  void keeper(Life from, KeeperMessage message) override {
    caf::anon_send(node_.keeper_, mail::KeeperSaid{from, std::move(message)});
  }
  bool copy(Life from, consensus::Addressed&& said) override {
    if (node_.disk_ == 0) return false;
    if (is_node(from.process)) caf::anon_send(node_.node_, mail::CopySaid{from, std::move(said)});
    return true;
  }

  void greeted(Life life, const Endpoint& endpoint, const std::string& build) override {
    if (!is_client(life.process) && !is_node(life.process))
      caf::anon_send(node_.keeper_, mail::Greeted{life, endpoint, build});
  }
  void heard(Life life, bool heard) override {
    if (silences_.note(life, heard))
      caf::anon_send(node_.keeper_, mail::KeeperSaid{node_.self_, keeper::Unheard{{}, silences_.lives()}});
  }
  void refused(Life life) override {
    MemberEvents::refused(life);
    if (is_client(life.process)) caf::anon_send(node_.keeper_, mail::Gone{life});
  }
  void unwelcome(const std::string& address, const Error& why) override {
    const std::vector<std::string>& peers = node_.options_.peers;
    node_.logger_->warn("{} refuses this node: {}", address, why.what);
    if (std::find(peers.begin(), peers.end(), address) != peers.end()) node_.end(why);
  }
  void turned_away(const Caller& caller, const Error& why) override {
    node_.logger_->warn("{} was turned away: {}", to_string(caller.life), why.what);
  }
  /// A node is not ended for one message, since nodes say most things again. A client or a process of a job
  /// would wait for ever: told so, it ends with that error, and of a process its node sees the end.
  void broken(Life life, const Error& why) override {
    node_.logger_->error("{}", why.message());
    if (!is_node(life.process)) node_.transport_->refuse(life, why);
  }
  void joined(ClusterId cluster) override {
    const std::lock_guard lock(node_.mutex_);
    node_.cluster_ = cluster;
  }
  void log(std::string_view line) override { node_.logger_->warn("{}", line); }

 private:
  bool is_member(Life life) const override { return is_node(life.process); }

  Keeper& node_;
  const std::shared_ptr<std::atomic<std::size_t>> notes_waiting_ =
      std::make_shared<std::atomic<std::size_t>>(0);
  Silences silences_;
};

std::unique_ptr<TransportEvents> Keeper::transport_events() { return std::make_unique<OnTransport>(*this); }

}  // namespace dag
