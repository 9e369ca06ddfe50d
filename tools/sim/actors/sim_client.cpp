#include "tools/sim/actors/sim_client.hpp"

#include <algorithm>

#include "libdag/host/host.hpp"

namespace dag::sim {
namespace {

constexpr Duration answer_within = std::chrono::seconds(2);
constexpr Duration inquire_every = std::chrono::seconds(2), silent_max = std::chrono::seconds(20);
/// More patient than people: a job that it gives up may have gone on a little later.
constexpr detail::SearchLimits patient{std::chrono::minutes(3), std::chrono::minutes(2),
                                       std::chrono::minutes(3)};
constexpr ProgramId its_program{1, 1, 8};

std::string what(const ClientMessage& message) {
  if (const auto* settled = std::get_if<client::TaskSettled>(&message))
    return "task " + std::to_string(settled->task) + " " + std::string(name(settled->outcome));
  if (std::holds_alternative<client::JobEnded>(message)) return "the end";
  if (std::holds_alternative<client::JobMoved>(message)) return "that it moved";
  if (std::holds_alternative<client::JobLost>(message)) return "that it is lost";
  const auto* answer = std::get_if<client::Answer>(&message);
  return answer == nullptr || !answer->error ? "an answer" : "no: " + answer->error->what;
}

bool is_released(const client::TaskSettled& told) {
  return told.error && told.error->code == ErrorCode::output_released;
}

Error lost_link() { return {ErrorCode::cluster_lost, "the node that led the job is lost"}; }

}  // namespace

struct SimClient::Link {
  Life self, node;
  std::string address;
  std::unique_ptr<SimTransport> transport;
  bool lost = false;
  Instant heard;
  std::uint64_t inquiry = 0;  ///< that was not answered
};

SimClient::SimClient(SimWorld world, SimClientOptions options, std::uint16_t number, Program& program)
    : world_(world),
      options_(std::move(options)),
      number_(number),
      program_(program),
      key_(world.ledger.planted == PlantedAround::two_geneses ? 0 : world.random.next() | 1),
      graph_(std::make_shared<const detail::Fragment>(program.graph().fragment)) {}

SimClient::~SimClient() { *alive_ = false; }

void SimClient::begin() {
  look_for_handle();
  inquire();
  if (options_.cancels_after) after(*options_.cancels_after, [this] { cancel(); });
}

void SimClient::after(Duration pause, std::function<void()> what) {
  world_.events.after(pause, [alive = std::weak_ptr(alive_), what = std::move(what)] {
    if (!alive.expired()) what();
  });
}

// ---- Links

class SimClient::OnTransport final : public TransportEvents {
 public:
  OnTransport(SimClient& client, Link& link) : client_(client), link_(link) {}

  void client(Life /*from*/, ClientMessage message) override { client_.hear(link_, message); }
  void refused(Life life) override {
    if (life == link_.node) client_.lose(link_);
  }

