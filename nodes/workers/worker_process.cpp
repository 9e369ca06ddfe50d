#include "nodes/workers/worker_process.hpp"

#include <fcntl.h>
#include <sys/mman.h>

#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <memory>

#include "libdag/base/owned_file.hpp"
#include "nodes/workers/seat_door.hpp"
#include "nodes/workers/worker_node.hpp"

namespace dag {
namespace {

/// A page that the node shares with this process.
class MappedPage {
 public:
  explicit MappedPage(int descriptor) : file_(descriptor) {
    fcntl(descriptor, F_SETFD, FD_CLOEXEC);  // Not inherited by processes of kernels.
    void* const memory =
        mmap(nullptr, sizeof(RunningPage), PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
    if (memory == MAP_FAILED) {
      throw Failure(
          {ErrorCode::internal, "the page that the node shares with this process cannot be mapped"});
    }
    page_ = static_cast<RunningPage*>(memory);
    note_faults(*page_);
    note_ends();
  }
  ~MappedPage() { munmap(page_, sizeof(RunningPage)); }
  MappedPage(const MappedPage&) = delete;
  MappedPage& operator=(const MappedPage&) = delete;
  RunningPage& operator*() const { return *page_; }

 private:
  const OwnedFile file_;
  RunningPage* page_ = nullptr;
};

/// Its exit status; nothing: it has left the job.
std::optional<int> serve(const NodeOptions& options, const WorkerSeat& seat, RunningPage& page) {
  auto node = std::make_unique<WorkerNode>(options, seat, page);
  const std::optional<int> status = node->serve();
  if (status) static_cast<void>(node.release());  // The process ends, and kernels may still run.
  node.reset();
  return status;
}

}  // namespace

int be_worker_process(const NodeOptions& options, WorkerSeat seat) {
  if (seat.door >= 0) fcntl(seat.door, F_SETFD, FD_CLOEXEC);
  // Never unmapped before there is another one: handlers of signals write to it.
  auto page = std::make_unique<MappedPage>(seat.page);
  for (;;) {
    if (const auto status = serve(options, seat, **page)) {
      static_cast<void>(page.release());  // Likewise.
      return *status;
    }
    if (!(**page).running().empty()) return EXIT_SUCCESS;  // A kernel does not return.
    std::cout.flush();
    std::fflush(nullptr);
    say_free(seat.door);
    auto next = take_seat(seat.door);
    if (!next) return EXIT_SUCCESS;
    seat = *std::move(next);
    page = std::make_unique<MappedPage>(seat.page);
  }
}

}  // namespace dag
