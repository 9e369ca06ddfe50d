#include "libdag/net/byte_streams.hpp"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <deque>
#include <list>
#include <map>
#include <mutex>
#include <new>
#include <span>
#include <utility>

#include "libdag/base/owned_file.hpp"
#include "libdag/net/waker.hpp"

namespace dag::net {
namespace {

static_assert(std::endian::native == std::endian::little, "what goes over the wire is little-endian");

using TokenBytes = std::array<std::byte, sizeof(StreamToken)>;
using SizeBytes = std::array<std::byte, sizeof(std::uint64_t)>;

/// Per connection and turn, so that one does not keep the others waiting.
constexpr std::size_t bytes_per_turn = 8 << 20;
constexpr int listen_backlog = 64;

enum class Moved { some, would_block, broken };

/// Moves as many bytes as possible; `bytes` is the rest.
template <class Byte, class Call>
Moved transfer(std::span<Byte>& bytes, std::size_t& allowance, const Call& call) {
  while (!bytes.empty()) {
    if (allowance == 0) return Moved::some;
    const ssize_t moved = call(bytes.data(), std::min(bytes.size(), allowance));
    if (moved < 0 && errno == EINTR) continue;
    if (moved < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) return Moved::would_block;
    if (moved <= 0) return Moved::broken;
    bytes = bytes.subspan(static_cast<std::size_t>(moved));
    allowance -= static_cast<std::size_t>(moved);
  }
  return Moved::some;
}
Moved receive(int file, std::span<std::byte>& into, std::size_t& allowance) {
  return transfer(into, allowance,
                  [file](std::byte* to, std::size_t size) { return recv(file, to, size, 0); });
}
Moved send(int file, std::span<const std::byte>& from, std::size_t& allowance) {
  return transfer(from, allowance, [file](const std::byte* at, std::size_t size) {
    return ::send(file, at, size, MSG_NOSIGNAL);
  });
}

using Clock = std::chrono::steady_clock;

/// A connection that another process made to us.
struct Caller {
  Caller(OwnedFile connected, std::string address) : file(std::move(connected)), host(std::move(address)) {}

  OwnedFile file;
  std::string host;
  Clock::time_point since = Clock::now();
  bool known = false;  ///< it has named a token under which something was lent
  TokenBytes token{};
  std::span<std::byte> token_left = token;
  /// Bytes for the caller; of the first answer some may have been sent.
  struct Answer {
    SizeBytes size;
    Blob bytes;
  };
  std::deque<Answer> answers;
  std::span<const std::byte> size_left, bytes_left;

  bool wants_more() const { return answers.size() < ByteStreams::waiting_max; }
  void begin_answer() {
    if (answers.empty()) return;
    size_left = answers.front().size;
    bytes_left = answers.front().bytes.bytes();
  }
};

struct Fetch {
  StreamToken token;
  std::uint64_t size_bytes = 0;
  ByteStreams::Fetched fetched;
};

/// The connection that we made to one lender.
struct Lender {
  OwnedFile file;
  bool connected = false;
  std::deque<Fetch> to_ask, asked;
  TokenBytes token{};  ///< of the first of to_ask
  std::span<const std::byte> token_left = {};
  // State of the first of `asked`.
  bool begun = false;  ///< its size is known
  SizeBytes size{};
  std::span<std::byte> size_left = size;
  Blob bytes;
  std::array<std::byte, Blob::inline_bytes_max> few_bytes{};  ///< a Blob of so few has no place of its own
  std::span<std::byte> bytes_left = {};

