// No code: this object exists for its precompiled header, see DagTargets.cmake.
