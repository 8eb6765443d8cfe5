#include "datasets/shard_members.h"

#include <algorithm>
#include <charconv>
#include <map>
#include <nlohmann/json.hpp>
#include <string_view>

#include "datasets/ascii.h"
#include "engine/core/result.h"

namespace lockstep {

namespace {

constexpr std::uint64_t kLongestNumber = 64, kLargestJson = 1 << 20;

// The members of one key, by number.
struct Sample {
    std::optional<std::size_t> number, json;
    std::vector<std::size_t> plain, named;  // pictures: KEY.jpg; KEY.input.jpg, of which one alone can be meant

    const std::vector<std::size_t>& pictures() const { return plain.empty() ? named : plain; }
};

bool isPictureEnding(std::string_view ending) { return ending == ".jpg" || ending == ".jpeg" || ending == ".png"; }

// "train/000123.seg.png": its key ends at the first dot of the name.
std::size_t endOfKey(std::string_view name) {
    const std::size_t slash = name.rfind('/');
    return std::min(name.find('.', slash == name.npos ? 0 : slash + 1), name.size());
}

std::string endingOf(std::string_view name) { return lowered(std::string(name.substr(endOfKey(name)))); }

// ".input.jpg": ".jpg".
std::string_view lastOf(std::string_view ending) { return ending.substr(std::min(ending.rfind('.'), ending.size())); }

std::map<std::string_view, Sample> samplesOf(const std::vector<MemberPlace>& members) {
    std::map<std::string_view, Sample> samples;
    for (std::size_t i = 0; i < members.size(); ++i) {
        const std::string_view name = members[i].name;
        const std::string ending = endingOf(name);
        Sample& sample = samples[name.substr(0, endOfKey(name))];
        if (ending == ".cls") sample.number = i;
        else if (ending == ".json") sample.json = i;
        else if (isPictureEnding(ending)) sample.plain.push_back(i);
        else if (isPictureEnding(lastOf(ending))) sample.named.push_back(i);
    }
    return samples;
}

std::string contents(const RandomFile& archive, const MemberPlace& member, std::uint64_t most) {
    if (member.kind != MemberPlace::Kind::File || member.bytes > most) return {};
    std::string text(member.bytes, '\0');
    text.resize(archive.read(member.offset, {reinterpret_cast<std::uint8_t*>(text.data()), text.size()}));
    return text;
}

// Empty: it is none.
std::string numberIn(const std::string& text) {
    const std::size_t begin = text.find_first_not_of(" \t\r\n");
    if (begin == text.npos) return {};
    std::int64_t number = -1;
    const char* const last = text.data() + text.size();
    const auto read = std::from_chars(text.data() + begin, last, number);
    const std::string_view rest(read.ptr, static_cast<std::size_t>(last - read.ptr));
    const bool isGood = read.ec == std::errc() && number >= 0 && rest.find_first_not_of(" \t\r\n") == rest.npos;
    return isGood ? std::to_string(number) : "";
}

std::string labelIn(const std::string& text) {
    const auto json = nlohmann::json::parse(text, nullptr, false);
    const auto label = json.is_object() ? json.find("label") : json.end();
    if (!json.is_object() || label == json.end()) return {};
    if (label->is_string()) return label->get<std::string>();
    return label->is_number_unsigned() ? std::to_string(label->get<std::uint64_t>()) : "";
}

std::string classOf(const RandomFile& archive, const std::vector<MemberPlace>& members, const Sample& sample) {
    if (sample.number) return numberIn(contents(archive, members[*sample.number], kLongestNumber));
    return labelIn(contents(archive, members[*sample.json], kLargestJson));
}

}  // namespace

bool isShard(const std::vector<MemberPlace>& members) {
    return std::ranges::any_of(samplesOf(members), [](const auto& entry) {
        const Sample& sample = entry.second;
        return !sample.pictures().empty() && (sample.number || sample.json);
    });
}

std::vector<ShardPicture> shardPictures(const RandomFile& archive, const std::vector<MemberPlace>& members,
                                        const std::function<void(const MemberPlace&, const char* code)>& skip) {
    std::vector<ShardPicture> pictures;
    for (const auto& [key, sample] : samplesOf(members)) {
        const auto label = sample.number ? sample.number : sample.json;
        const auto& found = sample.pictures();
        if (found.empty()) {
            if (label) skip(members[*label], "shard.no-image");
        } else if (found.size() > 1 || !label) {
            skip(members[found.front()], found.size() > 1 ? "shard.two-images" : "shard.no-label");
        } else if (std::string name = classOf(archive, members, sample); name.empty()) {
            skip(members[*label], "shard.bad-label");
        } else {
            pictures.push_back({found.front(), std::move(name)});
        }
    }
    return pictures;
}

}  // namespace lockstep
