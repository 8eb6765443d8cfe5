#include "engine/plugin/plugin_dataset.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <nlohmann/json.hpp>
#include <utility>

#include "engine/core/error.h"
#include "engine/data/sample.h"
#include "engine/plugin/plugin_fields.h"

namespace lockstep {

namespace {

constexpr std::int64_t kMostClasses = 1'000'000, kMostSamples = std::int64_t{1} << 40, kMeasuredImages = 1000;
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
    for (const auto& setting : params.all()) {
        std::visit([&](const auto& value) { json[setting.first] = value; }, setting.second);
    }
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

    void read(std::int64_t index, std::span<const std::span<std::byte>> into) const override {
        std::array<void*, LOCKSTEP_MOST_FIELDS> places{};
        for (std::size_t f = 0; f < m_bytes.size(); ++f) {
            if (f >= into.size() || into[f].size() < m_bytes[f])
                fail(index, "the field '" + m_info.fields[f].name + "' needs more room than it was given");
            places[f] = into[f].data();
        }
        Words words;
        std::int32_t label = -1;  // a plugin that leaves it unwritten is found out
        std::memcpy(places[m_label], &label, sizeof label);
        if (m_kind.table->read(m_handle, index, places.data(), words.message()) != LOCKSTEP_OK)
            fail(index, words.text());
        std::memcpy(&label, places[m_label], sizeof label);
        if (label < 0 || static_cast<std::size_t>(label) >= m_info.classes.size()) {
            fail(index, "its label " + std::to_string(label) + " is not among the classes");
        }
    }

    // Mean and deviation of each channel, from up to a thousand images spread over the split.
    void measure() {
        if (!findField(m_info.fields, "image")) return;
        const ImageShape shape = m_info.image();
        const auto channels = static_cast<std::size_t>(shape.channels);
        const auto plane = static_cast<std::size_t>(shape.height) * static_cast<std::size_t>(shape.width);
        std::vector<double> sum(channels), squares(channels);
        Sample sample(*this);
        const std::int64_t taken = std::min(m_info.count, kMeasuredImages);
        for (std::int64_t i = 0; i < taken; ++i) {
            const auto image = sample.read(i * m_info.count / taken).image();
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
        if (m_info.fields != train.fields || m_info.classes != train.classes)
            refuse(path, "its test samples differ from its training samples in fields or classes");
        m_info.mean = train.mean;
        m_info.deviation = train.deviation;
    }

private:
    [[noreturn]] void refuse(const std::filesystem::path& path, const std::string& why) const {
        throw ProblemError({path.string(), "plugin.dataset", {m_kind.table->id, why}});
    }
    [[noreturn]] void fail(std::int64_t index, const std::string& why) const {
        throw EngineError(EngineError::Kind::Io, std::string("dataset ") + m_kind.table->id,
                          "sample " + std::to_string(index) + ": " + why);
    }

    void describe(const std::filesystem::path& path) {
        Words words;
        lockstep_dataset_info info{};
        info.size = sizeof info;
        if (m_kind.table->info(m_handle, &info, words.message()) != LOCKSTEP_OK) refuse(path, words.text());
        m_info.fields = fieldsOf(info, m_kind.table->id, path.string());
        for (const Field& field : m_info.fields) m_bytes.push_back(field.type.bytes());
        m_label = static_cast<std::size_t>(findField(m_info.fields, "label") - m_info.fields.data());
        if (info.count < 1) refuse(path, "it has no samples");
        if (info.count > kMostSamples) refuse(path, "it claims " + std::to_string(info.count) + " samples");
        if (info.classes < 1 || info.classes > kMostClasses || !info.class_names)
            refuse(path, "its classes are missing");
        m_info.id = m_kind.table->id;
        m_info.count = info.count;
        for (std::int32_t i = 0; i < info.classes; ++i) {
            if (!info.class_names[i]) refuse(path, "a class has no name");
            m_info.classes.emplace_back(info.class_names[i]);
        }
    }

    Kind m_kind;
    lockstep_dataset* m_handle = nullptr;
    DatasetInfo m_info;
    std::vector<std::size_t> m_bytes;  // of each field
    std::size_t m_label = 0;           // which field it is
};

// A sample that cannot be read while measuring is the dataset's fault, not the engine's.
// The plugin interface has no way to interrupt it: between its calls is asked whether to go on.
Result<DatasetSplits> openBoth(const Kind& kind, const std::filesystem::path& path, const ParamValues& params,
                               const OpeningWatch& watch) {
    const auto goOn = [&] {
        if (watch.stop.stop_requested()) throw ProblemError({path.string(), "dataset.cancelled", {}});
    };
    try {
        goOn();
        auto train = std::make_shared<PluginDataset>(kind, path, params, LOCKSTEP_TRAIN);
        if (watch.described) watch.described(train->info());
        goOn();
        auto test = std::make_shared<PluginDataset>(kind, path, params, LOCKSTEP_TEST);
        goOn();
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
    Sample sample(data);
    for (std::int64_t i = 0; i < info.count; ++i) {
        try {
            ++counts[static_cast<std::size_t>(sample.read(i).label())];
        } catch (const EngineError& error) {
            if (skipped.size() < kMostSkippedTold)
                skipped.push_back({path, {path.string(), "plugin.dataset", {info.id, error.what()}}});
        }
    }
    return counts;
}

Result<DatasetReport> inspectBoth(const Kind& kind, const std::filesystem::path& path, const ParamValues& params,
                                  const OpeningWatch& watch) {
    const auto splits = openBoth(kind, path, params, watch);
    if (!splits.ok()) return splits.problems();
    DatasetReport report;
    report.format = kind.table->id;
    report.fields = splits.value().train->info().fields;
    report.classes = splits.value().train->info().classes;
    report.trainCount = splits.value().train->info().count;
    report.testCount = splits.value().test->info().count;
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
    entry.open = [kind](const auto&... of) { return openBoth(kind, of...); };
    entry.inspect = [kind](const auto&... of) { return inspectBoth(kind, of...); };
    entry.recognise = [kind](const auto& path) {
        return kind.table->recognise ? std::clamp(kind.table->recognise(path.c_str()), 0, 100) : 0;
    };
    return entry;
}

}  // namespace lockstep
