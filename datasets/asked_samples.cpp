#include "datasets/asked_samples.h"

#include <algorithm>
#include <cstring>
#include <iterator>
#include <ranges>
#include <set>

#include "datasets/archive_members.h"
#include "datasets/ascii.h"
#include "datasets/byte_stream.h"
#include "datasets/csv.h"
#include "datasets/idx.h"
#include "datasets/images.h"
#include "datasets/text_file.h"
#include "engine/core/system_names.h"
#include "engine/core/utf8.h"

namespace lockstep {

namespace {

namespace fs = std::filesystem;

bool readsImages(const DatasetInfo& trained) { return findField(trained.fields, "image") != nullptr; }

bool endsLikeAnImage(const fs::path& file) {
    const std::string ending = lowered(file.extension().string());
    return ending == ".jpg" || ending == ".jpeg" || ending == ".png";
}

bool isSystems(const fs::path& file) {
    return std::ranges::any_of(file, [](const fs::path& part) { return isSystemName(part.string()); });
}

// What a person takes for an image, though nothing here decodes it.
bool isOfAnotherKind(const fs::path& file) {
    static const std::set<std::string> kinds{".avif", ".bmp", ".gif", ".heic", ".heif", ".jp2",
                                             ".jxl",  ".ppm", ".tga", ".tif",  ".tiff", ".webp"};
    return kinds.contains(lowered(file.extension().string()));
}

AskedSample imageAt(const fs::directory_entry& item) {
    std::error_code failed;
    const std::string name = item.path().string();
    if (isOfAnotherKind(item.path())) return {name, Problem{name, "image.unknown-kind", {}}};
    if (!item.exists(failed)) return {name, Problem{name, "file.unreadable", {"its link leads nowhere"}}};
    if (!item.is_regular_file(failed)) return {name, Problem{name, "file.unreadable", {"it is no file"}}};
    return {name, AskedImage{item.path()}};
}

// tar says "./cat/1.jpg" of a folder that it was given as ".".
std::string plainName(const std::string& member) { return fs::path(member).lexically_normal().string(); }

std::vector<AskedSample> imagesOfIdx(const std::string& name, const IdxImages& images, const DatasetInfo& trained) {
    const ImageShape shape = trained.image();
    if (shape.channels != 1 || images.height != shape.height || images.width != shape.width)
        throw ProblemError({name,
                            "predict.other-size",
                            {std::to_string(images.width), std::to_string(images.height), std::to_string(shape.width),
                             std::to_string(shape.height), std::to_string(shape.channels)}});
    const auto bytes = static_cast<std::size_t>(images.height * images.width);
    std::vector<AskedSample> samples;
    for (std::int64_t i = 0; i < images.count; ++i) {
        const auto* pixels = reinterpret_cast<const char*>(images.pixels.data()) + static_cast<std::size_t>(i) * bytes;
        samples.push_back({name + ':' + std::to_string(i), AskedPixels{std::string(pixels, bytes)}});
    }
    return samples;
}

// Among others, an IDX file that cannot be taken is a row with its reason.
template <class Read>
void addIdx(std::vector<AskedSample>& samples, const std::string& name, const DatasetInfo& trained, Read&& read) {
    try {
        std::ranges::move(imagesOfIdx(name, read(), trained), std::back_inserter(samples));
    } catch (const ProblemError& error) {
        samples.push_back({name, error.problem()});
    }
}

// What of a folder could be asked about.
struct FoundFiles {
    std::vector<AskedSample> images;
    std::vector<fs::path> idx;
};

FoundFiles filesOf(const fs::path& folder) {
    FoundFiles found;
    const auto options = fs::directory_options::skip_permission_denied;
    for (const auto& item : fs::recursive_directory_iterator(folder, options)) {
        std::error_code ignored;
        const fs::path& path = item.path();
        if (item.is_directory(ignored) || isSystems(path.lexically_relative(folder))) continue;
        if (endsLikeAnImage(path) || isOfAnotherKind(path)) found.images.push_back(imageAt(item));
        else if (isNamedAsIdxImages(path) || beginsAsIdxImages(path)) found.idx.push_back(path);
    }
    std::ranges::sort(found.images, {}, &AskedSample::name);
    return found;
}

std::vector<AskedSample> imagesOfFolder(const fs::path& folder, const DatasetInfo& trained) {
    FoundFiles found = filesOf(folder);
    std::vector<AskedSample> samples = std::move(found.images);
    for (const fs::path& each : idxToAskAbout(std::move(found.idx)))
        addIdx(samples, each.string(), trained, [&] { return readIdxImages(each); });
    return samples;
}

bool isIdx(const std::string& member, std::string_view beginning) {
    try {
        return !isSystems(plainName(member)) && beginsAsIdxImages(*unpacked(member, beginning));
    } catch (const ProblemError&) {
        return false;
    }
}

std::vector<AskedSample> imagesOfArchive(const fs::path& file, const DatasetInfo& trained) {
    const auto isNamed = [](const std::string& name) {
        return (endsLikeAnImage(name) || isNamedAsIdxImages(name)) && !isSystems(plainName(name));
    };
    std::vector<AskedSample> samples;
    std::map<fs::path, std::string> idx;
    for (ArchiveMember& each : readArchive(file, {isNamed, isIdx})) {
        const std::string name = plainName(each.name);
        if (!endsLikeAnImage(name)) idx[name] = std::move(each.bytes);
        else samples.push_back({file.string() + '/' + name, AskedImage{name, std::move(each.bytes)}});
    }
    std::ranges::sort(samples, {}, &AskedSample::name);
    std::vector<fs::path> names;
    std::ranges::copy(std::views::keys(idx), std::back_inserter(names));
    for (const fs::path& each : idxToAskAbout(std::move(names))) {
        const std::string name = file.string() + '/' + each.string();
        addIdx(samples, name, trained, [&] { return readIdxImages(name, unpacked(name, idx[each])); });
    }
    return samples;
}

// Texts as Windows calls Unicode have no rows that could be told apart.
bool isUtf16(std::string_view text) { return text.starts_with("\xff\xfe") || text.starts_with("\xfe\xff"); }

// The column "text", or the only one. A row that is no UTF-8 is found out in its turn, and the others stand.
std::vector<AskedSample> rowsOfTexts(const fs::path& file) {
    const std::string text = readBytesOfText(file);
    if (isUtf16(text)) requireUtf8(file.string(), text);
    CsvReader reader(text, file.string(), lowered(file.extension().string()) == ".tsv" ? '\t' : ',');
    std::vector<std::string> cells;
    std::vector<AskedSample> samples;
    if (!reader.next(cells)) return samples;
    const auto found = std::ranges::find(cells, std::string("text"));
    if (found == cells.end() && cells.size() > 1) {
        std::string header;
        for (const std::string& cell : cells) header += (header.empty() ? "" : ", ") + cell;
        if (findBrokenUtf8(header) != header.npos) requireUtf8(file.string(), text);
        throw ProblemError({file.string(), "text-csv.no-column", {"text", header}});
    }
    const auto column = static_cast<std::size_t>(found == cells.end() ? 0 : found - cells.begin());
    if (found == cells.end()) samples.push_back({file.string() + ":1", AskedText{cells[0]}});
    while (reader.next(cells))
        samples.push_back({file.string() + ':' + std::to_string(reader.line()), AskedText{cells[column]}});
    return samples;
}

// One that cannot be read is a row with its reason.
std::vector<AskedSample> textsOfFolder(const fs::path& folder) {
    std::vector<AskedSample> samples;
    for (const auto& item : fs::recursive_directory_iterator(folder, fs::directory_options::skip_permission_denied)) {
        std::error_code ignored;
        const fs::path& path = item.path();
        const bool isText = item.is_regular_file(ignored) && lowered(path.extension().string()) == ".txt";
        if (!isText || isSystems(path.lexically_relative(folder))) continue;
        try {
            samples.push_back({path.string(), AskedText{readText(path)}});
        } catch (const ProblemError& error) {
            samples.push_back({path.string(), error.problem()});
        }
    }
    std::ranges::sort(samples, {}, &AskedSample::name);
    return samples;
}

std::vector<AskedSample> samplesIn(const fs::path& path, const DatasetInfo& trained) {
    const std::string ending = lowered(path.extension().string());
    if (!readsImages(trained)) {
        if (ending == ".csv" || ending == ".tsv") return rowsOfTexts(path);
        if (fs::is_directory(path)) return textsOfFolder(path);
        if (isArchiveName(path)) throw ProblemError({path.string(), "predict.packed-texts", {}});
        return {{path.string(), AskedText{readText(path)}}};
    }
    if (fs::is_directory(path)) return imagesOfFolder(path, trained);
    if (isArchiveName(path)) return imagesOfArchive(path, trained);
    if (isNamedAsIdxImages(path) || beginsAsIdxImages(path))
        return imagesOfIdx(path.string(), readIdxImages(path), trained);
    if (ending == ".csv" || ending == ".tsv") throw ProblemError({path.string(), "predict.other-kind", {"images"}});
    return {{path.string(), AskedImage{path}}};
}

}  // namespace

std::vector<AskedSample> samplesAt(const fs::path& path, const DatasetInfo& trained) {
    std::error_code ignored;
    if (!fs::exists(path, ignored)) throw ProblemError({path.string(), "predict.not-found", {}});
    auto samples = samplesIn(path, trained);
    if (samples.empty())
        throw ProblemError({path.string(), "predict.nothing-there", {readsImages(trained) ? "image" : "text"}});
    return samples;
}

AskedSamples::AskedSamples(const DatasetInfo& trained, std::vector<AskedSample> samples)
    : m_info(trained), m_samples(std::move(samples)) {
    m_info.count = static_cast<std::int64_t>(m_samples.size());
    m_info.inMemory = false;
}

// One that cannot be read is black, or a text of one byte: the model computes with its batch all the same.
void AskedSamples::read(std::int64_t index, std::span<const std::span<std::byte>> into) const {
    for (const auto& field : into) std::ranges::fill(field, std::byte{0});
    constexpr std::int32_t kOneByte = 1;
    if (const auto length = placeOf("length", into); !length.empty())
        std::memcpy(length.data(), &kOneByte, std::min(length.size(), sizeof kOneByte));
    try {
        fill(sample(index), into);
    } catch (const ProblemError& error) {
        const std::lock_guard lock(m_mutex);
        m_failures.insert_or_assign(index, error.problem());
    }
}

std::optional<Problem> AskedSamples::failure(std::int64_t index) const {
    const std::lock_guard lock(m_mutex);
    const auto found = m_failures.find(index);
    return found == m_failures.end() ? std::nullopt : std::optional(found->second);
}

std::span<std::byte> AskedSamples::placeOf(const char* name, std::span<const std::span<std::byte>> into) const {
    const Field* field = findField(m_info.fields, name);
    return field ? into[static_cast<std::size_t>(field - m_info.fields.data())] : std::span<std::byte>();
}

void AskedSamples::fill(const AskedSample& sample, std::span<const std::span<std::byte>> into) const {
    const std::span<std::byte> image = placeOf("image", into), tokens = placeOf("tokens", into),
                               length = placeOf("length", into);
    if (const auto* picture = std::get_if<AskedImage>(&sample.content)) {
        const ImageShape shape = m_info.image();
        if (shape.height != shape.width)
            throw ProblemError(
                {sample.name, "predict.no-square", {std::to_string(shape.width), std::to_string(shape.height)}});
        const ImageRule rule{.size = shape.height,
                             .channels = shape.channels,
                             .share = m_info.seenShare,
                             .interpolation = m_info.interpolation,
                             .decode = m_info.decodesExactly ? Decode::Exact : Decode::Fast};
        return decodeByRule(picture->file, picture->bytes, rule,
                            {reinterpret_cast<std::uint8_t*>(image.data()), image.size()});
    }
    if (const auto* pixels = std::get_if<AskedPixels>(&sample.content)) {
        std::memcpy(image.data(), pixels->bytes.data(), std::min(image.size(), pixels->bytes.size()));
        return;
    }
    if (const auto* problem = std::get_if<Problem>(&sample.content)) throw ProblemError(*problem);
    const std::string& text = std::get<AskedText>(sample.content).text;
    if (text.empty()) throw ProblemError({sample.name, "text.empty", {}});
    requireUtf8(sample.name, text);
    const std::size_t most = tokens.size() / sizeof(std::int32_t);
    const std::string_view read = std::string_view(text).substr(0, most);
    writeTokens(read, tokens);
    const auto bytes = static_cast<std::int32_t>(read.size());
    if (!length.empty()) std::memcpy(length.data(), &bytes, std::min(length.size(), sizeof bytes));
}

}  // namespace lockstep
