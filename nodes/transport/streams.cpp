#include "nodes/transport/streams.hpp"

#include <pthread.h>

#include <mutex>
#include <thread>
#include <vector>

namespace dag::transport {

class Streams::Thread {
 public:
  explicit Thread(std::unique_ptr<net::ByteStreams> streams)
      : streams_(std::move(streams)), port_(streams_->address().port), thread_([this] { run(); }) {}
  ~Thread() {
    post([this](net::ByteStreams&) { closing_ = true; });
    thread_.join();
  }

  void post(std::function<void(net::ByteStreams&)> what) {
    const std::lock_guard lock(mutex_);
    waiting_.push_back(std::move(what));
    if (waiting_.size() == 1) streams_->wake();
  }
  net::ByteStreams& streams() { return *streams_; }
  std::uint16_t port() const { return port_; }

 private:
  void run() {
    pthread_setname_np(pthread_self(), "dag-streams");
    while (!closing_) {
      streams_->poll(std::chrono::hours(1));
      std::vector<std::function<void(net::ByteStreams&)>> asked;
      {
        const std::lock_guard lock(mutex_);
        asked.swap(waiting_);
      }
      for (const auto& what : asked) what(*streams_);
    }
  }

  const std::unique_ptr<net::ByteStreams> streams_;
  const std::uint16_t port_;
  std::mutex mutex_;
  std::vector<std::function<void(net::ByteStreams&)>> waiting_;
  bool closing_ = false;  // The thread's own.
  std::thread thread_;    // Last: it uses the others.
};

Streams::Streams(std::string host) : host_(std::move(host)) {}
Streams::~Streams() = default;

Streams::Thread* Streams::thread() {
  if (thread_ == nullptr && !failed_) {
    auto streams = net::ByteStreams::open({host_, 0});
    failed_ = !streams;
    if (streams) thread_ = std::make_unique<Thread>(std::move(*streams));
  }
  return thread_.get();
}

std::optional<std::uint16_t> Streams::lend(net::StreamToken token, Blob bytes) {
  Thread* const there = thread();
  if (there == nullptr) return std::nullopt;
  there->streams().lend(token, std::move(bytes));
  return there->port();
}
void Streams::take_back(net::StreamToken token) {
  if (thread_) thread_->streams().take_back(token);
}
void Streams::fetch(const net::Address& owner, net::StreamToken token, std::uint64_t size_bytes,
                    net::ByteStreams::Fetched fetched) {
  Thread* const there = thread();
  if (there == nullptr) return fetched(std::nullopt);
  there->post([=, fetched = std::move(fetched)](net::ByteStreams& streams) {
    streams.fetch(owner, token, size_bytes, fetched);
  });
}
void Streams::forget(const net::Address& owner) {
  if (thread_) thread_->post([owner](net::ByteStreams& streams) { streams.forget(owner); });
}

}  // namespace dag::transport
