#include "libdag/replica/submission.hpp"

#include "libdag/wire/cell_log.hpp"

namespace dag {

Blob bytes_of(const Submission& submission) { return wire::encode(submission); }

Submission submission_of(const Blob& bytes) {
  return wire::decode_submission(bytes.bytes()).value_or_throw();
}

}  // namespace dag
