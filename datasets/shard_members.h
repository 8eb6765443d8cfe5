#pragma once
#include <functional>
#include <vector>

#include "datasets/archive_index.h"
#include "datasets/named_pictures.h"

namespace lockstep {

// Whether an archive is a shard as WebDataset writes them: KEY.jpg, .jpeg or .png with KEY.cls or KEY.json beside it;
// or KEY.input.jpg, whatever the word, where no other image has that key.
bool isShard(const std::vector<MemberPlace>& members);

// A picture of a shard with its class: the number in KEY.cls, or "label" of KEY.json.
struct ShardPicture {
    std::size_t member = 0;
    std::string className;
};
// `skip` hears of members that are no samples, and why.
std::vector<ShardPicture> shardPictures(const RandomFile& archive, const std::vector<MemberPlace>& members,
                                        const std::function<void(const MemberPlace&, const char* code)>& skip);

}  // namespace lockstep
