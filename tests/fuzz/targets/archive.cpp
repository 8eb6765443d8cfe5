#include <algorithm>

#include "datasets/shard_members.h"
#include "engine/core/result.h"
#include "tests/fuzz/fuzz_files.h"
#include "tests/fuzz/targets/targets.h"

namespace lockstep::fuzz {

std::size_t capOfArchive(std::size_t bytes) { return std::max(kSmallChange, 4 * bytes); }

bool runArchive(Input input) {
    static MemoryFile memory;
    try {
        const RandomFile archive(memory.holding(input));
        const auto members = indexArchive(archive, [] {});
        for (const MemberPlace& each : members)
            require(each.offset <= input.size() && each.bytes <= input.size() - each.offset, "a member is all there");
        for (const ShardPicture& each : shardPictures(archive, members, [](const MemberPlace&, const char*) {}))
            require(each.member < members.size() && !each.className.empty(), "a picture of a shard has a class");
        return true;
    } catch (const ProblemError&) {
        return false;
    }
}

}  // namespace lockstep::fuzz
