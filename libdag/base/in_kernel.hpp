#pragma once
// Marks threads that run a kernel of the user's. A kernel that makes a Session would wait for a cluster that
// waits for the kernel: Session checks this first.

namespace dag {

/// Read and written around each kernel: at a fixed place, so that a shared library finds it without a call.
[[gnu::tls_model("initial-exec")]] inline thread_local bool runs_kernel = false;

/// Marks its thread as running a kernel, for as long as the object lives.
class InKernel {
 public:
  InKernel() : before_(runs_kernel) { runs_kernel = true; }
  ~InKernel() { runs_kernel = before_; }
  InKernel(const InKernel&) = delete;
  InKernel& operator=(const InKernel&) = delete;

 private:
  const bool before_;
};

}  // namespace dag
