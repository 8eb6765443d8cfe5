#include <QtTest>
#include <algorithm>
#include <iterator>

#include "dataset_files.h"
#include "datasets/csv.h"
#include "engine/core/utf8.h"
#include "engine/data/held_out.h"

using namespace lockstep;
using namespace lockstep::test;

namespace {

namespace fs = std::filesystem;
using Given = std::map<std::string, ParamValue>;
using Numbers = std::vector<std::int32_t>;

void write(const fs::path& file, const std::string& text) {
    writeFile(file, {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()});
}

Numbers numbersOf(const Dataset& data, std::int64_t index, const char* field) {
    Sample sample(data);
    const auto numbers = sample.read(index).field<std::int32_t>(field);
    return {numbers.begin(), numbers.end()};
}

std::string textOf(const Dataset& data, std::int64_t index) {
    std::string text;
    for (const std::int32_t token : numbersOf(data, index, "tokens")) text += static_cast<char>(token);
    return text;
}

// The name of what a sample of classes says: "label: text", without its padding.
std::string lineOf(const Dataset& data, std::int64_t index) {
    const auto length = static_cast<std::size_t>(numbersOf(data, index, "length").front());
    return data.info().classes[static_cast<std::size_t>(labelOf(data, index))] + ": " +
           textOf(data, index).substr(0, length);
}

std::vector<std::string> linesOf(const Dataset& data) {
    std::vector<std::string> lines;
    for (std::int64_t i = 0; i < data.info().count; ++i) lines.push_back(lineOf(data, i));
    return lines;
}

Problem problemOf(const Result<DatasetSplits>& result) { return result.ok() ? Problem{} : result.problems().front(); }

Result<DatasetReport> inspect(const std::string& id, const fs::path& path, const Given& given = {}) {
    const DatasetEntry of = entry(id);
    return of.inspect(path, params(of, given), {});
}

using Rows = std::vector<std::vector<std::string>>;

Rows rowsOf(const std::string& csv) {
    CsvReader reader(csv, "x.csv");
    Rows rows;
    for (std::vector<std::string> cells; reader.next(cells);) rows.push_back(cells);
    return rows;
}

Problem csvProblem(const std::string& csv) {
    try {
        rowsOf(csv);
    } catch (const ProblemError& error) {
        return error.problem();
    }
    return {};
}

const Given kEight{{"sequence", std::int64_t{8}}};

}  // namespace

class TestText : public QObject {
    Q_OBJECT
private slots:
    void utf8IsToldFromWhatIsNot_data() {
        QTest::addColumn<QByteArray>("bytes");
        QTest::addColumn<int>("broken");
        const auto row = [](const char* name, const QByteArray& bytes, int broken) {
            QTest::newRow(name) << bytes << broken;
        };
        row("nothing", "", -1);
        row("all lengths", "aé€😀", -1);
        row("first and last of each length",
            "\x7f\xc2\x80\xdf\xbf\xe0\xa0\x80\xef\xbf\xbf\xf0\x90\x80\x80\xf4\x8f\xbf\xbf", -1);
        row("latin-1", "caf\xe9 au", 3);
        row("continuation alone", "a\x80", 1);
        row("cut", "ab\xe2\x82", 2);
        row("overlong 2", "\xc1\x81", 0);
        row("overlong 3", "\xe0\x9f\xbf", 0);
        row("overlong 4", "\xf0\x8f\xbf\xbf", 0);
        row("surrogate", "\xed\xa0\x80", 0);
        row("beyond Unicode", "\xf4\x90\x80\x80", 0);
        row("no lead byte", "x\xf5\x80\x80\x80", 1);
    }
    void utf8IsToldFromWhatIsNot() {
        QFETCH(QByteArray, bytes);
        QFETCH(int, broken);
        const auto found = findBrokenUtf8({bytes.data(), static_cast<std::size_t>(bytes.size())});
        QCOMPARE(static_cast<int>(found), broken);
    }

    void whatIsNoUtf8IsRefusedByItsPlace() {
        requireUtf8("--prompt", "");
        requireUtf8("--prompt", "caf\xc3\xa9");
        try {
            requireUtf8("--prompt", "caf\xe9 au");
            QFAIL("nothing was thrown");
        } catch (const ProblemError& error) {
            QCOMPARE(error.problem(), (Problem{"--prompt", "text.not-utf8", {"3", "0xe9"}}));
        }
    }

