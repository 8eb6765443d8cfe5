#include "engine/data/dataset.h"

#include <algorithm>
#include <cassert>

#include "engine/core/content_hash.h"
#include "engine/core/error.h"
#include "engine/data/sample.h"

namespace lockstep {

std::vector<Field> imageFields(const ImageShape& shape) {
    return {{"image", {{shape.channels, shape.height, shape.width}, DType::U8}}, {"label", {{1}, DType::I32}}};
}

std::vector<Field> languageFields(std::int64_t tokens) {
    return {{"tokens", {{tokens}, DType::I32}}, {"targets", {{tokens}, DType::I32}}};
}

std::vector<Field> textFields(std::int64_t tokens) {
    return {{"tokens", {{tokens}, DType::I32}}, {"length", {{1}, DType::I32}}, {"label", {{1}, DType::I32}}};
}

Result<std::filesystem::path> dataPathOf(const DatasetEntry& entry, const std::filesystem::path& given) {
    const std::filesystem::path& path = given.empty() ? entry.defaultPath : given;
    if (entry.needsPath && path.empty())
        return Problem{"dataset.path", "spec.no-data-path", {entry.id, entry.remedy.empty() ? "" : " " + entry.remedy}};
    return path;
}

std::optional<std::uint64_t> Dataset::fingerprint() const {
    constexpr std::int64_t kMost = 64;
    const DatasetInfo& about = info();
    ContentHash hash;
    hash.add(text(about.fields));
    Sample sample(*this);
    const std::int64_t taken = std::min(about.count, kMost);
    for (std::int64_t i = 0; i < taken; ++i) {
        try {
            sample.read(taken > 1 ? i * (about.count - 1) / (taken - 1) : 0);
            for (std::size_t field = 0; field < about.fields.size(); ++field) hash.add(sample.bytes(field));
        } catch (const EngineError&) {  // whoever trains on it will hear why
            return std::nullopt;
        }
    }
    return hash.value();
}

std::optional<DataFingerprint> fingerprintOf(const DatasetSplits& splits) {
    const auto train = splits.train->fingerprint(), test = splits.test->fingerprint();
    if (!train || !test) return std::nullopt;
    DataFingerprint all{{splits.train->info().count, *train}, {splits.test->info().count, *test}};
    if (!splits.validation) return all;
    const auto validation = splits.validation->fingerprint();
    if (!validation) return std::nullopt;
    all.validation = {splits.validation->info().count, *validation};
    return all;
}

ImageShape DatasetInfo::image() const {
    const Field* field = findField(fields, "image");
    if (!field) return {0, 0, 0};
    const Shape& shape = field->type.shape;
    assert(shape.rank() == 3 && field->type.dtype == DType::U8);
    return {static_cast<int>(shape[0]), static_cast<int>(shape[1]), static_cast<int>(shape[2])};
}

}  // namespace lockstep
