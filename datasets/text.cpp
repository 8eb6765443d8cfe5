#include <algorithm>

#include "datasets/entries.h"
#include "datasets/loading.h"
#include "datasets/text_file.h"
#include "engine/core/content_hash.h"

namespace lockstep {

namespace {

namespace fs = std::filesystem;

constexpr std::size_t kLeast = 2;  // bytes of a part: one that foretells another

// A part of a text as windows side by side; the last may be shorter. Nothing is foretold of what lies behind the part.
// No byte is foretold in two windows: whichever are held out, training is told nothing that they ask for.
class TextWindows final : public Dataset {
public:
    TextWindows(DatasetInfo info, std::shared_ptr<const std::string> text, std::string_view part)
        : m_info(std::move(info)),
          m_text(std::move(text)),
          m_part(part),
          m_tokens(static_cast<std::size_t>(m_info.fields.front().type.shape.count())) {
        m_info.count = static_cast<std::int64_t>((m_part.size() - 1 + m_tokens - 1) / m_tokens);
    }

    const DatasetInfo& info() const override { return m_info; }

    void read(std::int64_t index, std::span<const std::span<std::byte>> into) const override {
        const std::size_t begin = static_cast<std::size_t>(index) * m_tokens;
        const std::string_view foretold = m_part.substr(begin + 1, m_tokens);
        writeTokens(m_part.substr(begin, m_tokens), into[0]);
        writeTokens(foretold, into[1]);
        auto* const targets = reinterpret_cast<std::int32_t*>(into[1].data());
        std::fill(targets + foretold.size(), targets + m_tokens, -1);
    }

    std::optional<std::uint64_t> fingerprint() const override {
        ContentHash hash;
        hash.add(lockstep::text(m_info.fields));
        hash.add(m_part);
        return hash.value();
    }

private:
    DatasetInfo m_info;
    std::shared_ptr<const std::string> m_text;
    std::string_view m_part;  // of m_text
    std::size_t m_tokens;
};

bool isTextFile(const fs::directory_entry& item) {
    std::error_code ignored;  // a link that leads to itself is no file
    return item.is_regular_file(ignored) && item.path().extension() == ".txt" &&
           !item.path().filename().string().starts_with('.');
}

std::vector<fs::path> textFilesAt(const fs::path& path) {
    if (!fs::exists(path)) throw ProblemError({path.string(), "dataset.not-found", {}});
    if (!fs::is_directory(path)) return {path};
    std::vector<fs::path> files;
    for (const auto& item : fs::directory_iterator(path)) {
        if (isTextFile(item)) files.push_back(item.path());
    }
    if (files.empty()) throw ProblemError({path.string(), "text.no-files", {}});
    std::ranges::sort(files);
    return files;
}

// Where the test's part begins: with a character.
std::size_t beginOfTest(const std::string& field, std::string_view text, double share) {
    const auto wanted = static_cast<std::size_t>(share * static_cast<double>(text.size()));
    std::size_t begin = text.size() - std::min(text.size(), std::max(wanted, kLeast));
    while (begin > 0 && (static_cast<unsigned char>(text[begin]) & 0xc0) == 0x80) --begin;
    if (begin < kLeast)
        throw ProblemError({field, "text.too-short", {std::to_string(text.size()), std::to_string(2 * kLeast)}});
    return begin;
}

Loaded loadText(const fs::path& path, const ParamValues& params, Reading& reading) {
    auto text = std::make_shared<std::string>();
    for (const fs::path& file : textFilesAt(path)) {
        reading.goOn();
        *text += readText(file);
    }
    const std::string_view whole = *text;
    const std::size_t begin = beginOfTest(path.string(), whole, params.number("test_share"));
    DatasetInfo info;
    info.id = "text";
    info.fields = languageFields(params.integer("sequence"));
    info.classes = byteNames();
    return {std::make_shared<TextWindows>(info, text, whole.substr(0, begin)),
            std::make_shared<TextWindows>(info, text, whole.substr(begin)),
            {},
            {}};
}

// A folder may have a text beside what it is for: any other form of a folder is surer.
int recogniseText(const fs::path& path) {
    if (fs::is_directory(path)) {
        const auto items = fs::directory_iterator(path);
        return std::any_of(fs::begin(items), fs::end(items), isTextFile) ? 50 : 0;
    }
    if (path.extension() == ".txt") return 60;
    return startsLikeText(path) ? 20 : 0;
}

}  // namespace

DatasetEntry textEntry() {
    DatasetEntry entry;
    entry.id = "text";
    entry.title = "Text";
    entry.meaning = "A UTF-8 text, or a folder of .txt files in order of name, whose next byte is to be foretold.";
    entry.params = {sequenceField(128, "Bytes of a sample: a window of the text."),
                    testShareField(0.05, "Share of the text, its end, that is held out for testing.")};
    entry.remedy = "Give a UTF-8 text file, or a folder of .txt files.";
    entry.recognise = recogniseText;
    loadBy(entry, loadText);
    return entry;
}

}  // namespace lockstep
