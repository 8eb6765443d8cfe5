#include "tests/ops/onnx_vectors.h"

#include <onnx/onnx_pb.h>

#include <algorithm>
#include <cstring>
#include <fstream>

namespace lockstep::test {

namespace {

namespace fs = std::filesystem;

template <class Message>
std::optional<Message> parsed(const fs::path& file) {
    std::ifstream stream(file, std::ios::binary);
    Message message;
    if (!stream || !message.ParseFromIstream(&stream)) return std::nullopt;
    return message;
}

std::optional<DType> dtypeOf(int onnxType) {
    switch (onnxType) {
        case onnx::TensorProto::FLOAT: return DType::F32;
        case onnx::TensorProto::DOUBLE: return DType::F64;
        case onnx::TensorProto::INT32: return DType::I32;
        case onnx::TensorProto::INT64: return DType::I64;
        case onnx::TensorProto::UINT8: return DType::U8;
        default: return std::nullopt;
    }
}

template <class T, class Field>
bool fill(HostTensor& tensor, const Field& field) {
    const auto to = tensor.as<T>();
    if (static_cast<std::size_t>(field.size()) != to.size()) return false;
    std::ranges::transform(field, to.begin(), [](auto x) { return static_cast<T>(x); });
    return true;
}

bool fillTyped(HostTensor& tensor, const onnx::TensorProto& from) {
    switch (tensor.type().dtype) {
        case DType::F32: return fill<float>(tensor, from.float_data());
        case DType::F64: return fill<double>(tensor, from.double_data());
        case DType::I32: return fill<std::int32_t>(tensor, from.int32_data());
        case DType::I64: return fill<std::int64_t>(tensor, from.int64_data());
        case DType::U8: return fill<std::uint8_t>(tensor, from.int32_data());
        case DType::F16:
        case DType::BF16: return false;
    }
    return false;
}

// A file of another message (a sequence, say) parses too, with absurd extents.
bool isPlausible(const std::vector<std::int64_t>& dims) {
    double count = 1;
    for (const std::int64_t extent : dims) count *= extent < 0 ? 1e9 : static_cast<double>(extent);
    return count < 1e8;
}

std::optional<HostTensor> tensorFrom(const onnx::TensorProto& from) {
    const auto dtype = dtypeOf(from.data_type());
    std::vector<std::int64_t> dims(from.dims().begin(), from.dims().end());
    if (!dtype || dims.size() > Shape::kMaxRank || !isPlausible(dims)) return std::nullopt;
    if (dims.empty()) dims.push_back(1);
    HostTensor tensor({Shape(dims), *dtype});
    if (!from.has_raw_data()) return fillTyped(tensor, from) ? std::optional(tensor) : std::nullopt;
    if (from.raw_data().size() != tensor.bytes()) return std::nullopt;
    if (tensor.bytes() > 0) std::memcpy(tensor.data(), from.raw_data().data(), tensor.bytes());
    return tensor;
}

void readAttributes(const onnx::NodeProto& node, OnnxVector& vector) {
    for (const onnx::AttributeProto& attribute : node.attribute()) {
        std::vector<double>& numbers = vector.numbers[attribute.name()];
        if (attribute.has_i()) numbers.push_back(static_cast<double>(attribute.i()));
        if (attribute.has_f()) numbers.push_back(attribute.f());
        for (const auto value : attribute.ints()) numbers.push_back(static_cast<double>(value));
        if (attribute.has_s()) vector.texts[attribute.name()] = attribute.s();
    }
}

std::optional<HostTensor> readTensor(const fs::path& file) {
    const auto proto = parsed<onnx::TensorProto>(file);
    return proto ? tensorFrom(*proto) : std::nullopt;
}

// An input of the node is a constant of the model, or the next file.
bool readTensors(const onnx::GraphProto& graph, const fs::path& data, OnnxVector& vector) {
    std::map<std::string, HostTensor> known;
    for (const onnx::TensorProto& constant : graph.initializer()) {
        const auto tensor = tensorFrom(constant);
        if (!tensor) return false;
        known.emplace(constant.name(), *tensor);
    }
    int file = 0;
    for (const onnx::ValueInfoProto& input : graph.input()) {
        if (known.contains(input.name())) continue;
        const auto tensor = readTensor(data / ("input_" + std::to_string(file++) + ".pb"));
        if (!tensor) return false;
        known.emplace(input.name(), *tensor);
    }
    known.emplace("", HostTensor({{0}, DType::F32}));
    for (const std::string& name : graph.node(0).input()) {
        if (!known.contains(name)) return false;
        vector.inputs.push_back(known.at(name));
    }
    for (int i = 0; i < graph.output_size(); ++i) {
        const auto tensor = readTensor(data / ("output_" + std::to_string(i) + ".pb"));
        if (!tensor) return false;
        vector.outputs.push_back(*tensor);
    }
    return true;
}

OnnxVector readVector(const fs::path& folder) {
    OnnxVector vector;
    vector.name = folder.parent_path().filename().string() + "/" + folder.filename().string();
    const auto model = parsed<onnx::ModelProto>(folder / "model.onnx");
    if (!model || model->graph().node_size() != 1) {
        vector.whyNot = model ? "more than one node" : "no model";
        return vector;
    }
    vector.op = model->graph().node(0).op_type();
    readAttributes(model->graph().node(0), vector);
    if (!readTensors(model->graph(), folder / "test_data_set_0", vector)) vector.whyNot = "tensors of other types";
    return vector;
}

}  // namespace

double OnnxVector::number(const std::string& attribute, double fallback) const {
    const auto found = numbers.find(attribute);
    return found == numbers.end() || found->second.empty() ? fallback : found->second[0];
}

std::string OnnxVector::text(const std::string& attribute) const {
    const auto found = texts.find(attribute);
    return found == texts.end() ? std::string() : found->second;
}

fs::path onnxFolder() {
    const fs::path folder = "/usr/share/libonnx-testdata/data";
    return fs::is_directory(folder) ? folder : fs::path();
}

std::vector<OnnxVector> readOnnxVectors(const fs::path& folder) {
    std::vector<OnnxVector> vectors;
    for (const char* group : {"node", "pytorch-converted", "pytorch-operator", "simple"}) {
        if (!fs::is_directory(folder / group)) continue;
        for (const fs::directory_entry& entry : fs::directory_iterator(folder / group))
            vectors.push_back(readVector(entry.path()));
    }
    std::ranges::sort(vectors, {}, &OnnxVector::name);
    return vectors;
}

}  // namespace lockstep::test
