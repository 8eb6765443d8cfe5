#include "datasets/file_list.h"

#include <algorithm>
#include <utility>

#include "engine/core/content_hash.h"

namespace lockstep {

std::uint32_t FileNames::addFolder(FileFolder folder) {
    m_folders.push_back(std::move(folder));
    return static_cast<std::uint32_t>(m_folders.size() - 1);
}

std::uint64_t FileNames::add(std::string_view base) {
    const std::uint64_t place = m_own.size();
    m_own += base;
    m_own += '\0';
    return place;
}

std::string FileList::nameOf(std::size_t index) const {
    const FileEntry& of = entry(index);
    return m_names->folder(of.folder).prefix + std::string(m_names->at(of.name));
}

std::string FileList::fileOf(std::size_t index) const {
    const FileEntry& of = entry(index);
    const std::string& folder = m_names->folder(of.folder).path;
    std::string file;
    file.reserve(folder.size() + 64);
    file += folder;
    if (!folder.ends_with('/')) file += '/';
    return file += m_names->at(of.name);
}

LabelledFile FileList::operator[](std::size_t index) const {
    const FileEntry& of = entry(index);
    return {fileOf(index), nameOf(index),           of.label, of.bytes, of.modifiedNs,
            of.changedNs,  folderOf(index).archive, of.offset};
}

void FileList::add(const FileList& others) {
    const auto more = others.entries();
    m_own.insert(m_own.end(), more.begin(), more.end());
}

namespace {

// Compares two parts of a name each, as if they were joined.
std::strong_ordering compared(std::string_view a, std::string_view b, std::string_view endOfA,
                              std::string_view endOfB) {
    if (a.size() > b.size()) return 0 <=> compared(b, a, endOfB, endOfA);
    const std::string_view same = b.substr(0, a.size()), rest = b.substr(a.size());
    if (const auto order = a <=> same; order != 0) return order;
    if (const auto order = endOfA.substr(0, rest.size()) <=> rest; order != 0) return order;
    return endOfA.substr(rest.size()) <=> endOfB;
}

}  // namespace

void FileList::sort() {
    std::ranges::sort(m_own, [&](const FileEntry& a, const FileEntry& b) {
        if (a.label != b.label) return a.label < b.label;
        if (a.folder == b.folder) return m_names->at(a.name) < m_names->at(b.name);
        return compared(m_names->folder(a.folder).prefix, m_names->folder(b.folder).prefix, m_names->at(a.name),
                        m_names->at(b.name)) < 0;
    });
}

std::uint64_t FileList::identity() const {
    ContentHash hash;
    std::int64_t folder = -1;
    for (const FileEntry& each : entries()) {
        if (std::exchange(folder, each.folder) != each.folder)
            hash.add(std::string_view(m_names->folder(each.folder).prefix));
        hash.add(m_names->at(each.name));
        hash.add(each.bytes);
        hash.add(static_cast<std::uint64_t>(each.label));
    }
    return hash.value();
}

}  // namespace lockstep
