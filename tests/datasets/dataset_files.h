#pragma once
#include <QTemporaryDir>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "datasets/catalog.h"
#include "engine/data/sample.h"

// Small files for the tests of parsers.
namespace lockstep::test {

using Bytes = std::vector<std::uint8_t>;

inline void writeFile(const std::filesystem::path& file, std::span<const std::uint8_t> bytes) {
    std::filesystem::create_directories(file.parent_path());
    std::ofstream out(file, std::ios::binary);
    out.write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
}

inline Bytes readFile(const std::filesystem::path& file) {
    std::ifstream in(file, std::ios::binary);
    return Bytes(std::istreambuf_iterator<char>(in), {});
}

inline void putWord(Bytes& bytes, std::uint32_t word) {
    for (int shift = 24; shift >= 0; shift -= 8) bytes.push_back(static_cast<std::uint8_t>(word >> shift));
}

// Image i is filled with i + position.
inline Bytes idxImages(std::uint32_t count, std::uint32_t height, std::uint32_t width) {
    Bytes bytes;
    for (const std::uint32_t word : {0x803u, count, height, width}) putWord(bytes, word);
    for (std::uint32_t i = 0; i < count; ++i) {
        for (std::uint32_t p = 0; p < height * width; ++p) bytes.push_back(static_cast<std::uint8_t>(i + p));
    }
    return bytes;
}

inline Bytes idxLabels(const Bytes& labels) {
    Bytes bytes;
    putWord(bytes, 0x801);
    putWord(bytes, static_cast<std::uint32_t>(labels.size()));
    bytes.insert(bytes.end(), labels.begin(), labels.end());
    return bytes;
}

struct Folder {
    QTemporaryDir dir;
    std::filesystem::path path() const { return dir.path().toStdString(); }
    std::filesystem::path operator/(const std::string& name) const { return path() / name; }
};

inline DatasetEntry entry(const std::string& id, const std::filesystem::path& cache = {}) {
    for (const DatasetEntry& each : builtinDatasets(cache)) {
        if (each.id == id) return each;
    }
    std::abort();
}

inline ParamValues params(const DatasetEntry& of, const std::map<std::string, ParamValue>& given = {}) {
    return ParamValues::from(of.params, given, "").value();
}

inline Result<DatasetSplits> open(const std::string& id, const std::filesystem::path& path,
                                  const std::map<std::string, ParamValue>& given = {}) {
    const DatasetEntry of = entry(id);
    return of.open(path, params(of, given), {});
}

// The code of the first problem, or "ok".
template <class T>
std::string codeOf(const Result<T>& result) {
    return result.ok() ? "ok" : result.problems().front().code;
}

inline Bytes imageOf(const Dataset& data, std::int64_t index) {
    Sample sample(data);
    const auto image = sample.read(index).image();
    return {image.begin(), image.end()};
}

inline std::int32_t labelOf(const Dataset& data, std::int64_t index) { return Sample(data).read(index).label(); }

// Real data outside the repository, or nothing.
inline std::optional<std::filesystem::path> sharedData(const std::string& name) {
    const char* given = std::getenv("LOCKSTEP_TEST_DATA");
    const std::filesystem::path folder =
        given ? std::filesystem::path(given) : std::filesystem::path(LOCKSTEP_SOURCE_DIR) / ".." / "shared" / "data";
    if (!std::filesystem::exists(folder / name)) return std::nullopt;
    return folder / name;
}

inline Result<DatasetReport> inspectImages(const std::filesystem::path& path) {
    const DatasetEntry of = entry("image-folder");
    return of.inspect(path, params(of), {});
}

// The code of what kept a file of that name out of the samples.
inline std::string reasonFor(const DatasetReport& report, const std::string& name) {
    for (const SkippedFile& file : report.skipped) {
        if (file.file.filename() == name) return file.reason.code;
    }
    return "not skipped";
}

// Of the format that a place is recognised as, or of the problem.
inline std::string idAt(const std::filesystem::path& path) {
    const auto all = builtinDatasets({});
    const auto found = recogniseDataset(all, path);
    return found.ok() ? found.value()->id : found.problems().front().code;
}

}  // namespace lockstep::test
