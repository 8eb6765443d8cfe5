#include "engine/plugin/plugin_dataset.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <nlohmann/json.hpp>
#include <utility>

#include "engine/core/error.h"

namespace lockstep {

namespace {

constexpr std::int64_t kMostBytesPerImage = 64 << 20, kMostClasses = 1'000'000, kMeasuredImages = 1000;
constexpr std::int64_t kMostSkippedTold = 100;

// The buffer that a plugin's words go to.
class Words {
public:
    lockstep_message message() { return {m_text.data(), m_text.size()}; }
    std::string text() {
        m_text.back() = '\0';
        return m_text[0] ? m_text.data() : "it does not say why";
    }

private:
    std::array<char, 1024> m_text{};
};

struct Kind {
    PluginLibrary library;
    const lockstep_dataset_kind* table = nullptr;
};

std::string jsonOf(const ParamValues& params) {
    auto json = nlohmann::json::object();
    for (const auto& [name, value] : params.all()) std::visit([&](const auto& each) { json[name] = each; }, value);
    return json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

class PluginDataset : public Dataset {
public:
    // Throws ProblemError.
    PluginDataset(const Kind& kind, const std::filesystem::path& path, const ParamValues& params, int split)
        : m_kind(kind) {
        Words words;
        const int code = m_kind.table->open(m_kind.library.host->table(), path.c_str(), jsonOf(params).c_str(), split,
                                            &m_handle, words.message());
        if (code != LOCKSTEP_OK || !m_handle) refuse(path, words.text());
        try {
            describe(path);
        } catch (...) {
            m_kind.table->close(m_handle);
            throw;
        }
    }
    ~PluginDataset() override { m_kind.table->close(m_handle); }
    PluginDataset(const PluginDataset&) = delete;
    PluginDataset& operator=(const PluginDataset&) = delete;

    const DatasetInfo& info() const override { return m_info; }

    std::int32_t read(std::int64_t index, std::span<std::uint8_t> image) const override {
        Words words;
        std::int32_t label = -1;
        if (static_cast<std::int64_t>(image.size()) < m_bytes)
            fail(index, "the image needs more room than it was given");
        if (m_kind.table->read(m_handle, index, image.data(), &label, words.message()) != LOCKSTEP_OK)
            fail(index, words.text());
        if (label < 0 || static_cast<std::size_t>(label) >= m_info.classes.size()) {
            fail(index, "its label " + std::to_string(label) + " is not among the classes");
        }
        return label;
    }

    // Mean and deviation of each channel, from up to a thousand images spread over the split.
    void measure() {
        const auto channels = static_cast<std::size_t>(m_info.image.channels);
        const auto plane = static_cast<std::size_t>(m_bytes) / channels;
        std::vector<double> sum(channels), squares(channels);
        std::vector<std::uint8_t> image(static_cast<std::size_t>(m_bytes));
        const std::int64_t taken = std::min(m_info.count, kMeasuredImages);
        for (std::int64_t i = 0; i < taken; ++i) {
            read(i * m_info.count / taken, image);
            for (std::size_t at = 0; at < image.size(); ++at) {
                const double value = image[at] / 255.0;
                sum[at / plane] += value;
                squares[at / plane] += value * value;
            }
        }
        const double count = static_cast<double>(taken) * static_cast<double>(plane);
        for (std::size_t c = 0; c < channels; ++c) {
            const double mean = sum[c] / count;
            m_info.mean.push_back(static_cast<float>(mean));
            m_info.deviation.push_back(static_cast<float>(std::sqrt(std::max(squares[c] / count - mean * mean, 1e-6))));
        }
    }

    // A test split is normalised like the training split, and must look like it.
    void takeMeasureOf(const DatasetInfo& train, const std::filesystem::path& path) {
        if (m_info.image != train.image || m_info.classes != train.classes) {
            refuse(path, "its test images differ from its training images in size, colours or classes");
        }
        m_info.mean = train.mean;
        m_info.deviation = train.deviation;
    }

private:
    [[noreturn]] void refuse(const std::filesystem::path& path, const std::string& why) const {
        throw ProblemError({path.string(), "plugin.dataset", {m_kind.table->id, why}});
    }
    [[noreturn]] void fail(std::int64_t index, const std::string& why) const {
        throw EngineError(EngineError::Kind::Io, std::string("dataset ") + m_kind.table->id,
                          "image " + std::to_string(index) + ": " + why);
    }

    void describe(const std::filesystem::path& path) {
        Words words;
        lockstep_dataset_info info{};
        info.size = sizeof info;
        if (m_kind.table->info(m_handle, &info, words.message()) != LOCKSTEP_OK) refuse(path, words.text());
        if (info.channels < 1 || info.height < 1 || info.width < 1 || info.channels > 16)
            refuse(path, "its image size is impossible");
        m_bytes = std::int64_t{info.channels} * info.height;
        if (m_bytes > kMostBytesPerImage || m_bytes * info.width > kMostBytesPerImage)
            refuse(path, "its images are too large");
        m_bytes *= info.width;
        if (info.count < 1) refuse(path, "it has no images");
        if (info.classes < 1 || info.classes > kMostClasses || !info.class_names)
            refuse(path, "its classes are missing");
        m_info.id = m_kind.table->id;
        m_info.count = info.count;
        m_info.image = {info.channels, info.height, info.width};
        for (std::int32_t i = 0; i < info.classes; ++i) {
            if (!info.class_names[i]) refuse(path, "a class has no name");
            m_info.classes.emplace_back(info.class_names[i]);
        }
    }

    Kind m_kind;
    lockstep_dataset* m_handle = nullptr;
    DatasetInfo m_info;
    std::int64_t m_bytes = 0;                      // per image
};

// An image that cannot be read while measuring is the dataset's fault, not the engine's.
Result<DatasetSplits> openBoth(const Kind& kind, const std::filesystem::path& path, const ParamValues& params) {
    try {
        auto train = std::make_shared<PluginDataset>(kind, path, params, LOCKSTEP_TRAIN);
        auto test = std::make_shared<PluginDataset>(kind, path, params, LOCKSTEP_TEST);
        train->measure();
        test->takeMeasureOf(train->info(), path);
        return DatasetSplits{train, test};
    } catch (const ProblemError& error) {
        return error.problem();
    } catch (const EngineError& error) {
        return Problem{path.string(), "plugin.dataset", {kind.table->id, error.what()}};
    }
}

std::vector<std::int64_t> countClasses(const Dataset& data, const std::filesystem::path& path,
                                       std::vector<SkippedFile>& skipped) {
    const auto& info = data.info();
    std::vector<std::int64_t> counts(info.classes.size());
    std::vector<std::uint8_t> image(static_cast<std::size_t>(info.image.channels) *
                                    static_cast<std::size_t>(info.image.height) *
                                    static_cast<std::size_t>(info.image.width));
    for (std::int64_t i = 0; i < info.count; ++i) {
        try {
            ++counts[static_cast<std::size_t>(data.read(i, image))];
        } catch (const EngineError& error) {
            if (skipped.size() < kMostSkippedTold)
                skipped.push_back({path, {path.string(), "plugin.dataset", {info.id, error.what()}}});
        }
    }
    return counts;
}

Result<DatasetReport> inspectBoth(const Kind& kind, const std::filesystem::path& path, const ParamValues& params) {
    const auto splits = openBoth(kind, path, params);
    if (!splits.ok()) return splits.problems();
    DatasetReport report;
    report.format = kind.table->id;
    report.image = splits.value().train->info().image;
    report.classes = splits.value().train->info().classes;
    report.trainPerClass = countClasses(*splits.value().train, path, report.skipped);
    report.testPerClass = countClasses(*splits.value().test, path, report.skipped);
    return report;
}

}  // namespace

DatasetEntry entryFor(const PluginLibrary& library, const lockstep_dataset_kind& table) {
    const Kind kind{library, &table};
    DatasetEntry entry;
    entry.id = table.id;
    entry.title = table.title;
    entry.meaning = table.meaning;
    entry.params = schemaOf(table);
    entry.open = [kind](const auto& path, const auto& params) { return openBoth(kind, path, params); };
    entry.inspect = [kind](const auto& path, const auto& params) { return inspectBoth(kind, path, params); };
    entry.recognise = [kind](const auto& path) {
        return kind.table->recognise ? std::clamp(kind.table->recognise(path.c_str()), 0, 100) : 0;
    };
    return entry;
}

}  // namespace lockstep
