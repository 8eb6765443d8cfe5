#include "datasets/named_pictures.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

namespace lockstep {

namespace {

bool isNumber(const std::string& text) {
    return !text.empty() && std::ranges::all_of(text, [](unsigned char c) { return c >= '0' && c <= '9'; });
}

void holdOutOfEach(std::vector<LabelledFile> files, double share, FolderScan& scan) {
    const auto isOther = [](const LabelledFile& a, const LabelledFile& b) { return a.label != b.label; };
    for (auto begin = files.begin(); begin != files.end();) {
        auto end = std::ranges::adjacent_find(begin, files.end(), isOther);
        if (end != files.end()) ++end;
        holdOut(std::vector<LabelledFile>(begin, end), share, scan);
        begin = end;
    }
}

}  // namespace

std::vector<std::string> classesOf(const std::vector<NamedPicture>& pictures) {
    std::set<std::string> names;
    for (const NamedPicture& each : pictures) names.insert(each.className);
    std::vector<std::string> classes(names.begin(), names.end());
    const auto length = [](const std::string& name) { return name.size(); };
    if (std::ranges::all_of(classes, isNumber)) std::ranges::stable_sort(classes, {}, length);
    return classes;
}

std::vector<LabelledFile> labelled(std::vector<NamedPicture> pictures, const std::vector<std::string>& classes) {
    std::map<std::string_view, std::int32_t> labels;
    for (const std::string& name : classes) labels.emplace(name, static_cast<std::int32_t>(labels.size()));
    std::vector<LabelledFile> files;
    for (NamedPicture& each : pictures) {
        const auto known = labels.find(each.className);
        if (known == labels.end())
            throw ProblemError({each.file.file.string(), "picture.unknown-class", {each.className}});
        files.push_back(std::move(each.file));
        files.back().label = known->second;
    }
    std::ranges::sort(files, {}, [](const LabelledFile& file) { return std::tie(file.label, file.name); });
    return files;
}

void addSplits(FolderScan& scan, NamedSplits splits, double testShare) {
    if (splits.test.empty()) std::swap(splits.test, splits.validation);
    scan.classes = classesOf(splits.train);
    auto train = labelled(std::move(splits.train), scan.classes);
    scan.test = labelled(std::move(splits.test), scan.classes);
    scan.validation = labelled(std::move(splits.validation), scan.classes);
    if (scan.test.empty()) holdOutOfEach(std::move(train), testShare, scan);
    else scan.train = std::move(train);
}

}  // namespace lockstep
