// Debian's libzmq is not instrumented: ThreadSanitizer cannot see how its threads hand memory to each other
// and reports every frame. Races that have libzmq in neither stack are ours, and are reported.
#if defined(__SANITIZE_THREAD__)
extern "C" const char* __tsan_default_suppressions();
extern "C" const char* __tsan_default_suppressions() { return "race:libzmq.so\ncalled_from_lib:libzmq.so\n"; }
#endif
