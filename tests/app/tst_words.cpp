#include <QDirIterator>
#include <QFile>
#include <QJsonDocument>
#include <QJsonObject>
#include <QRegularExpression>
#include <QtTest>

#include "app/embedded.h"
#include "app/words.h"
#include "engine/core/error.h"
#include "engine/core/printable.h"

using namespace lockstep;

namespace {

QString readAll(const QString& path) {
    QFile file(path);
    return file.open(QIODevice::ReadOnly) ? QString::fromUtf8(file.readAll()) : QString();
}

// A code of a problem stands second in a braced list: {field, "area.code", {…}} or {field, cond ? "area.code" :
// "area.other", …}.
QStringList codesIn(const QString& source) {
    static const QRegularExpression second(
        R"re([{(][^{}";]*(?:"[^"\n]*"[^{}";]*)?,\s*(?:[^{}",;]*\?\s*)?)re"
        R"re("([a-z][a-z0-9-]*\.[a-z0-9.-]+)"(?:\s*:\s*"([a-z][a-z0-9-]*\.[a-z0-9.-]+)")?\s*,)re");
    static const QRegularExpression fileName(R"(\.(json|log|txt|bin|so|sqlite|idx|gz|lock|png|jpg|safetensors|max)$)");
    QStringList codes;
    for (auto matches = second.globalMatch(source); matches.hasNext();) {
        const auto match = matches.next();
        for (const int group : {1, 2}) {
            const auto code = match.captured(group);
            if (!code.isEmpty() && !fileName.match(code).hasMatch()) codes << code;
        }
    }
    return codes;
}

}  // namespace

class TestWords : public QObject {
    Q_OBJECT
private slots:
    void everyKindOfFailureHasWords() {
        const Words words;
        for (int kind = 0; kind <= static_cast<int>(EngineError::Kind::Aborted); ++kind) {
            const std::string name(text(static_cast<EngineError::Kind>(kind)));
            QVERIFY2(!words.remedy({"f", "run.failed." + name, {"x", "y"}}).empty(), name.c_str());
        }
    }

    // As a run's progress and `lockstep show` say.
    void whatATrialTookIsCalledAttempts() {
        const Words words;
        const std::string what = words.what({"trial", "queue.no-last-word", {"7", "2", "3"}});
        QVERIFY2(what.find("(attempts: 3)") != std::string::npos, what.c_str());
    }

    void everyCodeOfTheSourcesHasWords() {
        const Words words;
        QStringList without;
        int seen = 0;
        for (const char* root : {"engine", "datasets", "app"}) {
            QDirIterator it(QStringLiteral(LOCKSTEP_SOURCE_DIR) + '/' + root, {"*.h", "*.cpp", "*.cu"}, QDir::Files,
                            QDirIterator::Subdirectories);
            while (it.hasNext()) {
                const auto file = it.next();
                for (const auto& code : codesIn(readAll(file))) {
                    ++seen;
                    if (words.remedy({"f", code.toStdString(), {}}).empty()) without << code + " in " + file;
                }
            }
        }
        QVERIFY2(seen > 60, qPrintable(QString::number(seen)));
        without.removeDuplicates();
        QVERIFY2(without.isEmpty(), qPrintable(without.join('\n')));
    }

    void theSearchSeesTheFormsInUse() {
        QCOMPARE(codesIn(R"(return Problem{path, "idx.truncated", {a, b}};)"), QStringList{"idx.truncated"});
        QCOMPARE(codesIn(R"(problems.push_back({m_prefix + key, "spec.unknown-key", {key}});)"),
                 QStringList{"spec.unknown-key"});
        QCOMPARE(codesIn(R"(throw ProblemError({"devices", "devices.syntax", {text}});)"),
                 QStringList{"devices.syntax"});
        QCOMPARE(codesIn(R"(return {"", bad ? "a.one" : "b.two", {}};)"), (QStringList{"a.one", "b.two"}));
        QCOMPARE(codesIn(R"(open(folder / "spec.json");)"), QStringList{});
    }

    void everyEntryIsWhole() {
        QSet<QString> codes;
        int files = 0;
        for (const auto& text : embeddedTexts()) {
            if (!text.name.starts_with("messages/")) continue;
            ++files;
            const auto json =
                QJsonDocument::fromJson(QByteArray(text.text.data(), static_cast<qsizetype>(text.text.size())))
                    .object();
            for (auto it = json.begin(); it != json.end(); ++it) {
                QVERIFY2(!codes.contains(it.key()), qPrintable(it.key() + " has words in two files"));
                codes << it.key();
                QVERIFY2(it->toObject()["what"].toString().size() > 5, qPrintable(it.key()));
                QVERIFY2(it->toObject()["remedy"].toString().size() > 5, qPrintable(it.key()));
                QCOMPARE(it->toObject().size(), 2);
            }
        }
        const auto onDisk =
            QDir(QStringLiteral(LOCKSTEP_SOURCE_DIR) + "/resources/messages").entryList({"*.json"}, QDir::Files);
        QCOMPARE(files, static_cast<int>(onDisk.size()));
    }

    void presetsAreInTheProgram() {
        bool fashion = false;
        for (const auto& text : embeddedTexts()) fashion = fashion || text.name == "presets/fashion.json";
        QVERIFY(fashion);
    }