    void whatCannotBeShownIsMarked() {
        QCOMPARE(legible("a\tb\nc é"), std::string("a\tb\nc é"));
        QCOMPARE(legible("\x1b[31m\x7f\r"), std::string("\uFFFD[31m\uFFFD\uFFFD"));
        QCOMPARE(legible("a\r\nb\n\r"), std::string("a\nb\n\uFFFD"));
        QCOMPARE(legible("\xc2\x9b\xe2\x82x"), std::string("\uFFFD\uFFFD\uFFFDx"));
    }

    // Every byte but the first of each part is foretold exactly once, by the one before it.
    void aTextIsCutIntoWindows() {
        const Folder folder;
        std::string text;
        for (int i = 0; i < 103; ++i) text += static_cast<char>('!' + i % 90);
        write(folder / "a.txt", text);
        const auto splits = open("text", folder / "a.txt", {{"sequence", std::int64_t{8}}, {"test_share", 0.2}});
        QCOMPARE(codeOf(splits), std::string("ok"));
        const Dataset &train = *splits.value().train, &test = *splits.value().test;
        QCOMPARE(train.info().fields, languageFields(8));
        QCOMPARE(train.info().classes.size(), std::size_t{256});
        QCOMPARE(train.info().classes['a'], std::string("a"));
        QCOMPARE(train.info().classes[0xe9], std::string("0xe9"));
        QCOMPARE(train.info().count, 11);  // 83 bytes: ten windows and three bytes
        QCOMPARE(test.info().count, 3);    // 20 bytes
        std::string seen, foretold;
        for (std::int64_t i = 0; i < train.info().count; ++i) {
            const Numbers tokens = numbersOf(train, i, "tokens"), targets = numbersOf(train, i, "targets");
            for (std::size_t t = 0; t < 8; ++t) {
                if (targets[t] >= 0) seen += static_cast<char>(tokens[t]), foretold += static_cast<char>(targets[t]);
            }
        }
        QCOMPARE(seen, text.substr(0, 82));
        QCOMPARE(foretold, text.substr(1, 82));
        QCOMPARE(textOf(test, 0), text.substr(83, 8));
        QCOMPARE(numbersOf(test, 2, "targets"), (Numbers{text[100], text[101], text[102], -1, -1, -1, -1, -1}));
        QCOMPARE(numbersOf(test, 2, "tokens"), (Numbers{text[99], text[100], text[101], text[102], 0, 0, 0, 0}));
    }

    void aWindowOfOneByteIsLeftOut() {
        const Folder folder;
        write(folder / "a.txt", std::string(17 + 9, 'x'));
        const auto splits = open("text", folder / "a.txt", {{"sequence", std::int64_t{8}}, {"test_share", 0.35}});
        QCOMPARE(splits.value().train->info().count, 2);
        QCOMPARE(splits.value().test->info().count, 1);
        QCOMPARE(numbersOf(*splits.value().train, 1, "targets"), Numbers(8, 'x'));
    }

    // Whichever windows are held out, training foretells none of the bytes that they are judged by.
    void whatIsHeldOutIsForetoldNowhereElse() {
        const Folder folder;
        std::string text;
        for (int i = 0; i < 90; ++i) text += static_cast<char>('!' + i);  // each byte once
        write(folder / "a.txt", text);
        const auto splits = open("text", folder / "a.txt", {{"sequence", std::int64_t{8}}, {"test_share", 0.1}});
        for (std::uint64_t seed = 1; seed <= 20; ++seed) {
            const HeldOut parts = holdOut(splits.value().train, 0.3, seed);
            Numbers foretold;
            for (const auto& part : {parts.train, parts.validation}) {
                for (std::int64_t i = 0; i < part->info().count; ++i)
                    std::ranges::copy(numbersOf(*part, i, "targets"), std::back_inserter(foretold));
            }
            std::erase(foretold, -1);
            std::ranges::sort(foretold);
            QCOMPARE(std::string(foretold.begin(), foretold.end()), text.substr(1, 80));
            QVERIFY(parts.validation->info().count == 3 && parts.train->info().count == 7);
        }
    }

    void filesOfAFolderFollowEachOther() {
        const Folder folder;
        write(folder / "b.txt", "second");
        write(folder / "a.txt",
              "\xef\xbb\xbf"
              "first ");
        write(folder / "notes.md", "not this");
        const auto splits = open("text", folder.path(), {{"sequence", std::int64_t{8}}, {"test_share", 0.3}});
        QCOMPARE(textOf(*splits.value().train, 0), std::string("first se"));
        QCOMPARE(textOf(*splits.value().test, 0).substr(0, 3), std::string("ond"));
    }

