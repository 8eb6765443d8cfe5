#pragma once
#include "datasets/archive_index.h"

namespace lockstep {

std::unique_ptr<MemberReader> openTar(const RandomFile& archive);
std::unique_ptr<MemberReader> openZip(const RandomFile& archive);
bool beginsAsTarHeader(std::span<const std::uint8_t> block);  // its sum is right, or all is zero

}  // namespace lockstep
