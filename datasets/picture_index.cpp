#include "datasets/picture_index.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdio>
#include <cstring>

#include "datasets/changed_file.h"
#include "datasets/mapped_file.h"
#include "datasets/words_in_bytes.h"
#include "engine/core/content_hash.h"
#include "engine/core/durable_file.h"

namespace lockstep {

namespace {

namespace fs = std::filesystem;

using Measured = std::map<std::uint64_t, std::vector<double>>;

// The last digit is the version: of this file, and of the rules by which folders are listed.
constexpr std::array<char, 8> kIndexMagic{'L', 'S', 'I', 'N', 'D', 'E', 'X', '1'};

// In the file behind it: the entries of each list, the names, and the rest as words. Little-endian on every machine
// that we build for; an index never leaves its machine.
struct IndexHeader {
    std::array<char, 8> magic = kIndexMagic;
    std::uint64_t key = 0;
    std::uint64_t train = 0, test = 0, validation = 0;  // entries
    std::uint64_t nameBytes = 0, restBytes = 0;
    std::uint64_t checksum = 0;
};

// The parts of an index, wherever they lie.
struct IndexParts {
    std::span<const FileEntry> train, test, validation;
    std::span<const char> names;
    std::span<const std::uint8_t> rest;
};

std::uint64_t checksum(const IndexHeader& header, const IndexParts& parts) {
    ContentHash hash;
    hash.add(header.key);
    for (const auto& entries : {parts.train, parts.test, parts.validation}) hash.add(std::as_bytes(entries));
    hash.add(std::as_bytes(parts.names));
    hash.add(parts.rest);
    return hash.value();
}

// --- the rest ---

void write(WordWriter& out, const std::vector<WatchedPath>& watched) {
    out.number(std::uint64_t{watched.size()});
    for (const WatchedPath& each : watched) {
        out.text(each.path.native());
        out.number(static_cast<std::uint64_t>(each.kind));
        out.number(each.number), out.number(each.bytes), out.number(each.modifiedNs), out.number(each.changedNs);
    }
}

void write(WordWriter& out, const std::vector<FileFolder>& folders) {
    out.number(std::uint64_t{folders.size()});
    for (const FileFolder& each : folders) out.text(each.path), out.text(each.prefix), out.number(each.archive);
}

void write(WordWriter& out, const Measured& measured) {
    out.number(std::uint64_t{measured.size()});
    for (const auto& [what, values] : measured) {
        out.number(what), out.number(std::uint64_t{values.size()});
        for (const double value : values) out.number(std::bit_cast<std::uint64_t>(value));
    }
}

std::vector<std::uint8_t> restOf(const fs::path& root, const FolderScan& scan, const Measured& measured) {
    WordWriter out;
    out.text(root.native());
    out.number(std::uint64_t{scan.classes.size()});
    for (const std::string& each : scan.classes) out.text(each);
    out.number(std::uint64_t{scan.archives.size()});
    for (const fs::path& each : scan.archives) out.text(each.native());
    out.number(std::uint64_t{scan.skipped.size()});
    for (const SkippedFile& each : scan.skipped) out.text(each.file.native()), out.problem(each.reason);
    out.number(std::uint64_t{scan.notes.size()});
    for (const Problem& each : scan.notes) out.problem(each);
    write(out, scan.watched);
    write(out, scan.names->folders());
    write(out, measured);
    return std::move(out.out);
}

// As many as it says, as long as there are any.
template <class Read>
void each(WordReader& in, Read read) {
    for (std::uint64_t left = in.number(); left > 0 && in.good(); --left) read();
}

WatchedPath readWatched(WordReader& in) {
    WatchedPath read{in.text()};
    read.kind = static_cast<WatchedPath::Kind>(in.number());
    read.number = in.number(), read.bytes = in.number();
    read.modifiedNs = in.signedNumber(), read.changedNs = in.signedNumber();
    return read;
}

FileFolder readFolder(WordReader& in) {
    FileFolder read{in.text(), in.text()};
    read.archive = in.signedNumber();
    return read;
}

void readMeasured(WordReader& in, Measured& measured) {
    each(in, [&] {
        auto& values = measured[in.number()];
        each(in, [&] { values.push_back(std::bit_cast<double>(in.number())); });
    });
}

// False: it is of another folder, or not what was written.
bool readRest(WordReader in, const fs::path& root, FolderScan& scan, std::vector<FileFolder>& folders,
              Measured& measured) {
    if (in.text() != root.native()) return false;
    each(in, [&] { scan.classes.push_back(in.text()); });
    each(in, [&] { scan.archives.emplace_back(in.text()); });
    each(in, [&] {
        fs::path file = in.text();
        scan.skipped.push_back({std::move(file), in.problem()});
    });
    each(in, [&] { scan.notes.push_back(in.problem()); });
    each(in, [&] { scan.watched.push_back(readWatched(in)); });
    each(in, [&] { folders.push_back(readFolder(in)); });
    readMeasured(in, measured);
    return in.atEnd();
}

// --- the whole ---

// Nothing: the file is of another kind, version or length, or its bytes are not those that were written.
std::optional<IndexParts> partsOf(std::span<const std::byte> bytes, std::uint64_t key) {
    IndexHeader header;
    if (bytes.size() < sizeof header) return std::nullopt;
    std::memcpy(&header, bytes.data(), sizeof header);
    if (header.magic != kIndexMagic || header.key != key) return std::nullopt;
    bool isShort = false;
    bytes = bytes.subspan(sizeof header);
    const auto take = [&]<class T>(std::span<const T>& into, std::uint64_t count) {
        isShort = isShort || count > bytes.size() / sizeof(T);
        if (isShort) return;
        into = {reinterpret_cast<const T*>(bytes.data()), count};
        bytes = bytes.subspan(count * sizeof(T));
    };
    IndexParts parts;
    take(parts.train, header.train), take(parts.test, header.test), take(parts.validation, header.validation);
    take(parts.names, header.nameBytes), take(parts.rest, header.restBytes);
    if (isShort || !bytes.empty() || header.checksum != checksum(header, parts)) return std::nullopt;
    return parts;
}

// A hash is no proof: what it lets pass reads nothing beyond.
bool isSound(const FileList& list, const FolderScan& scan, const FileNames& names) {
    const auto isFolder = [&](const FileFolder& folder) {
        return folder.archive >= -1 && folder.archive < std::ssize(scan.archives);
    };
    return std::ranges::all_of(names.folders(), isFolder) &&
           std::ranges::all_of(list.entries(), [&](const FileEntry& entry) {
               return entry.name < names.bytes().size() && entry.folder < names.folders().size() && entry.label >= 0 &&
                      entry.label < std::ssize(scan.classes);
           });
}

// Those in archives are as their archives are, which are watched.
bool isAsListed(const FileList& list, const Reading& reading) {
    for (std::size_t i = 0; i < list.size(); ++i) {
        reading.goOn();
        const FileEntry& listed = list.entry(i);
        const WatchedPath now = watched(list.fileOf(i));
        if (now.bytes != listed.bytes || now.modifiedNs != listed.modifiedNs || now.changedNs != listed.changedNs)
            return false;
    }
    return true;
}

bool isUpToDate(const FolderScan& scan, const Reading& reading) {
    return std::ranges::all_of(scan.watched, [&](const WatchedPath& before) {
        reading.goOn();
        return watched(before.path) == before;
    });
}

// A time this near may be that of what is written next, too: file systems count in ticks, of up to two seconds.
bool isFresh(const FolderScan& scan, std::int64_t nowNs) {
    constexpr std::int64_t kTick = 2'000'000'000;
    const auto isNear = [&](std::int64_t time) { return time > scan.begunNs - kTick && time <= nowNs + kTick; };
    const auto isEntryNear = [&](const FileEntry& entry) { return isNear(entry.modifiedNs); };
    return std::ranges::any_of(scan.watched, isNear, &WatchedPath::modifiedNs) ||
           std::ranges::any_of(scan.train.entries(), isEntryNear) ||
           std::ranges::any_of(scan.test.entries(), isEntryNear) ||
           std::ranges::any_of(scan.validation.entries(), isEntryNear);
}

fs::path fileFor(const fs::path& cacheFolder, std::uint64_t key) {
    if (cacheFolder.empty()) return {};
    char name[48];
    std::snprintf(name, sizeof name, "%016llx.picture-index", static_cast<unsigned long long>(key));
    return cacheFolder / name;
}

}  // namespace

PictureIndex::PictureIndex(const fs::path& cacheFolder, fs::path root, double testShare)
    : m_root(std::move(root)), m_testShare(testShare), m_file(fileFor(cacheFolder, key())) {}

std::uint64_t PictureIndex::key() const {
    ContentHash hash;
    hash.add(std::string_view(m_root.native()));
    hash.add(std::bit_cast<std::uint64_t>(m_testShare));
    return hash.value();
}

std::optional<FolderScan> PictureIndex::open(const Reading& reading) {
    const auto mapped = m_file.empty() ? nullptr : MappedFile::open(m_file);
    const auto parts = mapped ? partsOf(mapped->bytes(), key()) : std::nullopt;
    if (!parts || (!parts->names.empty() && parts->names.back() != '\0')) return std::nullopt;
    FolderScan scan;
    Measured measured;
    std::vector<FileFolder> folders;
    if (!readRest(WordReader(parts->rest), m_root, scan, folders, measured)) return std::nullopt;
    scan.names = std::make_shared<FileNames>(parts->names, std::move(folders), mapped);
    scan.train = FileList(parts->train, scan.names);
    scan.test = FileList(parts->test, scan.names);
    scan.validation = FileList(parts->validation, scan.names);
    for (const FileList* list : {&scan.train, &scan.test, &scan.validation})
        if (!isSound(*list, scan, *scan.names)) return std::nullopt;
    if (!isUpToDate(scan, reading)) return std::nullopt;
    scan.index = m_file;
    m_measured = std::move(measured);
    m_mapped = mapped;
    return scan;
}

void PictureIndex::requireUnchanged() const {
    if (!m_mapped || m_mapped->isAsMapped()) return;
    damagedIndex(m_file);
}

bool PictureIndex::write(FolderScan& scan) {
    const bool isOutdated = !scan.index.empty() && !fs::exists(scan.index);
    if (m_file.empty() || isOutdated || isFresh(scan, nowNs())) return false;
    const auto rest = restOf(m_root, scan, m_measured);
    const IndexParts parts{scan.train.entries(), scan.test.entries(), scan.validation.entries(), scan.names->bytes(),
                           rest};
    IndexHeader header{.key = key(),
                       .train = parts.train.size(),
                       .test = parts.test.size(),
                       .validation = parts.validation.size(),
                       .nameBytes = parts.names.size(),
                       .restBytes = rest.size()};
    header.checksum = checksum(header, parts);
    fs::create_directories(m_file.parent_path());
    const std::span<const std::byte> pieces[] = {
        std::as_bytes(std::span(&header, 1)), std::as_bytes(parts.train), std::as_bytes(parts.test),
        std::as_bytes(parts.validation),      std::as_bytes(parts.names), std::as_bytes(parts.rest)};
    replaceFile(m_file, pieces);
    scan.index = m_file;
    m_hasNews = false;
    return true;
}

void PictureIndex::keep(std::uint64_t what, std::vector<double> values, std::int64_t read, std::int64_t tried) {
    if (10 * read < 9 * tried) return;
    m_measured[what] = std::move(values);
    m_hasNews = true;
}

bool areAsListed(const FolderScan& scan, const Reading& reading) {
    return !scan.archives.empty() ||
           (isAsListed(scan.train, reading) && isAsListed(scan.test, reading) && isAsListed(scan.validation, reading));
}

const std::vector<double>* PictureIndex::measured(std::uint64_t what) const {
    const auto found = m_measured.find(what);
    return found == m_measured.end() ? nullptr : &found->second;
}

}  // namespace lockstep
