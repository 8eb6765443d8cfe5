#pragma once

// Before a function: compiled once more for processors with wider registers, of which the right one is taken when the
// program starts. For loops over integers, which come out alike.
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__SANITIZE_THREAD__) && !defined(__SANITIZE_ADDRESS__)
#define LOCKSTEP_EACH_PROCESSOR __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#else
#define LOCKSTEP_EACH_PROCESSOR
#endif
