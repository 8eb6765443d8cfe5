#pragma once

// Own kernels are function objects that cards and the host can run: nvcc compiles them for cards, and the host's
// compiler the same text as plain loops (see grid.h), so that a machine without a card checks their arithmetic.
#if defined(__CUDACC__)
#define LOCKSTEP_CARD __host__ __device__
#else
#define LOCKSTEP_CARD
#endif
