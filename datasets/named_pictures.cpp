#include "datasets/named_pictures.h"

#include <algorithm>
#include <map>
#include <set>

#include "datasets/ascii.h"

namespace lockstep {

namespace {

void holdOutOfEach(const FileList& files, double share, FolderScan& scan) {
    FileList ofOne(scan.names);
    for (std::size_t i = 0; i < files.size(); ++i) {
        ofOne.add(files.entry(i));
        if (i + 1 < files.size() && files.entry(i + 1).label == files.entry(i).label) continue;
        holdOut(ofOne, share, scan);
        ofOne = FileList(scan.names);
    }
}

}  // namespace

void NamedPictures::add(FileEntry file, const std::string& className) {
    const auto [place, isNew] = m_places.emplace(className, static_cast<std::int32_t>(m_classNames.size()));
    if (isNew) m_classNames.push_back(className);
    file.label = place->second;
    m_files.add(file);
}

FileList NamedPictures::labelled(const std::vector<std::string>& classes) && {
    std::map<std::string_view, std::int32_t> labels;
    for (const std::string& name : classes) labels.emplace(name, static_cast<std::int32_t>(labels.size()));
    for (std::size_t i = 0; i < m_files.size(); ++i) {
        const std::string& name = m_classNames[static_cast<std::size_t>(m_files.entry(i).label)];
        const auto known = labels.find(name);
        if (known == labels.end()) throw ProblemError({m_files.fileOf(i), "picture.unknown-class", {name}});
        m_files.label(i, known->second);
    }
    m_files.sort();
    return std::move(m_files);
}

std::vector<std::string> classesOf(const NamedPictures& pictures) {
    const std::set<std::string> names(pictures.classNames().begin(), pictures.classNames().end());
    std::vector<std::string> classes(names.begin(), names.end());
    const auto length = [](const std::string& name) { return name.size(); };
    if (std::ranges::all_of(classes, isNumber)) std::ranges::stable_sort(classes, {}, length);
    return classes;
}

void addSplits(FolderScan& scan, NamedSplits splits, double testShare) {
    if (splits.test.empty()) std::swap(splits.test, splits.validation);
    scan.classes = classesOf(splits.train);
    FileList train = std::move(splits.train).labelled(scan.classes);
    scan.test = std::move(splits.test).labelled(scan.classes);
    scan.validation = std::move(splits.validation).labelled(scan.classes);
    if (scan.test.empty()) holdOutOfEach(train, testShare, scan);
    else scan.train = std::move(train);
}

}  // namespace lockstep