    void theTestBeginsWithACharacter() {
        const Folder folder;
        write(folder / "a.txt", "abcdef€");
        const auto splits = open("text", folder / "a.txt", kEight);
        QCOMPARE(textOf(*splits.value().test, 0).substr(0, 3), std::string("€"));
    }

    void whatIsNoTextIsNamed() {
        const Folder folder;
        write(folder / "latin.txt", "na\xefve");
        const Problem latin = problemOf(open("text", folder / "latin.txt"));
        QCOMPARE(latin, (Problem{(folder / "latin.txt").string(), "text.not-utf8", {"2", "0xef"}}));
        write(folder / "empty.txt", "");
        QCOMPARE(problemOf(open("text", folder / "empty.txt")).code, std::string("text.empty"));
        write(folder / "short.txt", "abc");
        QCOMPARE(problemOf(open("text", folder / "short.txt")),
                 (Problem{(folder / "short.txt").string(), "text.too-short", {"3", "4"}}));
        QCOMPARE(codeOf(open("text", folder / "nowhere")), std::string("dataset.not-found"));
        fs::create_directory(folder / "bare");
        QCOMPARE(codeOf(open("text", folder / "bare")), std::string("text.no-files"));
        QCOMPARE(problemOf(open("text", folder.path())).field, (folder / "empty.txt").string());
    }

    void aReportOfTextHasNoClasses() {
        const Folder folder;
        write(folder / "a.txt", std::string(1000, 'x'));
        const auto report = inspect("text", folder / "a.txt", {{"sequence", std::int64_t{100}}});
        QVERIFY(report.ok() && report.value().classes.empty() && report.value().trainPerClass.empty());
        QCOMPARE(report.value().trainCount, 10);
        QCOMPARE(report.value().testCount, 1);
    }

    // Whatever its cells are: a table is not read as a language model's text.
    void tabsDivideAsCommasDo() {
        const Folder folder;
        write(folder / "reviews.tsv",
              "id\ttext\tlabel\n1\ta \"fine\" film, really\tgood\n2\t\"a\ttab\"\tbad\n"
              "3\tdull\tbad\n4\twell made\tgood\n");
        QCOMPARE(recogniseDataset(builtinDatasets({}), folder / "reviews.tsv").value()->id, std::string("text-csv"));
        const auto splits = open("text-csv", folder / "reviews.tsv", {{"sequence", std::int64_t{32}}});
        QCOMPARE(codeOf(splits), std::string("dataset.missing-test"));
        fs::rename(folder / "reviews.tsv", folder / "train.tsv");
        write(folder / "test.TSV", "nothing reads this\n");
        write(folder / "test.tsv", "text\tlabel\nso so\tbad\n");
        QCOMPARE(recogniseDataset(builtinDatasets({}), folder.path()).value()->id, std::string("text-csv"));
        const auto both = open("text-csv", folder.path(), {{"sequence", std::int64_t{32}}});
        QCOMPARE(codeOf(both), std::string("ok"));
        QCOMPARE(linesOf(*both.value().train), (std::vector<std::string>{"good: a \"fine\" film, really", "bad: a\ttab",
                                                                         "bad: dull", "good: well made"}));
        QCOMPARE(linesOf(*both.value().test), std::vector<std::string>{"bad: so so"});
        QVERIFY(!both.value().validation);
        write(folder / "val.tsv", "text\tlabel\nfine\tgood\nnot so\tbad\n");
        const auto three = open("text-csv", folder.path(), {{"sequence", std::int64_t{32}}});
        QCOMPARE(three.value().validation->info().count, std::int64_t{2});
        QVERIFY(three.value().test->info().count == 1 &&
                three.value().train->info().count == both.value().train->info().count);
        write(folder / "words.TSV", "word\tcount\na\t1\nb\t2\n");
        QCOMPARE(recogniseDataset(builtinDatasets({}), folder / "words.TSV").value()->id, std::string("text-csv"));
        QCOMPARE(problemOf(open("text-csv", folder / "words.TSV")),
                 (Problem{folder / "words.TSV", "text-csv.no-column", {"text", "word, count"}}));
    }

