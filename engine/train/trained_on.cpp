#include "engine/train/trained_on.h"

#include "engine/spec/json_fields.h"
#include "engine/train/checkpoint.h"
#include "engine/train/open_data.h"

namespace lockstep {

namespace {

struct FieldText {
    std::string name, type;
    std::vector<std::int64_t> shape;
};
struct TrainedOn {
    std::string dataset, channels = {};  // "grey", "RGB": for whoever reads images elsewhere
    std::vector<FieldText> fields;
    std::vector<std::string> classes;
    std::vector<float> mean, deviation;
    double seenShare = 0;            // 0: all
    std::string interpolation = {};  // empty: bilinear
    std::string decode = {};         // empty: fast
};
constexpr const char *kBicubic = "bicubic", *kExact = "exact";

void fields(auto& v, auto& e, const FieldText*) { v("name", e.name), v("type", e.type), v("shape", e.shape); }
void fields(auto& v, auto& e, const TrainedOn*) {
    v("dataset", e.dataset), v("fields", e.fields), v("classes", e.classes), v.optional("channels", e.channels);
    v("mean", e.mean), v("deviation", e.deviation);
    v.optional("seen_share", e.seenShare), v.optional("interpolation", e.interpolation);
    v.optional("decode", e.decode);
}

std::optional<DType> dtypeNamed(std::string_view name) {
    for (const DType each : {DType::F32, DType::F64, DType::I32, DType::I64, DType::U8, DType::F16, DType::BF16}) {
        if (text(each) == name) return each;
    }
    return std::nullopt;
}

bool isPossible(const std::vector<std::int64_t>& shape) {
    std::int64_t room = 1 << 28;  // elements
    for (const std::int64_t extent : shape) {
        if (extent < 1 || extent > room) return false;
        room /= extent;
    }
    return !shape.empty() && std::cmp_less_equal(shape.size(), Shape::kMaxRank);
}

// Those of dataset.h that the engine reads without another look. Data of a plugin may have fields of their own besides.
bool hasItsForm(const Field& field) {
    const auto& [shape, dtype] = field.type;
    if (field.name == "image") return shape.rank() == 3 && dtype == DType::U8;
    return field.name != "label" || (shape == Shape{1} && dtype == DType::I32);
}

std::optional<Field> fieldFrom(const FieldText& field) {
    const auto dtype = dtypeNamed(field.type);
    if (!dtype || field.name.empty() || !isPossible(field.shape)) return std::nullopt;
    Field out{field.name, {Shape(std::span(field.shape)), *dtype}};
    return hasItsForm(out) ? std::optional(std::move(out)) : std::nullopt;
}

}  // namespace

std::string trainedOnText(const DatasetInfo& train) {
    const int channels = train.image().channels;
    const std::string order = channels == 1 ? "grey" : channels == 3 ? "RGB" : "";
    TrainedOn out{train.id, order, {}, train.classes, train.mean, train.deviation};
    if (train.seenShare < 1) out.seenShare = train.seenShare;
    if (train.interpolation == Interpolation::Bicubic) out.interpolation = kBicubic;
    if (train.decodesExactly) out.decode = kExact;
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
    if (in.seenShare > 0 && in.seenShare < 1) info.seenShare = in.seenShare;
    if (in.interpolation == kBicubic) info.interpolation = Interpolation::Bicubic;
    info.decodesExactly = in.decode == kExact;
    for (const FieldText& each : in.fields) {
        auto field = fieldFrom(each);
        if (!field || findField(info.fields, field->name)) return std::nullopt;
        info.fields.push_back(std::move(*field));
    }
    const auto channels = static_cast<std::size_t>(info.image().channels);
    const bool isImage = findField(info.fields, "image") != nullptr;
    if (info.classes.empty() || (isImage && (info.mean.size() != channels || info.deviation.size() != channels)))
        return std::nullopt;
    return info;
}

DataKnown knownBy(const Checkpoint& checkpoint) {
    if (!checkpoint.trainedOn) return {};
    return {trainedOnText(*checkpoint.trainedOn), checkpoint.data};
}

Result<DatasetInfo> trainedOn(const Checkpoint& checkpoint, const ResolvedSpec& resolved) {
    if (checkpoint.trainedOn) return *checkpoint.trainedOn;
    const auto data = openData(resolved);
    if (!data.ok()) return data.problems();
    DatasetInfo info = data.value().train->info();
    info.inMemory = false;
    return info;
}

}  // namespace lockstep
