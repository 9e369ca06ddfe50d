#pragma once
// What a warden does; run.cpp says what that is. Throws nothing.

namespace dag::warden_detail {

/// Of dag-warden REPORT PROGRAM PARENT GRACE_MS says|silent GROUPS WORDS...: descriptors, process,
/// milliseconds, and how the directory of its control group begins (group.hpp). Returns an exit status when
/// nothing was started, and ends the process as that of WORDS did otherwise.
int run(int argc, char** argv);

}  // namespace dag::warden_detail
