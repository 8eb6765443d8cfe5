#include "engine/data/dataset.h"

#include <cassert>

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

ImageShape DatasetInfo::image() const {
    const Field* field = findField(fields, "image");
    if (!field) return {0, 0, 0};
    const Shape& shape = field->type.shape;
    assert(shape.rank() == 3 && field->type.dtype == DType::U8);
    return {static_cast<int>(shape[0]), static_cast<int>(shape[1]), static_cast<int>(shape[2])};
}

}  // namespace lockstep