  void begin_to_ask() {
    if (to_ask.empty()) return;
    std::memcpy(token.data(), &to_ask.front().token, token.size());
    token_left = token;
  }
};

struct AddressList {
  explicit AddressList(const Address& address, bool to_listen) {
    addrinfo hints{};
    hints.ai_socktype = SOCK_STREAM;
    hints.ai_flags = AI_NUMERICSERV | (to_listen ? AI_PASSIVE : 0);
    const std::string port = std::to_string(address.port);
    const std::string host = address.host == "*" ? "0.0.0.0" : address.host;
    if (const int failed = getaddrinfo(host.c_str(), port.c_str(), &hints, &first); failed != 0) {
      first = nullptr;
      why = gai_strerror(failed);
    }
  }
  ~AddressList() {
    if (first != nullptr) freeaddrinfo(first);
  }
  AddressList(const AddressList&) = delete;
  AddressList& operator=(const AddressList&) = delete;
  addrinfo* first = nullptr;
  std::string why;
};

std::string host_of(const sockaddr_storage& peer, socklen_t size) {
  std::array<char, NI_MAXHOST> text{};
  const auto* address = reinterpret_cast<const sockaddr*>(&peer);
  getnameinfo(address, size, text.data(), text.size(), nullptr, 0, NI_NUMERICHOST);
  return text.data();
}

std::uint16_t port_of(int file) {
  sockaddr_storage bound{};
  socklen_t size = sizeof bound;
  if (getsockname(file, reinterpret_cast<sockaddr*>(&bound), &size) != 0) return 0;
  return ntohs(bound.ss_family == AF_INET6 ? reinterpret_cast<sockaddr_in6&>(bound).sin6_port
                                           : reinterpret_cast<sockaddr_in&>(bound).sin_port);
}

void send_at_once(int file) {
  const int on = 1;
  setsockopt(file, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
}

}  // namespace

class ByteStreams::Sockets {
 public:
  ~Sockets() {
    while (!lenders_.empty()) give_up(lenders_.begin()->first);
  }