    void csvIsReadByTheRfc() {
        QCOMPARE(rowsOf("a,b\r\n1,2\n\n3,\n"), (Rows{{"a", "b"}, {"1", "2"}, {"3", ""}}));
        QCOMPARE(rowsOf("a,\"b\"\n\"x, y\n\"\"z\"\"\",\"\"\n"), (Rows{{"a", "b"}, {"x, y\n\"z\"", ""}}));
        QCOMPARE(rowsOf("a\rb,c"), (Rows{{"a\rb", "c"}}));
        QCOMPARE(rowsOf(""), Rows{});
        QCOMPARE(csvProblem("a,b\n\n\"1\n2\",3,4\n"), (Problem{"x.csv", "csv.ragged-row", {"3", "3", "2"}}));
        QCOMPARE(csvProblem("a,b\n1,\"2\n3"), (Problem{"x.csv", "csv.unterminated-quote", {"2"}}));
        QCOMPARE(csvProblem("a,b\n1,2\"3\n"), (Problem{"x.csv", "csv.stray-quote", {"2"}}));
        QCOMPARE(csvProblem("a,b\n\"1\n\"x,2\n"), (Problem{"x.csv", "csv.text-after-quote", {"3"}}));
    }

    void aTableGivesTextsAndClasses() {
        const Folder folder;
        write(folder / "train.csv", "id,label,text\n1,pets,\"a cat, asleep\"\n2,birds,a hen\n3,pets,dog\n");
        write(folder / "test.csv", "\xef\xbb\xbftext,label\nowl,birds\n");
        const auto splits = open("text-csv", folder.path(), kEight);
        QCOMPARE(codeOf(splits), std::string("ok"));
        const Dataset& train = *splits.value().train;
        QCOMPARE(train.info().fields, textFields(8));
        QCOMPARE(linesOf(train), (std::vector<std::string>{"pets: a cat, a", "birds: a hen", "pets: dog"}));
        QCOMPARE(linesOf(*splits.value().test), (std::vector<std::string>{"birds: owl"}));
        QCOMPARE(textOf(train, 2), std::string("dog\0\0\0\0\0", 8));
        const auto report = inspect("text-csv", folder.path(), kEight);
        QCOMPARE(report.value().trainPerClass, (std::vector<std::int64_t>{1, 2}));
        QCOMPARE(report.value().warnings.front(), (Problem{"dataset.sequence", "text.cut", {"1", "4", "8"}}));
    }

    void aTableIsSplitByItsTexts() {
        const Folder folder;
        std::string csv = "text,label\n", turned;
        for (int i = 0; i < 400; ++i) {
            const std::string row = "text " + std::to_string(i % 200) + "," + (i % 2 ? "odd" : "even") + "\n";
            csv += row;
            turned = row + turned;
        }
        write(folder / "a.csv", csv);
        write(folder / "b.csv", "text,label\n" + turned);
        const auto splits = open("text-csv", folder / "a.csv"), other = open("text-csv", folder / "b.csv");
        auto train = linesOf(*splits.value().train), test = linesOf(*splits.value().test);
        QVERIFY2(test.size() > 40 && test.size() < 130, qPrintable(QString::number(test.size())));
        QCOMPARE(train.size() + test.size(), std::size_t{400});
        auto again = linesOf(*other.value().test);
        std::ranges::sort(test), std::ranges::sort(again);
        QCOMPARE(again, test);
        for (const std::string& line : test) QVERIFY(std::ranges::count(test, line) == 2);
    }

