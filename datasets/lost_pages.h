#pragma once
#include <cstddef>

namespace lockstep {

// The system ends a process by SIGBUS that looks at a mapped page whose file has been cut short, or cannot be read.
// Of mappings that are known here, such pages become zeros instead, from the first on; other cases end the process as
// ever. Any thread.
void surviveLostPages(const void* begin, std::size_t bytes);  // a mapping, from its beginning
bool haveLostPages(const void* begin);
void forgetPages(const void* begin);  // before it is unmapped

}  // namespace lockstep
