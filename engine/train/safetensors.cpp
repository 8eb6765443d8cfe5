#include "engine/train/safetensors.h"

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <limits>
#include <optional>
#include <vector>

#include "engine/core/checksum.h"
#include "engine/core/durable_file.h"
#include "engine/core/file_kind.h"
#include "engine/core/random.h"
#include "engine/core/strict_json.h"

namespace lockstep {

namespace {

static_assert(std::endian::native == std::endian::little, "the format is little-endian, and so is memory here");

using Json = nlohmann::json;

constexpr std::uint64_t kMaxHeaderBytes = 100'000'000;
constexpr JsonLimits kHeaderLimits{.depth = 4, .members = 100'000};
constexpr std::size_t kLengthBytes = sizeof(std::uint64_t);
constexpr const char* kMetadata = "__metadata__";
constexpr const char* kChecksum = "checksum";  // in the metadata, over all else; absent in files of others

const char* nameOf(DType dtype) {
    switch (dtype) {
        case DType::F32: return "F32";
        case DType::F64: return "F64";
        case DType::I32: return "I32";
        case DType::I64: return "I64";
        case DType::U8: return "U8";
        case DType::F16: return "F16";
        case DType::BF16: return "BF16";
    }
    return "?";
}

// Paths may be anything; what is no UTF-8 is replaced.
std::string textIn(const Json& json) { return json.dump(-1, ' ', false, Json::error_handler_t::replace); }

std::uint64_t sumOf(std::uint64_t before, const std::string& text) {
    const std::string bytes = textIn(Json(text));
    return checksum(before, std::as_bytes(std::span(bytes)));
}

std::string checksumOf(const std::map<std::string, std::string>& metadata,
                       const std::map<std::string, HostTensor>& tensors) {
    std::uint64_t sum = streamOf("");
    for (const auto& [key, value] : metadata) {
        if (key != kChecksum) sum = sumOf(sumOf(sum, key), value);
    }
    for (const auto& [name, tensor] : tensors)
        sum = checksum(sumOf(sumOf(sum, name), tensor.type().text()), {tensor.data(), tensor.bytes()});
    char text[17];
    std::snprintf(text, sizeof text, "%016llx", static_cast<unsigned long long>(sum));
    return text;
}

std::string headerOf(const std::map<std::string, std::string>& metadata,
                     const std::map<std::string, HostTensor>& tensors) {
    Json header = Json::object();
    header[kMetadata] = metadata;
    std::size_t at = 0;
    for (const auto& [name, tensor] : tensors) {
        const auto dims = tensor.type().shape.dims();
        header[name] = {{"dtype", nameOf(tensor.type().dtype)},
                        {"shape", std::vector<std::int64_t>(dims.begin(), dims.end())},
                        {"data_offsets", {at, at + tensor.bytes()}}};
        at += tensor.bytes();
    }
    std::string text = textIn(header);
    text.append((8 - text.size() % 8) % 8, ' ');  // tensors start at a multiple of 8
    return text;
}

// Where one tensor lies in the file.
struct Entry {
    std::string name;
    TensorType type;
    std::uint64_t begin = 0, end = 0;
};

class Reader {
public:
    explicit Reader(const std::filesystem::path& file) : m_file(file) {}

    TensorFile read() {
        TensorFile out;
        const std::vector<Entry> entries = begin(out.metadata);
        for (const Entry& entry : entries) out.tensors.emplace(entry.name, readTensor(entry));
        const auto sum = out.metadata.find(kChecksum);
        if (sum != out.metadata.end() && sum->second != checksumOf(out.metadata, out.tensors))
            fail("checkpoint.altered", {});
        return out;
    }

    TensorFileHeader readOnlyHeader() {
        TensorFileHeader out;
        for (const Entry& entry : begin(out.metadata)) out.types.emplace(entry.name, entry.type);
        return out;
    }

private:
    // In the order of their places, from where the file is read next.
    std::vector<Entry> begin(std::map<std::string, std::string>& metadata) {
        open();
        requireMarks();
        const Json header = parse(readHeader());
        std::vector<Entry> entries = entriesOf(header);
        requireContiguous(entries);
        metadata = metadataOf(header);
        return entries;
    }

    [[noreturn]] void fail(const char* code, std::vector<std::string> args) const {
        throw ProblemError({m_file.string(), code, std::move(args)});
    }
    [[noreturn]] void malformed(const std::string& what) const { fail("checkpoint.malformed", {what}); }
    [[noreturn]] void truncated(std::uint64_t wanted) const {
        fail("checkpoint.truncated", {std::to_string(m_size), std::to_string(wanted)});
    }

    void open() {
        std::error_code error;
        m_size = std::filesystem::file_size(m_file, error);  // refuses pipes, which would keep us waiting
        if (!error) m_in.open(m_file, std::ios::binary);
        if (error || !m_in) fail("checkpoint.unreadable", {error ? error.message() : std::strerror(errno)});
    }

    // The format has no magic number: a brace where the header begins, or a length that the file has room for, are its
    // marks. What a file that was cut short lacks of them counts as there.
    void requireMarks() {
        char bytes[kFileKindBytes] = {};
        m_in.read(bytes, sizeof bytes);
        const std::string_view front(bytes, static_cast<std::size_t>(m_in.gcount()));
        m_in.clear();
        m_in.seekg(0);
        std::uint64_t length = 0;
        std::memcpy(&length, bytes, sizeof length);
        const bool fits = m_size <= kLengthBytes || length <= m_size - kLengthBytes;
        if (bytes[kLengthBytes] == '{' || (length <= kMaxHeaderBytes && fits)) return;
        fail("checkpoint.not-safetensors", {std::string(kindOfFile(front))});
    }

    void readBytes(void* to, std::uint64_t bytes) {
        m_in.read(static_cast<char*>(to), static_cast<std::streamsize>(bytes));
        if (static_cast<std::uint64_t>(m_in.gcount()) != bytes)
            fail("checkpoint.unreadable", {"the file ended while it was read"});
    }

    std::string readHeader() {
        if (m_size < kLengthBytes) truncated(kLengthBytes);
        std::uint64_t length = 0;
        readBytes(&length, sizeof length);
        if (length > kMaxHeaderBytes) malformed("its header claims " + std::to_string(length) + " bytes");
        if (length > m_size - kLengthBytes) truncated(kLengthBytes + length);
        m_dataBytes = m_size - kLengthBytes - length;
        std::string text(length, '\0');
        readBytes(text.data(), length);
        return text;
    }

    Json parse(const std::string& text) const {
        auto parsed = parseStrictly(text, kHeaderLimits);
        if (const auto* fault = std::get_if<JsonFault>(&parsed)) malformed(textOf(*fault));
        Json header = std::get<Json>(std::move(parsed));
        if (!header.is_object()) malformed("its header is not an object");
        return header;
    }

    static std::string textOf(const JsonFault& fault) {
        switch (fault.kind) {
            case JsonFault::Kind::Malformed: break;
            case JsonFault::Kind::TooDeep: return "its header is nested too deeply";
            case JsonFault::Kind::TooMany:
                return "its header names more than " + std::to_string(kHeaderLimits.members) + " tensors";
            case JsonFault::Kind::DuplicateKey: return "\"" + fault.key + "\" appears twice in its header";
        }
        return "its header is not valid JSON";
    }

    std::map<std::string, std::string> metadataOf(const Json& header) const {
        std::map<std::string, std::string> metadata;
        const auto found = header.find(kMetadata);
        if (found == header.end()) return metadata;
        if (!found->is_object()) malformed("its metadata is not an object");
        for (const auto& [key, value] : found->items()) {
            if (!value.is_string()) malformed("its metadata \"" + key + "\" is not text");
            metadata[key] = value.get<std::string>();
        }
        return metadata;
    }

    std::vector<Entry> entriesOf(const Json& header) const {
        std::vector<Entry> entries;
        for (const auto& [name, value] : header.items()) {
            if (name != kMetadata) entries.push_back(entryOf(name, value));
        }
        std::ranges::stable_sort(entries, {}, [](const Entry& entry) { return std::pair(entry.begin, entry.end); });
        return entries;
    }

    Entry entryOf(const std::string& name, const Json& value) const {
        const bool complete = value.is_object() && value.size() == 3 && value.contains("dtype") &&
                              value.contains("shape") && value.contains("data_offsets");
        if (!complete) malformed("tensor \"" + name + "\" has no dtype, shape and data_offsets");
        const Json& offsets = value["data_offsets"];
        if (!offsets.is_array() || offsets.size() != 2 || !offsets[0].is_number_unsigned() ||
            !offsets[1].is_number_unsigned())
            malformed("tensor \"" + name + "\" has bad data_offsets");
        Entry entry{name,
                    {shapeOf(name, value["shape"]), dtypeOf(name, value["dtype"])},
                    offsets[0].get<std::uint64_t>(),
                    offsets[1].get<std::uint64_t>()};
        if (entry.end < entry.begin || entry.end > m_dataBytes) truncatedOrBad(entry);
        if (bytesOf(name, entry.type) != entry.end - entry.begin)
            malformed("tensor \"" + name + "\" is " + entry.type.text() + " but has " +
                      std::to_string(entry.end - entry.begin) + " bytes");
        return entry;
    }

    [[noreturn]] void truncatedOrBad(const Entry& entry) const {
        if (entry.end < entry.begin) malformed("tensor \"" + entry.name + "\" ends before it begins");
        truncated(m_size - m_dataBytes + std::min(entry.end, std::numeric_limits<std::uint64_t>::max() - m_size));
    }

    DType dtypeOf(const std::string& name, const Json& value) const {
        for (const DType dtype : {DType::F32, DType::F64, DType::I32, DType::I64, DType::U8, DType::F16, DType::BF16}) {
            if (value.is_string() && value.get<std::string>() == nameOf(dtype)) return dtype;
        }
        malformed("tensor \"" + name + "\" has an unknown dtype");
    }

    Shape shapeOf(const std::string& name, const Json& value) const {
        const auto maximum = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
        std::vector<std::int64_t> dims;
        const bool fits = value.is_array() && value.size() <= static_cast<std::size_t>(Shape::kMaxRank) &&
                          std::ranges::all_of(value, [&](const Json& dim) {
                              return dim.is_number_unsigned() && dim.get<std::uint64_t>() <= maximum;
                          });
        if (!fits) malformed("tensor \"" + name + "\" has a bad shape");
        for (const Json& dim : value) dims.push_back(dim.get<std::int64_t>());
        return Shape(std::span<const std::int64_t>(dims));
    }

    std::uint64_t bytesOf(const std::string& name, const TensorType& type) const {
        auto bytes = static_cast<std::int64_t>(sizeOf(type.dtype));
        for (const std::int64_t dim : type.shape.dims()) {
            if (__builtin_mul_overflow(bytes, dim, &bytes)) malformed("tensor \"" + name + "\" is impossibly large");
        }
        return static_cast<std::uint64_t>(bytes);
    }

    void requireContiguous(const std::vector<Entry>& entries) const {
        std::uint64_t at = 0;
        for (const Entry& entry : entries) {
            if (entry.begin != at) malformed("there is a gap or an overlap before tensor \"" + entry.name + "\"");
            at = entry.end;
        }
        if (at != m_dataBytes) malformed(std::to_string(m_dataBytes - at) + " bytes at its end belong to no tensor");
    }

    HostTensor readTensor(const Entry& entry) {
        HostTensor tensor(entry.type);
        readBytes(tensor.data(), tensor.bytes());
        return tensor;
    }

    const std::filesystem::path& m_file;
    std::ifstream m_in;
    std::uint64_t m_size = 0, m_dataBytes = 0;
};

// Hands the pieces of the file to `write`.
void writeTensors(const std::map<std::string, std::string>& metadata, const std::map<std::string, HostTensor>& tensors,
                  auto&& write) {
    auto summed = metadata;
    summed[kChecksum] = checksumOf(summed, tensors);
    const std::string header = headerOf(summed, tensors);
    const std::uint64_t length = header.size();
    std::vector<std::span<const std::byte>> pieces{std::as_bytes(std::span(&length, 1)),
                                                   std::as_bytes(std::span(header))};
    for (const auto& [name, tensor] : tensors) pieces.emplace_back(tensor.data(), tensor.bytes());
    write(std::span<const std::span<const std::byte>>(pieces));
}

}  // namespace

void writeTensorFile(const std::filesystem::path& file, const std::map<std::string, std::string>& metadata,
                     const std::map<std::string, HostTensor>& tensors) {
    writeTensors(metadata, tensors, [&](auto pieces) { replaceFile(file, pieces); });
}

void writeNamedTensorFile(const std::filesystem::path& file, const std::map<std::string, std::string>& metadata,
                          const std::map<std::string, HostTensor>& tensors) {
    writeTensors(metadata, tensors, [&](auto pieces) { writeNamedFile(file, pieces); });
}

Result<TensorFile> readTensorFile(const std::filesystem::path& file) {
    try {
        return Reader(file).read();
    } catch (const ProblemError& error) {
        return error.problem();
    }
}

Result<TensorFileHeader> readTensorFileHeader(const std::filesystem::path& file) {
    try {
        return Reader(file).readOnlyHeader();
    } catch (const ProblemError& error) {
        return error.problem();
    }
}

}  // namespace lockstep
