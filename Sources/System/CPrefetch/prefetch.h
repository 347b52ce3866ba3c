#pragma once

// Has the memory at an address brought near the processor, and does not wait for it. Any address will do.
static inline void prefetch(const void *address) { __builtin_prefetch(address); }