    void mistakesOfATableAreNamed() {
        const Folder folder;
        const auto refused = [&](const std::string& csv) {
            write(folder / "a.csv", csv);
            Problem problem = problemOf(open("text-csv", folder / "a.csv"));
            if (problem.field != folder / "a.csv") problem.field = "another file";
            else problem.field.clear();
            return problem;
        };
        QCOMPARE(refused("words,label\na,b\n"), (Problem{"", "text-csv.no-column", {"text", "words, label"}}));
        QCOMPARE(refused("text,class\na,b\n"), (Problem{"", "text-csv.no-column", {"label", "text, class"}}));
        QCOMPARE(refused("text,label\n\"a\n\",x\n,y\n"), (Problem{"", "text-csv.empty-text", {"4"}}));
        QCOMPARE(refused("text,label\na,x\nb,\n"), (Problem{"", "text-csv.empty-label", {"3"}}));
        QCOMPARE(refused("text,label\na,x\n").code, std::string("dataset.missing-test"));
        QCOMPARE(refused("text,label\na\n"), (Problem{"", "csv.ragged-row", {"2", "1", "2"}}));
        QCOMPARE(refused("text,label\n\xff,x\n"), (Problem{"", "text.not-utf8", {"11", "0xff"}}));
        QCOMPARE(refused(""), (Problem{"", "text.empty", {}}));
        QCOMPARE(refused("\n"), (Problem{"", "text-csv.no-column", {"text", ""}}));
        write(folder / "train.csv", "text,label\na,x\nb,x\n");
        write(folder / "test.csv", "text,label\na,x\n");
        QCOMPARE(codeOf(open("text-csv", folder.path())), std::string("dataset.too-few-classes"));
        write(folder / "test.csv", "text,label\na,x\nb,z\n");
        QCOMPARE(problemOf(open("text-csv", folder.path())),
                 (Problem{(folder / "test.csv").string(), "text-csv.unknown-class", {"3", "z"}}));
        QCOMPARE(codeOf(open("text-csv", folder / "a.csv", {{"text_column", std::string("a")}})),
                 std::string("text-csv.no-column"));
        fs::create_directory(folder / "bare");
        QCOMPARE(codeOf(open("text-csv", folder / "bare")), std::string("text-csv.no-files"));
        QCOMPARE(codeOf(open("text-csv", folder / "nowhere")), std::string("dataset.not-found"));
    }

    void aFolderPerClassGivesTexts() {
        const Folder folder;
        for (const std::string split : {"train", "test"}) {
            write(folder / (split + "/good/1.txt"), split + " good");
            write(folder / (split + "/bad/1.txt"), split + " bad");
        }
        write(folder / "train/good/notes.md", "skipped");
        const auto splits = open("text-folder", folder.path());
        QCOMPARE(codeOf(splits), std::string("ok"));
        QCOMPARE(linesOf(*splits.value().train), (std::vector<std::string>{"bad: train bad", "good: train good"}));
        QCOMPARE(linesOf(*splits.value().test), (std::vector<std::string>{"bad: test bad", "good: test good"}));
        const auto report = inspect("text-folder", folder.path());
        QCOMPARE(report.value().skipped.front().reason.code, std::string("text.unknown-kind"));
        write(folder / "train/bad/2.txt", "");
        QCOMPARE(problemOf(open("text-folder", folder.path())),
                 (Problem{(folder / "train/bad/2.txt").string(), "text.empty", {}}));
        write(folder / "train/bad/2.txt", "x\xc0");
        QCOMPARE(problemOf(open("text-folder", folder.path())).args, (std::vector<std::string>{"1", "0xc0"}));
    }

    void oneClassOfTextsIsTooFew() {
        const Folder folder;
        for (int i = 0; i < 40; ++i) write(folder / ("only/" + std::to_string(i) + ".txt"), "x");
        QCOMPARE(codeOf(open("text-folder", folder.path())), std::string("dataset.too-few-classes"));
    }

    void textsAreRecognised() {
        const Folder folder;
        const auto entries = builtinDatasets({});
        const auto idOf = [&](const fs::path& path) {
            const auto found = recogniseDataset(entries, path);
            return found.ok() ? found.value()->id : found.problems().front().code;
        };
        write(folder / "a.txt", "any text");
        QCOMPARE(idOf(folder / "a.txt"), std::string("text"));
        QCOMPARE(idOf(folder.path()), std::string("text"));
        write(folder / "poem", std::string(4095, 'x') + "é");
        QCOMPARE(idOf(folder / "poem"), std::string("text"));
        write(folder / "noise", std::string("\0\1", 2));
        QCOMPARE(idOf(folder / "noise"), std::string("dataset.unrecognised"));
        write(folder / "table.csv", "label,text\nx,y\n");
        QCOMPARE(idOf(folder / "table.csv"), std::string("text-csv"));
        write(folder / "other.csv", "a,b\nx,y\n");
        QCOMPARE(idOf(folder / "other.csv"), std::string("text-csv"));
        write(folder / "reviews/good/1.txt", "x");
        QCOMPARE(idOf(folder / "reviews"), std::string("text-folder"));
        write(folder / "split/train/good/1.txt", "x");
        QCOMPARE(idOf(folder / "split"), std::string("text-folder"));
        write(folder / "tables/train.csv", "text,label\n");
        QCOMPARE(idOf(folder / "tables"), std::string("text-csv"));
    }
};

QTEST_APPLESS_MAIN(TestText)
#include "tst_text.moc"
