#include "engine/report/blocks.h"

#include <iterator>

#include "engine/core/number_text.h"

namespace lockstep::report {

void append(Blocks& blocks, Blocks more) {
    blocks.insert(blocks.end(), std::make_move_iterator(more.begin()), std::make_move_iterator(more.end()));
}

std::string counted(std::int64_t count, std::string_view one, std::string_view many) {
    return countText(count) + ' ' + std::string(count == 1 ? one : many);
}

std::string joinedText(const std::vector<std::string>& words) {
    std::string out;
    for (const std::string& each : words) out += (out.empty() ? "" : ", ") + each;
    return out;
}

std::string momentText(const std::string& utc) {
    if (utc.size() < 16) return utc;
    return utc.substr(0, 10) + ' ' + utc.substr(11, 5) + " UTC";
}

}  // namespace lockstep::report
