#include <algorithm>
#include <map>
#include <optional>

#include "datasets/ascii.h"
#include "datasets/byte_stream.h"
#include "datasets/class_folders.h"
#include "datasets/csv.h"
#include "datasets/entries.h"
#include "datasets/labelled_texts.h"
#include "datasets/loading.h"
#include "datasets/text_file.h"

namespace lockstep {

namespace {

namespace fs = std::filesystem;

struct Row {
    std::string text, label;
    std::int64_t line = 0;
};

std::string joined(const std::vector<std::string>& cells) {
    std::string all;
    for (const std::string& cell : cells) all += (all.empty() ? "" : ", ") + cell;
    return all;
}

// By the ending of its name; 0: it is no table.
char separatorOf(const fs::path& file) {
    const std::string ending = lowered(file.extension().string());
    return ending == ".csv" ? ',' : ending == ".tsv" ? '\t' : '\0';
}

std::optional<std::size_t> find(const std::vector<std::string>& header, const std::string& column) {
    const auto found = std::ranges::find(header, column);
    if (found == header.end()) return std::nullopt;
    return static_cast<std::size_t>(found - header.begin());
}

class CsvFile {
public:
    CsvFile(const fs::path& file, const ParamValues& params)
        : m_file(file.string()),
          m_text(readText(file)),
          m_reader(m_text, m_file, separatorOf(file) == '\t' ? '\t' : ',') {
        std::vector<std::string> header;
        m_reader.next(header);
        m_textColumn = column(header, params.string("text_column"));
        m_labelColumn = column(header, params.string("label_column"));
    }

    std::vector<Row> rows() {
        std::vector<Row> rows;
        for (std::vector<std::string> cells; m_reader.next(cells);) {
            if (cells[m_textColumn].empty()) fail("text-csv.empty-text");
            if (cells[m_labelColumn].empty()) fail("text-csv.empty-label");
            rows.push_back({std::move(cells[m_textColumn]), std::move(cells[m_labelColumn]), m_reader.line()});
        }
        return rows;
    }

private:
    std::size_t column(const std::vector<std::string>& header, const std::string& name) const {
        const auto at = find(header, name);
        if (!at) throw ProblemError({m_file, "text-csv.no-column", {name, joined(header)}});
        return *at;
    }

    [[noreturn]] void fail(const char* code) const {
        throw ProblemError({m_file, code, {std::to_string(m_reader.line())}});
    }

    std::string m_file, m_text;
    CsvReader m_reader;
    std::size_t m_textColumn = 0, m_labelColumn = 0;
};

// test empty: held out. validation empty: there is none.
struct CsvFiles {
    fs::path train, test, validation = {};
};

CsvFiles csvFilesAt(const fs::path& path) {
    if (!fs::exists(path)) throw ProblemError({path.string(), "dataset.not-found", {}});
    if (!fs::is_directory(path)) return {path, {}};
    const auto table = [&](const char* split) {
        for (const char* ending : {".csv", ".tsv"}) {
            if (fs::exists(path / (std::string(split) + ending))) return path / (std::string(split) + ending);
        }
        return fs::path();
    };
    CsvFiles files{table("train"), table("test"), {}};
    for (const char* name : {"val", "valid", "validation"}) {
        if (files.validation.empty()) files.validation = table(name);
    }
    if (files.train.empty()) throw ProblemError({path.string(), "text-csv.no-files", {}});
    return files;
}

struct Splits {
    std::vector<Row> train, test, validation = {};
};

// By the texts: what is said twice is on one side.
Splits holdOut(std::vector<Row> rows, double share) {
    std::map<std::string, std::vector<Row*>> byClass;
    for (Row& row : rows) byClass[row.label].push_back(&row);
    Splits splits;
    for (const auto& [label, members] : byClass) {
        std::vector<std::string_view> texts;
        for (const Row* row : members) texts.push_back(row->text);
        const std::vector<bool> out = heldOut(texts, share);
        for (std::size_t i = 0; i < members.size(); ++i)
            (out[i] ? splits.test : splits.train).push_back(std::move(*members[i]));
    }
    return splits;
}

std::vector<std::string> classesOf(const std::vector<Row>& rows) {
    std::vector<std::string> names;
    for (const Row& row : rows) names.push_back(row.label);
    std::ranges::sort(names);
    names.erase(std::ranges::unique(names).begin(), names.end());
    return names;
}

Loaded loadTextCsv(const fs::path& path, const ParamValues& params, Reading& reading) {
    const CsvFiles files = csvFilesAt(path);
    Splits splits;
    if (files.test.empty()) splits = holdOut(CsvFile(files.train, params).rows(), params.number("test_share"));
    else splits = {CsvFile(files.train, params).rows(), CsvFile(files.test, params).rows()};
    if (!files.validation.empty()) splits.validation = CsvFile(files.validation, params).rows();

    DatasetInfo info;
    info.id = "text-csv";
    info.classes = classesOf(splits.train);
    info.fields = textFields(params.integer("sequence"));
    reading.describe(info);
    reading.goOn();
    const auto collect = [&](const std::vector<Row>& rows, const fs::path& file) {
        auto texts = std::make_shared<LabelledTexts>(info, params.integer("sequence"));
        for (const Row& row : rows) {
            const auto known = std::ranges::lower_bound(info.classes, row.label);
            if (known == info.classes.end() || *known != row.label)
                throw ProblemError({file.string(), "text-csv.unknown-class", {std::to_string(row.line), row.label}});
            texts->add(row.text, static_cast<std::int32_t>(known - info.classes.begin()));
        }
        return texts;
    };
    const auto train = collect(splits.train, files.train), test = collect(splits.test, files.test);
    const auto validation = splits.validation.empty() ? nullptr : collect(splits.validation, files.validation);
    Loaded loaded{train, test, {}, warnOfCuts({train.get(), test.get(), validation.get()})};
    loaded.validation = validation;
    return loaded;
}

bool hasColumns(const fs::path& file) {
    std::string front(4096, '\0');
    std::vector<std::string> header;
    try {
        front.resize(openPlain(file)->read({reinterpret_cast<std::uint8_t*>(front.data()), front.size()}));
        CsvReader(front, file.string(), separatorOf(file)).next(header);
    } catch (const ProblemError&) {
        return false;  // opening it will say what is wrong
    }
    return find(header, "text") && find(header, "label");
}

int recogniseTextCsv(const fs::path& path) {
    if (fs::is_directory(path) && !fs::exists(path / "train.csv") && !fs::exists(path / "train.tsv")) return 0;
    const fs::path file = csvFilesAt(path).train;
    if (separatorOf(file) == 0 || !fs::is_regular_file(file)) return 0;
    return hasColumns(file) ? 90 : 30;
}

}  // namespace

DatasetEntry textCsvEntry() {
    DatasetEntry entry;
    entry.id = "text-csv";
    entry.title = "Text table";
    entry.meaning =
        "A CSV or TSV file with a column of texts and one of their classes, or a folder with train.csv, test.csv and "
        "perhaps val.csv.";
    entry.params = {
        sequenceField(256, "Bytes of a sample; longer texts are cut."),
        testShareField(0.2, "Share of the texts held out for testing where there is no test.csv."),
        {"text_column", std::string("text"), {}, {}, {}, "", "The column of the texts, by its name in the first line."},
        {"label_column", std::string("label"), {}, {}, {}, "", "The column of their classes."}};
    entry.remedy = "Give a CSV or TSV file whose first line names the columns, among them text and label.";
    entry.recognise = recogniseTextCsv;
    loadBy(entry, loadTextCsv);
    return entry;
}

}  // namespace lockstep
