#include "nodes/transport/transport.hpp"

#include <pthread.h>

#include <future>
#include <mutex>
#include <thread>

#include "nodes/transport/driver.hpp"

namespace dag {
namespace {

using transport::Delivered;
using transport::Driver;

/// Time that waiting messages may delay the end of the process.
constexpr auto close_grace = std::chrono::milliseconds(200);

}  // namespace

class Transport::Thread {
 public:
  Thread(TransportSetup setup, std::unique_ptr<TransportEvents> events)
      : setup_(std::move(setup)), events_(std::move(events)), inbox_(std::make_shared<Inbox>()) {}
  ~Thread() {
    post([this](Driver&) { closing_ = true; });
    if (!begun_) begin();
    if (thread_.joinable()) thread_.join();
  }

  Status start() {
    std::promise<Status> opened;
    auto result = opened.get_future();
    thread_ = std::thread([this, &opened] { run(opened); });
    return result.get();
  }

  void begin() {
    begun_ = true;
    begin_.set_value();
  }

  /// To be done on the thread, in order.
  void post(std::function<void(Driver&)> what) { inbox_->post(std::move(what)); }
  bool take_room(std::size_t note_bytes) {
    if (notes_bytes_.fetch_add(note_bytes) <= notes_bytes_max) return true;
    give_room(note_bytes);
    note_dropped();
    return false;
  }
  void give_room(std::size_t note_bytes) { notes_bytes_.fetch_sub(note_bytes); }
  void note_dropped() { notes_dropped_.fetch_add(1); }
  std::uint64_t take_dropped() { return notes_dropped_.exchange(0); }
  const Endpoint& endpoint() const { return endpoint_; }
  std::function<void()> hands_back(Life owner, std::uint64_t number) const {
    return [inbox = inbox_, owner, number] {
      inbox->post([=](Driver& driver) { driver.give_back(owner, number); });
    };
  }

 private:
  /// Outlives the thread for callers that still hold a `handled`.
  struct Inbox {
    void post(std::function<void(Driver&)> what) {
      const std::lock_guard lock(mutex);
      if (sockets == nullptr && over) return;
      waiting.push_back(std::move(what));
      if (waiting.size() == 1 && sockets != nullptr) sockets->wake();
    }
    std::vector<std::function<void(Driver&)>> take() {
      const std::lock_guard lock(mutex);
      return std::exchange(waiting, {});
    }
    std::mutex mutex;
    std::vector<std::function<void(Driver&)>> waiting;
    net::ZmqTransport* sockets = nullptr;  // While the thread runs.
    bool over = false;
  };

  void run(std::promise<Status>& opened) {
    pthread_setname_np(pthread_self(), "dag-transport");
    auto sockets = net::ZmqTransport::open(setup_.sockets);
    if (!sockets) {
      opened.set_value(sockets.error());
      return;
    }
    Driver driver(setup_, *events_, std::move(sockets).value());
    driver.handled_later = [inbox = inbox_](Life from, const Delivered& delivered) -> std::function<void()> {
      return [inbox, from, channel = delivered.channel, count = delivered.count,
              bytes = delivered.charge_bytes] {
        inbox->post([=](Driver& again) { again.handled(from, channel, count, bytes); });
      };
    };
    driver.given_back_later = [this](Life owner, std::uint64_t number) { return hands_back(owner, number); };
    driver.streamed_later = [inbox = inbox_](Life owner, std::uint64_t number, std::optional<Blob> bytes) {
      inbox->post([=, bytes = std::move(bytes)](Driver& again) { again.streamed(owner, number, bytes); });
    };
    endpoint_ = {net::to_string(driver.sockets().control_address()),
                 net::to_string(driver.sockets().bulk_address())};
    {
      const std::lock_guard lock(inbox_->mutex);
      inbox_->sockets = &driver.sockets();
    }
    opened.set_value(Done{});
    begin_.get_future().wait();
    while (!closing_) {
      for (const auto& what : inbox_->take()) what(driver);
      if (setup_.beat) setup_.beat();
      if (!closing_) driver.turn(setup_.beat_every);
    }
    const auto until = std::chrono::steady_clock::now() + close_grace;
    while (!driver.quiet() && std::chrono::steady_clock::now() < until) {
      for (const auto& what : inbox_->take()) what(driver);
      driver.turn(std::chrono::milliseconds(10));
    }
    // Destroyed outside the lock: an output of another process posts when nobody holds it any more.
    std::vector<std::function<void(Driver&)>> undone;
    const std::lock_guard lock(inbox_->mutex);
    inbox_->sockets = nullptr;
    inbox_->over = true;
    undone.swap(inbox_->waiting);
  }

