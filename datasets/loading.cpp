#include "datasets/loading.h"

#include <algorithm>
#include <new>
#include <sstream>

#include "datasets/byte_stream.h"

namespace lockstep {

namespace {

// Empty where samples have no label.
std::vector<std::int64_t> perClass(const Dataset& data) {
    const DatasetInfo& info = data.info();
    const Field* field = findField(info.fields, "label");
    if (!field) return {};
    const auto label = static_cast<std::size_t>(field - info.fields.data());
    std::vector<std::int64_t> counts(info.classes.size());
    for (std::int64_t i = 0; i < info.count; ++i)
        ++counts[static_cast<std::size_t>(*reinterpret_cast<const std::int32_t*>(data.resident(i, label)))];
    return counts;
}

void checkAlike(const std::string& field, const Loaded& loaded) {
    const auto &train = loaded.train->info().fields, &test = loaded.test->info().fields;
    if (train != test) throw ProblemError({field, "dataset.shape-mismatch", {text(train), text(test)}});
    if (!loaded.validation) return;
    const auto& validation = loaded.validation->info().fields;
    if (train != validation) throw ProblemError({field, "dataset.shape-mismatch", {text(train), text(validation)}});
}

void checkClasses(const std::string& field, const Dataset& train) {
    const auto counts = perClass(train);
    if (counts.empty()) return;
    const auto isInhabited = [](std::int64_t count) { return count > 0; };
    if (std::ranges::count_if(counts, isInhabited) > 1) return;
    const auto only = static_cast<std::size_t>(std::ranges::find_if(counts, isInhabited) - counts.begin());
    throw ProblemError({field, "dataset.too-few-classes", {train.info().classes[only]}});
}

std::int64_t countOf(const std::shared_ptr<const Dataset>& split) { return split ? split->info().count : 0; }

void check(const std::filesystem::path& path, const Loaded& loaded, bool trains) {
    const std::string field = path.empty() ? "dataset" : path.string();
    const std::int64_t train = countOf(loaded.train), test = countOf(loaded.test);
    if (trains ? train == 0 : train + test == 0) throw ProblemError({field, "dataset.no-samples", {}});
    if (!loaded.test || (trains && test == 0)) throw ProblemError({field, "dataset.missing-test", {}});
    checkAlike(field, loaded);
    if (trains) checkClasses(field, *loaded.train);
}

void warnOfEmptyClasses(DatasetReport& report, const std::vector<std::int64_t>& counts, const char* split) {
    for (std::size_t label = 0; label < counts.size(); ++label) {
        if (counts[label] == 0)
            report.warnings.push_back({"classes", "dataset.empty-class", {report.classes[label], split}});
    }
}

void warnOfImbalance(DatasetReport& report) {
    const auto& counts = report.trainPerClass;
    if (counts.empty()) return;
    const auto [smallest, largest] = std::ranges::minmax_element(counts);
    if (*smallest == 0 || *largest < 2 * *smallest) return;
    const auto name = [&](auto at) { return report.classes[static_cast<std::size_t>(at - counts.begin())]; };
    report.warnings.push_back({"classes",
                               "dataset.imbalanced",
                               {name(largest), std::to_string(*largest), name(smallest), std::to_string(*smallest)}});
}

// One remark, or none: how many files of how many, and the first of them with its own problem.
std::vector<Problem> leftOut(const std::filesystem::path& path, const Loaded& loaded) {
    if (loaded.skipped.empty()) return {};
    const auto all = countOf(loaded.train) + countOf(loaded.test) + countOf(loaded.validation);
    const std::size_t skipped = loaded.skipped.size();
    const Problem& first = loaded.skipped.front().reason;
    Problem remark{
        path.string(),
        "dataset.left-out",
        {std::to_string(skipped), std::to_string(static_cast<std::size_t>(all) + skipped), first.code, first.field}};
    remark.args.insert(remark.args.end(), first.args.begin(), first.args.end());
    return {std::move(remark)};
}

DatasetReport reportOf(const std::string& format, Loaded loaded) {
    DatasetReport report;
    report.format = format;
    report.fields = loaded.train->info().fields;
    report.trainCount = loaded.train->info().count;
    report.testCount = loaded.test->info().count;
    report.validationCount = countOf(loaded.validation);
    report.trainPerClass = perClass(*loaded.train);
    report.testPerClass = perClass(*loaded.test);
    if (report.validationCount > 0) report.validationPerClass = perClass(*loaded.validation);
    if (!report.trainPerClass.empty()) report.classes = loaded.train->info().classes;
    report.skipped = std::move(loaded.skipped);
    report.warnings = std::move(loaded.warnings);
    report.warnings.insert(report.warnings.end(), loaded.notes.begin(), loaded.notes.end());
    warnOfEmptyClasses(report, report.trainPerClass, "training");
    warnOfEmptyClasses(report, report.testPerClass, "test");
    warnOfImbalance(report);
    return report;
}

// The one place where what goes wrong while reading becomes a Problem.
Result<Loaded> tryLoad(const LoadFunction& load, const std::filesystem::path& path, const ParamValues& params,
                       const OpeningWatch& watch) {
    try {
        Reading reading(watch, path);
        reading.goOn();
        Loaded loaded = load(path, params, reading);
        check(path, loaded, watch.trains);
        return loaded;
    } catch (const ProblemError& error) {
        return error.problem();
    } catch (const std::filesystem::filesystem_error& error) {
        return Problem{error.path1().empty() ? path.string() : error.path1().string(),
                       "file.unreadable",
                       {error.code().message()}};
    } catch (const std::bad_alloc&) {
        return Problem{path.string(), "dataset.out-of-memory", {}};
    }
}

}  // namespace

void loadBy(DatasetEntry& entry, LoadFunction load) {
    entry.open = [load](const auto& path, const auto& params, const auto& watch) -> Result<DatasetSplits> {
        auto loaded = tryLoad(load, path, params, watch);
        if (!loaded.ok()) return loaded.problems();
        auto remarks = leftOut(path, loaded.value());
        remarks.insert(remarks.end(), loaded.value().warnings.begin(), loaded.value().warnings.end());
        DatasetSplits splits{loaded.value().train, loaded.value().test, std::move(remarks)};
        splits.leftOut = std::ssize(loaded.value().skipped);
        splits.notes = std::move(loaded.value().choices);
        if (countOf(loaded.value().validation) > 0) splits.validation = loaded.value().validation;
        return splits;
    };
    entry.inspect = [load, id = entry.id](const auto& path, const auto& params,
                                          const auto& watch) -> Result<DatasetReport> {
        auto loaded = tryLoad(load, path, params, watch);
        if (!loaded.ok()) return loaded.problems();
        return reportOf(id, std::move(loaded).value());
    };
}

std::vector<std::string> numbered(int classes) {
    std::vector<std::string> names;
    for (int label = 0; label < classes; ++label) names.push_back(std::to_string(label));
    return names;
}

std::vector<std::string> readLines(const std::filesystem::path& file) {
    const auto bytes = readWhole(file, 1 << 20);
    std::istringstream text(std::string(bytes.begin(), bytes.end()));
    std::vector<std::string> lines;
    for (std::string line; std::getline(text, line);) {
        if (!line.empty() && line.back() == '\r') line.pop_back();
        if (!line.empty()) lines.push_back(line);
    }
    return lines;
}

}  // namespace lockstep
