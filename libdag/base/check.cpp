#include "libdag/base/check.hpp"

namespace dag {

void check_failed(const char* fact, const char* file, int line) {
  throw Bug("libdag bug: " + std::string(fact) + " does not hold at " + file + ":" + std::to_string(line) +
            "; please report it with the log");
}

}  // namespace dag