  Status listen(const Address& wanted) {
    const AddressList list(wanted, true);
    std::string why = list.why;
    for (const addrinfo* one = list.first; one != nullptr; one = one->ai_next) {
      OwnedFile file(socket(one->ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
      const int on = 1;  // Connections of the port's former process may linger.
      setsockopt(file.number(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
      if (file && bind(file.number(), one->ai_addr, one->ai_addrlen) == 0 &&
          ::listen(file.number(), listen_backlog) == 0) {
        address_ = {wanted.host, port_of(file.number())};
        listening_ = std::move(file);
        return Done{};
      }
      why = std::strerror(errno);
    }
    return Error{ErrorCode::address_invalid, "cannot listen at " + to_string(wanted) + ": " + why, {}};
  }
  const Address& address() const { return address_; }

  void lend(StreamToken token, Blob bytes) {
    const std::lock_guard lock(lent_mutex_);
    lent_[token] = std::move(bytes);
  }
  void take_back(StreamToken token) {
    Blob back;  // Destroyed outside the lock.
    const std::lock_guard lock(lent_mutex_);
    if (auto found = lent_.extract(token)) back = std::move(found.mapped());
  }

  void fetch(const Address& owner, Fetch what) {
    const auto [at, fresh] = lenders_.try_emplace(owner);
    Lender& lender = at->second;
    lender.to_ask.push_back(std::move(what));
    if (lender.to_ask.size() == 1) lender.begin_to_ask();
    if (fresh && !connect(owner, lender)) give_up(owner);
  }

  void give_up(const Address& owner) {
    auto gone = lenders_.extract(owner);
    if (!gone) return;
    for (std::deque<Fetch>* fetches : {&gone.mapped().asked, &gone.mapped().to_ask}) {
      for (Fetch& fetch : *fetches) fetch.fetched(std::nullopt);
    }
  }

  void poll(Duration timeout) {
    timeout = std::min(timeout, forget_old_strangers());
    items_.clear();
    items_.push_back({waker_.file(), POLLIN, 0});
    items_.push_back({listening_.number(), static_cast<short>(accepts_ ? POLLIN : 0), 0});
    for (const auto& caller : callers_) {
      const int wanted = (caller.wants_more() ? POLLIN : 0) | (caller.answers.empty() ? 0 : POLLOUT);
      items_.push_back({caller.file.number(), static_cast<short>(wanted), 0});
    }
    for (const auto& [address, lender] : lenders_) {
      const bool writes = !lender.connected || !lender.to_ask.empty();
      items_.push_back({lender.file.number(), static_cast<short>(POLLIN | (writes ? POLLOUT : 0)), 0});
    }
    const auto wait = std::chrono::ceil<std::chrono::milliseconds>(timeout).count();
    const int limit = static_cast<int>(std::clamp<std::int64_t>(wait, 0, accepts_ ? 3'600'000 : 100));
    accepts_ = true;
    if (::poll(items_.data(), items_.size(), limit) <= 0) return;  // Nothing, or a signal.
    if (items_[0].revents != 0) waker_.clear();
    std::size_t item = 2;
    for (auto caller = callers_.begin(); caller != callers_.end(); ++item) {
      const bool stands = items_[item].revents == 0 || serve(*caller);
      caller = stands ? std::next(caller) : callers_.erase(caller);
    }
    std::vector<Address> broken;
    for (auto& [address, lender] : lenders_) {
      if (items_[item++].revents != 0 && !take_from(lender)) broken.push_back(address);
    }
    // Callbacks may ask for more.
    for (auto& [done, bytes] : std::exchange(done_, {})) done(std::move(bytes));
    for (const Address& address : broken) give_up(address);
    if (items_[1].revents != 0) accept_callers();
  }

  void wake() noexcept { waker_.wake(); }

 private:
  void accept_callers() {
    for (;;) {
      sockaddr_storage peer{};
      socklen_t size = sizeof peer;
      OwnedFile file(accept4(listening_.number(), reinterpret_cast<sockaddr*>(&peer), &size,
                             SOCK_NONBLOCK | SOCK_CLOEXEC));
      if (!file) {
        // A waiting connection would wake the next poll at once, and no descriptor would be free.
        accepts_ = errno != EMFILE && errno != ENFILE;
        return;
      }
      send_at_once(file.number());
      callers_.emplace_back(std::move(file), host_of(peer, size));
      bound_strangers(callers_.back().host);
    }
  }

  /// A stranger has come from there: if there are too many now, the oldest is closed. Callers are in order of
  /// arrival, so it is the new one itself when all others are known.
  void bound_strangers(const std::string& host) {
    std::size_t all = 0, of_host = 0;
    for (const Caller& caller : callers_) {
      if (caller.known) continue;
      ++all;
      of_host += caller.host == host ? 1 : 0;
    }
    const bool too_many_of_host = of_host > strangers_of_host_max;
    if (!too_many_of_host && all <= strangers_max && callers_.size() <= callers_max) return;
    callers_.erase(std::find_if(callers_.begin(), callers_.end(), [&](const Caller& caller) {
      return !caller.known && (!too_many_of_host || caller.host == host);
    }));
  }

  /// How long until the next one has been a stranger for too long.
  Duration forget_old_strangers() {
    Duration next = Duration::max();
    const auto now = Clock::now();
    std::erase_if(callers_, [&](const Caller& caller) {
      if (caller.known) return false;
      const Duration left = caller.since + stranger_for - now;
      if (left > Duration{0}) next = std::min(next, left);
      return left <= Duration{0};
    });
    return next;
  }

  /// Null: nothing is lent under it.
  Blob lent(StreamToken token) const {
    const std::lock_guard lock(lent_mutex_);
    const auto found = lent_.find(token);
    return found == lent_.end() ? Blob() : found->second;
  }

  /// False: it is gone.
  bool serve(Caller& caller) {
    std::size_t allowance = bytes_per_turn;
    while (caller.wants_more()) {
      const Moved moved = receive(caller.file.number(), caller.token_left, allowance);
      if (moved == Moved::broken) return false;
      if (!caller.token_left.empty()) break;
      StreamToken token;
      std::memcpy(&token, caller.token.data(), sizeof token);
      caller.token_left = caller.token;
      Caller::Answer& answer = caller.answers.emplace_back();
      answer.bytes = lent(token);
      caller.known = caller.known || answer.bytes;
      const std::uint64_t size = answer.bytes ? answer.bytes.size_bytes() : unknown;
      std::memcpy(answer.size.data(), &size, sizeof size);
      if (caller.answers.size() == 1) caller.begin_answer();
    }
    while (!caller.answers.empty()) {
      for (auto* part : {&caller.size_left, &caller.bytes_left}) {
        const Moved moved = send(caller.file.number(), *part, allowance);
        if (moved == Moved::broken) return false;
        if (!part->empty()) return true;
      }
      caller.answers.pop_front();
      caller.begin_answer();
    }
    return true;
  }

  /// To the first address of that name that takes us; the others are for the next fetch.
  bool connect(const Address& owner, Lender& lender) {
    const AddressList list(owner, false);
    for (const addrinfo* one = list.first; one != nullptr; one = one->ai_next) {
      lender.file = OwnedFile(socket(one->ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
      if (!lender.file) continue;
      send_at_once(lender.file.number());
      if (::connect(lender.file.number(), one->ai_addr, one->ai_addrlen) == 0 || errno == EINPROGRESS)
        return true;
    }
    return false;
  }

  /// False: nothing more comes from there.
  bool take_from(Lender& lender) {
    const int file = lender.file.number();
    if (!lender.connected) {
      int failed = 0;
      socklen_t size = sizeof failed;
      if (getsockopt(file, SOL_SOCKET, SO_ERROR, &failed, &size) != 0 || failed != 0) return false;
      lender.connected = true;
    }
    std::size_t allowance = bytes_per_turn;
    while (!lender.to_ask.empty()) {
      if (send(file, lender.token_left, allowance) == Moved::broken) return false;
      if (!lender.token_left.empty()) break;
      lender.asked.push_back(std::move(lender.to_ask.front()));
      lender.to_ask.pop_front();
      lender.begin_to_ask();
    }
    for (;;) {
      // Also with nothing asked: that is how a lender that is gone is seen.
      if (receive(file, lender.size_left, allowance) == Moved::broken) return false;
      if (!lender.size_left.empty()) return true;
      if (lender.asked.empty()) return false;  // An answer without a question.
      if (!lender.begun && !begin_bytes(lender)) return false;
      if (receive(file, lender.bytes_left, allowance) == Moved::broken) return false;
      if (!lender.bytes_left.empty()) return true;
      const Fetch fetch = std::move(lender.asked.front());
      lender.asked.pop_front();
      if (!lender.bytes) lender.bytes = Blob(std::span(lender.few_bytes).first(fetch.size_bytes));
      done_.emplace_back(fetch.fetched, std::exchange(lender.bytes, {}));
      lender.size_left = lender.size;
      lender.begun = false;
    }
  }

  /// False: it does not have the bytes, or their number differs; the rest is not worth reading then.
  static bool begin_bytes(Lender& lender) {
    std::uint64_t size = 0;
    std::memcpy(&size, lender.size.data(), sizeof size);
    if (size != lender.asked.front().size_bytes) return false;
    lender.begun = true;
    if (size <= lender.few_bytes.size()) {
      lender.bytes_left = std::span(lender.few_bytes).first(size);
      return true;
    }
    try {
      lender.bytes = Blob::make(size, [&](std::byte* to) { lender.bytes_left = {to, size}; });
    } catch (const std::bad_alloc&) {
      return false;
    }
    return true;
  }

  Address address_;
  Waker waker_;
  OwnedFile listening_;
  bool accepts_ = true;
  mutable std::mutex lent_mutex_;
  std::map<StreamToken, Blob> lent_;
  std::list<Caller> callers_;  // Callers and lenders point into themselves.
  std::map<Address, Lender> lenders_;
  std::vector<std::pair<Fetched, Blob>> done_;
  std::vector<pollfd> items_;
};

ByteStreams::ByteStreams(std::unique_ptr<Sockets> sockets) : sockets_(std::move(sockets)) {}
ByteStreams::~ByteStreams() = default;

Result<std::unique_ptr<ByteStreams>> ByteStreams::open(const Address& listen) {
  try {
    auto sockets = std::make_unique<Sockets>();
    if (const Status listening = sockets->listen(listen); !listening) return listening.error();
    return std::unique_ptr<ByteStreams>(new ByteStreams(std::move(sockets)));
  } catch (const std::runtime_error& no_descriptor) {
    return Error{ErrorCode::address_invalid, no_descriptor.what(), {}};
  }
}

const Address& ByteStreams::address() const { return sockets_->address(); }
void ByteStreams::lend(StreamToken token, Blob bytes) { sockets_->lend(token, std::move(bytes)); }
void ByteStreams::take_back(StreamToken token) { sockets_->take_back(token); }
void ByteStreams::fetch(const Address& owner, StreamToken token, std::uint64_t size_bytes, Fetched fetched) {
  sockets_->fetch(owner, {token, size_bytes, std::move(fetched)});
}
void ByteStreams::forget(const Address& owner) { sockets_->give_up(owner); }
void ByteStreams::poll(Duration timeout) { sockets_->poll(timeout); }
void ByteStreams::wake() noexcept { sockets_->wake(); }

}  // namespace dag::net
