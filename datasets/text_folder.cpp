#include "datasets/class_folders.h"
#include "datasets/entries.h"
#include "datasets/labelled_texts.h"
#include "datasets/loading.h"
#include "datasets/text_file.h"

namespace lockstep {

namespace {

const FileKind& textFiles() {
    static const FileKind kind{{".txt"}, "text.unknown-kind"};
    return kind;
}

Loaded loadTextFolder(const std::filesystem::path& path, const ParamValues& params, Reading& reading) {
    FolderScan scan = scanClassFolders(path, textFiles(), params.number("test_share"), reading);
    DatasetInfo info;
    info.id = "text-folder";
    info.classes = std::move(scan.classes);
    info.fields = textFields(params.integer("sequence"));
    reading.describe(info);
    reading.expect(static_cast<std::int64_t>(scan.count()));
    std::int64_t done = 0;
    const auto read = [&](const FileList& files) {
        auto texts = std::make_shared<LabelledTexts>(info, params.integer("sequence"));
        for (const LabelledFile each : files) {
            texts->add(readText(each.file), each.label, each.file.string());
            reading.advance(++done);
        }
        return texts;
    };
    const auto train = read(scan.train), test = read(scan.test);
    Loaded loaded{train, test, std::move(scan.skipped), {}, std::move(scan.notes)};
    const auto validation = scan.validation.empty() ? nullptr : read(scan.validation);
    loaded.validation = validation;
    loaded.warnings = warnOfCuts({train.get(), test.get(), validation.get()});
    return loaded;
}

}  // namespace

DatasetEntry textFolderEntry() {
    DatasetEntry entry;
    entry.id = "text-folder";
    entry.title = "Text folder";
    entry.meaning =
        "A folder with one sub-folder of .txt files per class, or train, test and perhaps val folders of such.";
    entry.params = {sequenceField(256, "Bytes of a sample; longer texts are cut."),
                    testShareField(0.2, "Share of the texts held out for testing where there is no test folder.")};
    entry.remedy = "Sort the texts into one folder per class and give the folder above them.";
    entry.recognise = [](const std::filesystem::path& path) { return hasClassFolders(path, textFiles()) ? 65 : 0; };
    loadBy(entry, loadTextFolder);
    return entry;
}

}  // namespace lockstep
