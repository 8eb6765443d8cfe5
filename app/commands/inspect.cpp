#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "app/commands/commands.h"
#include "app/format.h"
#include "app/listing.h"
#include "app/progress.h"
#include "app/status_line.h"
#include "datasets/catalog.h"
#include "engine/train/open_data.h"

namespace lockstep {

namespace {

struct InspectOptions {
    std::string path, format;
    bool json = false;
};

std::string countAt(const std::vector<std::int64_t>& counts, std::size_t index) {
    return index < counts.size() ? countText(counts[index]) : "–";
}

void printClasses(const DatasetReport& report) {
    const bool validates = !report.validationPerClass.empty();
    Table table(validates ? std::vector<std::string>{"CLASS", "TRAIN", "VALIDATION", "TEST", "BALANCE"}
                          : std::vector<std::string>{"CLASS", "TRAIN", "TEST", "BALANCE"});
    const auto most = report.trainPerClass.empty() ? 0 : *std::ranges::max_element(report.trainPerClass);
    for (std::size_t i = 0; i < report.classes.size(); ++i) {
        const auto count = i < report.trainPerClass.size() ? report.trainPerClass[i] : 0;
        const auto width = most > 0 ? static_cast<std::size_t>(20 * count / most) : 0;
        std::vector<std::string> row{report.classes[i], countAt(report.trainPerClass, i)};
        if (validates) row.push_back(countAt(report.validationPerClass, i));
        row.push_back(countAt(report.testPerClass, i));
        row.push_back(std::string(width, '#'));
        table.add(std::move(row));
    }
    fmt::print("\n{}", table.text());
}

void printReport(const DatasetReport& report, const std::string& path, const Words& words) {
    const auto classes = report.classes.empty() ? "" : fmt::format(" {} classes,", report.classes.size());
    const auto validation =
        report.validationCount > 0 ? fmt::format(", {} validation", countText(report.validationCount)) : "";
    fmt::print("{}: {},{} {} training{} and {} of {}\n", printable(path), report.format, classes,
               countText(report.trainCount), validation, plural(report.testCount, "test sample"), text(report.fields));
    if (!report.classes.empty()) printClasses(report);
    for (const auto& warning : report.warnings)
        fmt::print("\nwarning: {}\n  → {}\n", words.what(warning), words.remedy(warning));
    if (!report.skipped.empty()) fmt::print("\nSkipped ({}):\n", report.skipped.size());
    for (const auto& skipped : report.skipped) {
        const std::string file = printable(skipped.file.string()), what = words.what(skipped.reason);
        fmt::print("  {}\n", what.find(file) == what.npos ? file + ": " + what : what);
    }
}

Result<const DatasetEntry*> entryFor(const InspectOptions& options, const Environment& environment) {
    if (options.format.empty()) return recogniseDataset(environment.datasets(), options.path);
    if (const auto* entry = environment.dataset(options.format)) return entry;
    std::string known;
    for (const auto& each : environment.datasets()) known += (known.empty() ? "" : ", ") + each.id;
    return Problem{"--format", "dataset.unknown", {options.format, known}};
}

// On a terminal a line that goes when it is done.
Result<DatasetReport> reportOf(const DatasetEntry& entry, const std::string& path) {
    const StatusLine line;
    OpeningWatch watch = watchWithRate([&line](const DataProgress& now) { line.say(dataProgressText(now)); });
    watch.sparesMany = true;
    return entry.inspect(path, ParamValues(entry.params), watch);
}

int inspect(Context& context, const InspectOptions& options) {
    const auto entry = entryFor(options, context.environment());
    if (!entry.ok()) return context.report(entry.problems());
    const auto report = reportOf(*entry.value(), options.path);
    if (!report.ok()) return context.report(report.problems());
    if (options.json) fmt::print("{}\n", jsonOf(inspection(report.value(), serveWords(context.words()))));
    else printReport(report.value(), options.path, context.words());
    return kDone;
}

}  // namespace

void addInspect(CLI::App& program, Run& run) {
    const auto options = std::make_shared<InspectOptions>();
    auto* command = program.add_subcommand("inspect", "Look at data: format, counts, classes, balance, skipped files");
    command->add_option("path", options->path, "A folder or file")->required()->type_name("PATH");
    command->add_option("--format", options->format, "Read it as this dataset, whatever it looks like")
        ->type_name("ID");
    command->add_flag("--json", options->json, "As JSON");
    command->footer("\nExample:\n  lockstep inspect /usr/share/datasets/fashion-mnist");
    command->callback([options, &run] { run = [options](Context& context) { return inspect(context, *options); }; });
}

}  // namespace lockstep