    void valuesAreFilledIn_data() {
        QTest::addColumn<QString>("sentence");
        QTest::addColumn<QString>("expected");
        const auto row = [](const char* sentence, const char* expected) {
            QTest::newRow(sentence) << sentence << expected;
        };
        row("{field}: {0} of {1}", "batch: 7 of {0}");  // a value's own braces stay
        row("{2} is absent", "? is absent");
        row("no place", "no place");
        row("an open { brace", "an open { brace");
        row("{what} stays", "{what} stays");
        row("{1}{0}", "{0}7");
    }
    void valuesAreFilledIn() {
        QFETCH(QString, sentence);
        QFETCH(QString, expected);
        QCOMPARE(QString::fromStdString(fillIn(sentence.toStdString(), {"batch", "", {"7", "{0}"}})), expected);
    }

    // A sentence within a sentence has one full stop.
    void aSentenceWithinASentence() {
        const auto said = [](const char* why) { return fillIn("It is so: {0}. States are old", {"", "", {why}}); };
        QCOMPARE(said("The disk says: input/output error."),
                 std::string("It is so: The disk says: input/output error. States are old"));
        QCOMPARE(said("no room"), std::string("It is so: no room. States are old"));
        QCOMPARE(said(".."), std::string("It is so: ... States are old"));  // a folder
    }

    void anEmptyFieldLeavesNoColon() { QCOMPARE(fillIn("{field}: all is well", {}), std::string("all is well")); }

    void aReportNamesFieldValueAndRemedy() {
        const auto report = Words().report({{"epochs", "spec.out-of-range", {"0", "1", "100"}}});
        QCOMPARE(report, std::string("lockstep: epochs: 0 is outside 1 … 100.\n  → Choose a value from 1 to 100.\n"));
    }

    void whatATerminalObeysIsSpelt_data() {
        QTest::addColumn<QByteArray>("text");
        QTest::addColumn<QByteArray>("expected");
        const auto row = [](const char* name, const QByteArray& text, const QByteArray& expected) {
            QTest::newRow(name) << text << expected;
        };
        row("plain", "a title", "a title");
        row("other scripts", "Größe \xe6\x97\xa5\xe6\x9c\xac \xf0\x9f\x99\x82",
            "Größe \xe6\x97\xa5\xe6\x9c\xac \xf0\x9f\x99\x82");
        row("the window's title", "evil\x1b]0;pwned\a", "evil\\x1b]0;pwned\\x07");
        row("lines", "a\nb\r\tc", "a\\nb\\r\\tc");
        row("nothing", QByteArray("a\0b", 3), "a\\x00b");
        row("delete", "a\x7f", "a\\x7f");
        row("C1",
            "\xc2\x9b"
            "2J",
            "\\u009b2J");
        row("separators", "\xe2\x80\xa8\xe2\x80\xa9", "\\u2028\\u2029");
        row("turned round",
            "\xe2\x80\xae"
            "gpj.exe",
            "\\u202egpj.exe");
        row("isolated",
            "\xe2\x81\xa6"
            "a\xe2\x81\xa9",
            "\\u2066a\\u2069");
        row("no UTF-8", "caf\xe9 \xff", "caf\\xe9 \\xff");
        row("overlong", "\xc0\x9b", "\\xc0\\x9b");
        row("a surrogate", "\xed\xa0\x80", "\\xed\\xa0\\x80");
        row("cut short", "\xe2\x80", "\\xe2\\x80");
    }
    void whatATerminalObeysIsSpelt() {
        QFETCH(QByteArray, text);
        QFETCH(QByteArray, expected);
        QCOMPARE(QByteArray::fromStdString(printable(text.toStdString())), expected);
        QCOMPARE(printable(expected.toStdString()), expected.toStdString());
        const Problem problem{text.toStdString(), "dataset.not-found", {}};
        QVERIFY(Words().report({problem}).find(expected.toStdString()) != std::string::npos);
    }

    void columnsAreCountedAsATerminalDoes() {
        QCOMPARE(columnsOf("abc"), 3);
        QCOMPARE(columnsOf("Größe"), 5);
        QCOMPARE(columnsOf("\xe6\x97\xa5\xe6\x9c\xac"), 4);  // two wide ones
        QCOMPARE(columnsOf("\xf0\x9f\x99\x82"), 2);
        QCOMPARE(columnsOf("e\xcc\x81"), 1);  // an accent of its own
        QCOMPARE(columnsOf("\xe2\x80\x93"), 1);
    }

    void aProblemWithinAProblem() {
        const Problem remark{"/data", "dataset.left-out", {"3", "20", "image.truncated", "/data/a.jpg", "it ends"}};
        QCOMPARE(Words().what(remark), std::string("Left out: 3 of 20 files in /data. The first of them: "
                                                   "/data/a.jpg is cut short: it ends."));
        QVERIFY(!Words().what({"/data", "dataset.left-out", {}}).empty());
        const Problem failed{"sweep", "sweep.all-failed", {"8", "spec.out-of-range", "batch", "0", "1", "9"}};
        QVERIFY(Words().what(failed).ends_with("The first: batch: 0 is outside 1 … 9."));
        const Problem early{"sweep", "sweep.all-failed", {"8", "it ran out of memory"}};  // as it was written once
        QVERIFY(Words().what(early).ends_with("The first: it ran out of memory."));
    }

    // Images of a kind that is not read lie in class folders, and in those that a model is asked about.
    void remediesFitWhereverAProblemIsSaid() {
        const auto remedy = [](const char* code) { return Words().remedy({"x", code, {}}); };
        QVERIFY(remedy("image.unknown-kind").find("class") == std::string::npos);
        QVERIFY(remedy("predict.no-number").find("--best") == std::string::npos);
    }

    void anUnknownCodeIsStillSaid() {
        QCOMPARE(Words().what({"f", "no.such-code", {"a", "b"}}), std::string("f: no.such-code a b"));
        QVERIFY(Words().remedy({"f", "no.such-code", {}}).empty());
    }
};

QTEST_APPLESS_MAIN(TestWords)
#include "tst_words.moc"
