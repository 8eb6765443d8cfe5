#include "engine/train/trained_on.h"

#include "engine/spec/json_fields.h"

namespace lockstep {

namespace {

struct FieldText {
    std::string name, type;
    std::vector<std::int64_t> shape;
};
struct TrainedOn {
    std::string dataset;
    std::vector<FieldText> fields;
    std::vector<std::string> classes;
    std::vector<float> mean, deviation;
};

void fields(auto& v, auto& e, const FieldText*) { v("name", e.name), v("type", e.type), v("shape", e.shape); }
void fields(auto& v, auto& e, const TrainedOn*) {
    v("dataset", e.dataset), v("fields", e.fields), v("classes", e.classes);
    v("mean", e.mean), v("deviation", e.deviation);
}

std::optional<DType> dtypeNamed(std::string_view name) {
    for (const DType each : {DType::F32, DType::F64, DType::I32, DType::I64, DType::U8, DType::F16, DType::BF16}) {
        if (text(each) == name) return each;
    }
    return std::nullopt;
}

std::optional<Field> fieldFrom(const FieldText& field) {
    const auto dtype = dtypeNamed(field.type);
    if (!dtype || field.name.empty() || std::cmp_greater(field.shape.size(), Shape::kMaxRank)) return std::nullopt;
    for (const std::int64_t extent : field.shape) {
        if (extent < 1 || extent > 1 << 20) return std::nullopt;
    }
    return Field{field.name, {Shape(std::span(field.shape)), *dtype}};
}

}  // namespace

std::string trainedOnText(const DatasetInfo& train) {
    TrainedOn out{train.id, {}, train.classes, train.mean, train.deviation};
    for (const Field& field : train.fields) {
        const auto dims = field.type.shape.dims();
        out.fields.push_back({field.name, std::string(text(field.type.dtype)), {dims.begin(), dims.end()}});
    }
    std::string json;
    JsonFieldWriter(json).put(out);
    return json;
}

std::optional<DatasetInfo> trainedOnFrom(const std::string& text) {
    const auto object = nlohmann::json::parse(text, nullptr, false);
    if (!object.is_object()) return std::nullopt;
    TrainedOn in;
    try {
        JsonFieldReader reader(object);
        fields(reader, in, static_cast<const TrainedOn*>(nullptr));
    } catch (const BadJsonField&) {
        return std::nullopt;
    }
    DatasetInfo info;
    info.id = in.dataset;
    info.classes = in.classes;
    info.mean = in.mean;
    info.deviation = in.deviation;
    for (const FieldText& each : in.fields) {
        auto field = fieldFrom(each);
        if (!field) return std::nullopt;
        info.fields.push_back(std::move(*field));
    }
    const auto channels = static_cast<std::size_t>(info.image().channels);
    const bool isImage = findField(info.fields, "image") != nullptr;
    if (info.classes.empty() || (isImage && (info.mean.size() != channels || info.deviation.size() != channels)))
        return std::nullopt;
    return info;
}

}  // namespace lockstep
