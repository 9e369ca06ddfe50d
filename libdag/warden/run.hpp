#pragma once
// Runs a warden; run.cpp describes its work. Throws nothing.

namespace dag::warden_detail {

/// Arguments: dag-warden REPORT PROGRAM PARENT GRACE_MS says|silent GROUPS WORDS...: descriptors, process,
/// milliseconds, and how the directory of its control group begins (group.hpp). Returns an exit status if
/// nothing was started; else ends this process like that of WORDS.
int run(int argc, char** argv);

}  // namespace dag::warden_detail