  TransportSetup setup_;
  const std::unique_ptr<TransportEvents> events_;
  std::shared_ptr<Inbox> inbox_;
  Endpoint endpoint_;
  std::promise<void> begin_;
  bool begun_ = false;  // The owner's own.
  std::atomic<std::size_t> notes_bytes_{0};
  std::atomic<std::uint64_t> notes_dropped_{0};
  bool closing_ = false;  // The thread's own.
  std::thread thread_;
};

Transport::Transport(std::unique_ptr<Thread> thread) : thread_(std::move(thread)) {}
Transport::~Transport() = default;

Result<std::unique_ptr<Transport>> Transport::open(TransportSetup setup,
                                                   std::unique_ptr<TransportEvents> events) {
  auto thread = std::make_unique<Thread>(std::move(setup), std::move(events));
  if (const Status started = thread->start(); !started) return started.error();
  return std::unique_ptr<Transport>(new Transport(std::move(thread)));
}

const Endpoint& Transport::endpoint() const { return thread_->endpoint(); }
void Transport::begin() { thread_->begin(); }

void Transport::send(Life to, JobMessage message) {
  // A std::function must be copyable, and a message is not copied for that.
  auto shared = std::make_shared<JobMessage>(std::move(message));
  thread_->post([to, shared](Driver& driver) { driver.send(to, std::move(*shared)); });
}
void Transport::send(Life to, std::vector<EdgeNews>&& news) {
  auto shared = std::make_shared<std::vector<EdgeNews>>(std::move(news));
  thread_->post([to, shared](Driver& driver) {
    // The receiver takes the digest if it needs one.
    for (EdgeNews& one : *shared) driver.send(to, JobMessage(as_message(std::move(one), 0)));
  });
}
void Transport::note(Life to, wire::JobNote note) {
  const std::size_t bytes = sizeof note + note.text.size();
  if (!thread_->take_room(bytes)) return;
  thread_->post([this, to, bytes, note = std::move(note)](Driver& driver) {
    thread_->give_room(bytes);
    driver.note(to, note, thread_->take_dropped());
  });
}
void Transport::note_dropped() { thread_->note_dropped(); }
void Transport::send(Life to, ClientMessage message) {
  auto shared = std::make_shared<ClientMessage>(std::move(message));
  thread_->post([to, shared](Driver& driver) { driver.send(to, std::move(*shared)); });
}
void Transport::send(Life to, KeeperMessage message) {
  auto shared = std::make_shared<KeeperMessage>(std::move(message));
  thread_->post([to, shared](Driver& driver) { driver.send(to, std::move(*shared)); });
}
void Transport::send(Life to, consensus::Addressed message) {
  auto shared = std::make_shared<consensus::Addressed>(std::move(message));
  thread_->post([to, shared](Driver& driver) { driver.send(to, std::move(*shared)); });
}
void Transport::connect(std::string address) {
  thread_->post([address = std::move(address)](Driver& driver) { driver.connect(address); });
}
void Transport::forget(Life life) {
  thread_->post([life](Driver& driver) { driver.forget(life); });
}
void Transport::refuse(Life life, Error why) {
  thread_->post([life, why = std::move(why)](Driver& driver) { driver.refuse(life, why); });
}
void Transport::send(SendMembership message) {
  thread_->post([message = std::move(message)](Driver& driver) { driver.send(message); });
}
std::function<void()> Transport::hands_back(Life owner, std::uint64_t number) const {
  return thread_->hands_back(owner, number);
}
void Transport::member_up(Life life, Endpoint endpoint) {
  thread_->post([life, endpoint = std::move(endpoint)](Driver& driver) { driver.member_up(life, endpoint); });
}
void Transport::member_down(Life life) {
  thread_->post([life](Driver& driver) { driver.member_down(life); });
}

}  // namespace dag
