#pragma once
#include <compare>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <iterator>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "datasets/mapped_file.h"

namespace lockstep {

// A file that is a sample, with all that is known of it.
struct LabelledFile {
    std::filesystem::path file;
    std::string name;  // within the split: "cat/0001.jpg"
    std::int32_t label = 0;
    std::uint64_t bytes = 0;
    std::int64_t modifiedNs = 0;
    std::int64_t changedNs = 0;  // of the inode: setting the other one back changes this
    std::int64_t archive = -1;   // in which it lies, by number, and where; the times are then the archive's
    std::uint64_t offset = 0;
};

// Where files lie: one's path is `path`/base name, its name within the split `prefix` + base name.
struct FileFolder {
    std::string path, prefix;
    std::int64_t archive = -1;  // LabelledFile::archive
};

// The names of a scan's files and their folders, which its lists share: the names in their folders one behind the
// other, each with a zero behind it. Grown by one thread, then read by any; or mapped, and never grown.
class FileNames {
public:
    FileNames() = default;
    // `names` ends with a zero, if it is not empty, and stays as long as `keeper`.
    FileNames(std::span<const char> names, std::vector<FileFolder> folders, std::shared_ptr<const MappedFile> keeper)
        : m_mapped(names), m_folders(std::move(folders)), m_keeper(std::move(keeper)) {}

    std::uint32_t addFolder(FileFolder folder);
    std::uint64_t add(std::string_view base);  // its place

    std::string_view at(std::uint64_t place) const { return bytes().data() + place; }
    const FileFolder& folder(std::uint32_t number) const { return m_folders[number]; }
    const std::vector<FileFolder>& folders() const { return m_folders; }
    bool isIntact() const { return !m_keeper || m_keeper->isAsMapped(); }  // nobody has changed what is mapped
    std::span<const char> bytes() const { return m_keeper ? m_mapped : std::span<const char>(m_own); }

private:
    std::string m_own;
    std::span<const char> m_mapped;
    std::vector<FileFolder> m_folders;
    std::shared_ptr<const MappedFile> m_keeper;
};

// What a list holds of a file: 48 bytes, as they lie in an index (picture_index.h), little-endian.
struct FileEntry {
    std::uint64_t bytes = 0;
    std::int64_t modifiedNs = 0, changedNs = 0;
    std::uint64_t offset = 0;
    std::uint64_t name = 0;    // FileNames::at
    std::uint32_t folder = 0;  // FileNames::folder
    std::int32_t label = 0;
};
static_assert(sizeof(FileEntry) == 48);

// Files with their labels, of which a million takes some 70 MB: LabelledFile is made when one is asked for. Grown by
// one thread, then read by any; or of mapped entries, and never grown.
class FileList {
public:
    class Iterator;

    FileList() : FileList(std::make_shared<FileNames>()) {}
    explicit FileList(std::shared_ptr<FileNames> names) : m_names(names), m_grown(std::move(names)) {}
    // `entries` stay as long as the names.
    FileList(std::span<const FileEntry> entries, std::shared_ptr<const FileNames> names)
        : m_mapped(entries), m_names(std::move(names)) {}

    std::size_t size() const { return entries().size(); }
    bool empty() const { return entries().empty(); }
    std::span<const FileEntry> entries() const { return m_grown ? std::span<const FileEntry>(m_own) : m_mapped; }
    const FileEntry& entry(std::size_t index) const { return entries()[index]; }
    const FileFolder& folderOf(std::size_t index) const { return m_names->folder(entry(index).folder); }
    std::string nameOf(std::size_t index) const;  // within the split
    std::string fileOf(std::size_t index) const;  // its path
    LabelledFile operator[](std::size_t index) const;
    std::uint64_t identity() const;  // a hash of names within the split, sizes and labels: equal wherever they lie
    Iterator begin() const;
    Iterator end() const;

    void add(const FileEntry& entry) { m_own.push_back(entry); }  // of these names
    void add(const FileList& others);                             // likewise
    void sort();                                                  // by label, then by name within the split
    void label(std::size_t index, std::int32_t label) { m_own[index].label = label; }
    const std::shared_ptr<FileNames>& growingNames() const { return m_grown; }  // null: mapped
    const FileNames& names() const { return *m_names; }

private:
    std::vector<FileEntry> m_own;
    std::span<const FileEntry> m_mapped;
    std::shared_ptr<const FileNames> m_names;
    std::shared_ptr<FileNames> m_grown;
};

// Gives the files by value.
class FileList::Iterator {
public:
    using iterator_concept = std::random_access_iterator_tag;
    using iterator_category = std::input_iterator_tag;
    using value_type = LabelledFile;
    using difference_type = std::ptrdiff_t;
    using reference = LabelledFile;
    using pointer = void;

    Iterator() = default;
    Iterator(const FileList& list, std::ptrdiff_t at) : m_list(&list), m_at(at) {}
    LabelledFile operator*() const { return (*this)[0]; }
    LabelledFile operator[](std::ptrdiff_t by) const { return (*m_list)[static_cast<std::size_t>(m_at + by)]; }
    Iterator& operator++() { return *this += 1; }
    Iterator& operator--() { return *this -= 1; }
    Iterator operator++(int) { return {*m_list, m_at++}; }
    Iterator operator--(int) { return {*m_list, m_at--}; }
    Iterator& operator+=(std::ptrdiff_t by) { return m_at += by, *this; }
    Iterator& operator-=(std::ptrdiff_t by) { return m_at -= by, *this; }
    friend Iterator operator+(Iterator it, std::ptrdiff_t by) { return it += by; }
    friend Iterator operator+(std::ptrdiff_t by, Iterator it) { return it += by; }
    friend Iterator operator-(Iterator it, std::ptrdiff_t by) { return it -= by; }
    friend std::ptrdiff_t operator-(const Iterator& a, const Iterator& b) { return a.m_at - b.m_at; }
    friend bool operator==(const Iterator& a, const Iterator& b) { return a.m_at == b.m_at; }
    friend auto operator<=>(const Iterator& a, const Iterator& b) { return a.m_at <=> b.m_at; }

private:
    const FileList* m_list = nullptr;
    std::ptrdiff_t m_at = 0;
};

inline FileList::Iterator FileList::begin() const { return {*this, 0}; }
inline FileList::Iterator FileList::end() const { return {*this, std::ssize(entries())}; }

}  // namespace lockstep