 private:
  SimClient& client_;
  Link& link_;
};

SimClient::Link* SimClient::open(const std::string& address) {
  for (const auto& link : links_) {
    if (!link->lost && link->address == address) return link.get();
  }
  const std::optional<Life> node = world_.network.who_listens(address);
  if (!node) return nullptr;
  const auto count = static_cast<std::uint16_t>(number_ * 500u + links_.size());
  auto link = std::make_unique<Link>();
  Link* const raw = link.get();
  link->self = {client_process(count), {1}};
  link->node = *node;
  link->address = address;
  link->heard = world_.events.now();
  link->transport = std::make_unique<SimTransport>(world_.network, link->self,
                                                   "127.0.0.1:" + std::to_string(20'000 + count),
                                                   std::make_unique<OnTransport>(*this, *raw));
  link->transport->connect(address);
  links_.push_back(std::move(link));
  return raw;
}

template <class Question>
void SimClient::ask(Link& link, Question question) {
  question.number = awaited_ = ++questions_;
  asked_ = &link;
  link.transport->send(link.node, ClientMessage(std::move(question)));
}

void SimClient::inquire() {
  if (done()) return;
  for (const auto& link : links_) {
    if (link->lost || (link.get() != at_ && link.get() != asked_)) continue;
    if (link->inquiry != 0 && world_.events.now() - link->heard > silent_max) {
      world_.ledger.saw("a client gives up a silent node");
      lose(*link);
    } else {
      if (link->inquiry == 0) link->heard = world_.events.now();
      link->inquiry = ++questions_;
      link->transport->send(link->node, ClientMessage(client::AskNodes{link->inquiry}));
    }
  }
  after(inquire_every, [this] { inquire(); });
}

void SimClient::lose(Link& link) {
  if (std::exchange(link.lost, true)) return;
  after(Duration{0}, [raw = &link] { raw->transport->close(); });
  if (done()) return;
  const bool asked = asked_ == &link;
  if (asked) asked_ = nullptr;
  if (phase_ == Phase::handle && asked) return look_for_handle();
  if (phase_ == Phase::submitting && asked) return search(lost_link());
  if (phase_ == Phase::searching && asked) return search_on();
  if (at_ == &link) search(lost_link());
}

// ---- Messages of nodes

void SimClient::hear(Link& link, const ClientMessage& message) {
  link.heard = world_.events.now();
  if (done() || link.lost) return;
  world_.ledger.trace("client " + std::to_string(number_) + " hears " + what(message) + " of " +
                      to_string(link.node));
  if (const auto* answer = std::get_if<client::Answer>(&message)) {
    on_answer(link, *answer);
  } else if (const auto* settled = std::get_if<client::TaskSettled>(&message)) {
    on_settled(*settled);
  } else if (const auto* ended = std::get_if<client::JobEnded>(&message)) {
    if (ended->stopped) return finish(ended->stopped);
    ended_ = ended->counts;
    finish_if_told_all();
  } else if (const auto* lost = std::get_if<client::JobLost>(&message)) {
    if (cancels_ && lost->why.code == ErrorCode::task_cancelled) on_cancelled(link.node);
    // A node that does not lead it any more may say so of a job that goes on elsewhere.
    if (&link == at_ || &link == asked_) finish(lost->why);
  } else if (std::holds_alternative<client::JobMoved>(message)) {
    world_.ledger.saw("a job moved");
    if (&link == asked_) moved_ = true;
    if (&link == at_) search({ErrorCode::cluster_lost, "its node does not lead the job any more"});
  }
}

void SimClient::on_answer(Link& link, const client::Answer& answer) {
  if (answer.number == link.inquiry) link.inquiry = 0;
  if (cancel_asked_ != 0 && answer.number == cancel_asked_) {
    cancel_asked_ = 0;
    if (!answer.error) return on_cancelled(link.node);
    world_.ledger.saw("a cancel has to be asked again");
    return after(std::chrono::milliseconds(100), [this] { cancel(); });
  }
  if (answer.number != awaited_ || &link != asked_) return;
  if (phase_ == Phase::submitting && answer.wants_program) {
    link.transport->send(
        link.node, KeeperMessage(keeper::ProgramBytes{its_program, detail::to_blob(its_program.hash_low)}));
    return;
  }
  awaited_ = 0;
  asked_ = nullptr;
  switch (phase_) {
    case Phase::handle:
      job_ = answer.job;
      world_.ledger.add(*job_, program_);
      return submit(link);
    case Phase::submitting:
      if (answer.error) return finish(answer.error);
      accepted_ = true;
      if (std::exchange(moved_, false)) return search(lost_link());
      follow(link);
      for (const std::uint32_t task : still_wanted())
        link.transport->send(link.node, ClientMessage(client::Want{*job_, task}));
      return;
    case Phase::searching:
      if (answer.error && answer.error->code == ErrorCode::job_unknown) {
        search_->on_unknown(*answer.error, world_.events.now());
      } else if (answer.error) {
        search_->on_elsewhere(*answer.error, answer.elsewhere, world_.events.now());
      } else if (!std::exchange(moved_, false)) {
        world_.ledger.saw("a client follows its job to another node");
        accepted_ = true;
        search_.reset();
        return follow(link);
      }
      return search_on();
    case Phase::following:
    case Phase::done:
      return;
  }
}

void SimClient::on_settled(const client::TaskSettled& settled) {
  const auto [before, is_new] = settled_.try_emplace(settled.task, settled);
  const client::TaskSettled& first = before->second;
  const bool same = first.outcome == settled.outcome &&
                    static_cast<bool>(first.output) == static_cast<bool>(settled.output) &&
                    (!first.output || detail::from_blob<std::uint64_t>(first.output) ==
                                          detail::from_blob<std::uint64_t>(settled.output));
  // An output may be there for one leader of the job and be released for the next.
  const bool released = first.outcome == settled.outcome && (is_released(first) || is_released(settled));
  if (!is_new && !same && !released)
    world_.ledger.violate("a client was told two things of task " + std::to_string(settled.task));
  finish_if_told_all();
}

std::vector<std::uint32_t> SimClient::still_wanted() const {
  std::vector<std::uint32_t> tasks;
  for (std::uint32_t task = 0; task < graph_->size(); ++task) {
    if (!settled_.contains(task)) tasks.push_back(task);
  }
  return tasks;
}

void SimClient::follow(Link& link) {
  phase_ = Phase::following;
  at_ = &link;
  if (cancels_) cancel();
}

/// Where it does not follow its job now, it asks when it does.
void SimClient::cancel() {
  cancels_ = true;
  if (phase_ != Phase::following || cancelled_) return;
  cancel_asked_ = ++questions_;
  at_->transport->send(at_->node, ClientMessage(client::AskCancel{cancel_asked_, *job_}));
}

void SimClient::on_cancelled(Life by) {
  if (std::exchange(cancelled_, true)) return;
  world_.ledger.saw("a cancel was acknowledged");
  options_.cancelled(*job_, by);
}

void SimClient::finish_if_told_all() {
  if (ended_ && settled_.size() == graph_->size()) finish(std::nullopt);
}

void SimClient::finish(std::optional<Error> lost) {
  lost_ = std::move(lost);
  if (at_ != nullptr && !at_->lost) at_->transport->send(at_->node, ClientMessage(client::ForgetJob{*job_}));
  phase_ = Phase::done;
  at_ = asked_ = nullptr;
  after(std::chrono::milliseconds(50), [this] {
    for (const auto& link : links_) link->transport->close();
  });
}

// ---- The way to a node that leads the job

void SimClient::look_for_handle() {
  const std::string& address = options_.nodes[(number_ + tries_++) % options_.nodes.size()];
  if (Link* link = open(address)) return ask(*link, client::AskHandle{});
  after(std::chrono::milliseconds(200), [this] { look_for_handle(); });
}

void SimClient::submit(Link& link) {
  phase_ = Phase::submitting;
  client::AskSubmit submission;
  submission.job = *job_;
  submission.name = "job";
  submission.graph = graph_;
  submission.launch = {its_program, "sim", {"job"}, "/"};
  submission.supervise_all = options_.supervise_all;
  submission.key = key_;
  ask(link, std::move(submission));
}

void SimClient::search(const Error& why) {
  phase_ = Phase::searching;
  at_ = asked_ = nullptr;
  moved_ = false;
  search_.emplace(patient, why, world_.events.now());
  search_->know(options_.nodes);
  search_on();
}

void SimClient::search_on() {
  awaited_ = 0;
  asked_ = nullptr;
  const Instant now = world_.events.now();
  const detail::SearchStep next = search_->next(now);
  if (const auto* node = std::get_if<detail::AskNode>(&next)) {
    Link* link = open(node->address);
    if (link == nullptr) return search_on();
    moved_ = false;
    ask(*link, client::AskFollow{0, *job_, still_wanted(), key_});
    after(answer_within, [this, number = awaited_] {
      if (phase_ == Phase::searching && awaited_ == number) search_on();
    });
  } else if (const auto* wait = std::get_if<detail::WaitUntil>(&next)) {
    after(wait->at - now, [this, number = questions_] {
      if (phase_ == Phase::searching && questions_ == number && awaited_ == 0) search_on();
    });
  } else {
    finish(std::get<detail::GiveUp>(next).why);
  }
}

// ---- At the end

std::string SimClient::state() const {
  static constexpr const char* names[] = {"looks for a handle", "submits", "follows", "searches", "is done"};
  std::string text = "client " + std::to_string(number_) + " " + names[static_cast<std::size_t>(phase_)];
  if (job_) text += ", " + to_string(*job_);
  if (at_ != nullptr) text += " at " + to_string(at_->node);
  text += ", " + std::to_string(settled_.size()) + " of " + std::to_string(graph_->size()) + " tasks settled";
  if (ended_) text += ", ended";
  return text;
}

bool SimClient::is_read(std::uint32_t task) const {
  for (std::uint32_t reader = 0; reader < graph_->size(); ++reader) {
    for (const detail::EdgeEnd& edge : graph_->in_edges(reader)) {
      if (edge.task() == task) return true;
    }
  }
  return false;
}

void SimClient::check() const {
  // No node keeps a job that ended before it began for a client that was not there to be told.
  const bool is_forgotten = lost_ && lost_->code == ErrorCode::cluster_lost && settled_.empty();
  const bool never_began = cancels_ && lost_ && (lost_->code == ErrorCode::task_cancelled || is_forgotten);
  if (lost_ && accepted_ && !never_began) throw Violation(state() + ", was lost: " + lost_->message());
  if (never_began) return world_.ledger.saw("a job was cancelled before it began");
  if (lost_) return world_.ledger.saw("a submission was refused");
  if (ended_->open != 0) throw Violation(state() + ", and says that some are open");
  if (cancels_) return;
  for (std::uint32_t task = 0; task < graph_->size(); ++task) {
    const test::Expected& right = program_.find(program_.graph().tasks[task].salt)->expected;
    const client::TaskSettled& told = settled_.at(task);
    if (told.outcome != right.outcome) {
      throw Violation(state() + ": task " + std::to_string(task) + " is " + std::string(name(told.outcome)) +
                      ", the oracle says " + std::string(name(right.outcome)) +
                      (told.error ? ": " + told.error->message() : ""));
    }
    // A question after the job's end may come too late, but not for a result.
    if (is_released(told) && is_read(task)) {
      world_.ledger.saw("an output was released");
      continue;
    }
    if (right.value && (!told.output || detail::from_blob<std::uint64_t>(told.output) != *right.value))
      throw Violation(state() + ": task " + std::to_string(task) + " has another value than the oracle says");
  }
  world_.ledger.saw("a job ended well");
}

}  // namespace dag::sim
