#include "libdag/base/process_barrier.hpp"

#include <linux/membarrier.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "libdag/base/check.hpp"

namespace dag {

const bool process_barrier_allowed =
    syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0, 0) == 0;

void process_barrier() {
  if (!process_barrier_allowed) return;  // Then announce() is a barrier by itself.
  DAG_CHECK(syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0) == 0);
}

}  // namespace dag
