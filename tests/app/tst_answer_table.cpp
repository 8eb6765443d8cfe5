#include <QtTest>

#include "app/answer_table.h"
#include "app/format.h"
#include "engine/core/utf8.h"

using namespace lockstep;

namespace {

const std::vector<std::string> kClasses{"bright", "Größe"};

Answer answerOf(std::int32_t first, std::int32_t second, float share) {
    Answer answer;
    answer.classes = {first, second, -1, -1, -1};
    answer.probabilities = {share, 1 - share};
    return answer;
}

std::string x(int count) { return std::string(static_cast<std::size_t>(count), 'x'); }

// Of a line, without its end.
int widthOf(const std::string& line) { return columnsOf(std::string_view(line).substr(0, line.size() - 1)); }

}  // namespace

class TestAnswerTable : public QObject {
    Q_OBJECT
private slots:
    void columnsHaveNames() {
        const AnswerTable table(kClasses, 2, 12);
        QCOMPARE(table.head(), std::string("SAMPLE        CLASS 1     PROB.  CLASS 2     PROB.\n"));
        QCOMPARE(table.row("photos/a.jpg", answerOf(1, 0, 1)),
                 std::string("photos/a.jpg  Größe    100.00 %  bright     0.00 %\n"));
        QCOMPARE(table.row("a.jpg", std::string("it is empty.")),
                 std::string("a.jpg         cannot be answered: it is empty.\n"));
        QCOMPARE(AnswerTable(kClasses, 1, 0).head(), std::string("SAMPLE  CLASS      PROB.\n"));
    }

    void rowsAreAsWideAsTheHead() {
        const AnswerTable table(kClasses, 2, 20);
        const int width = widthOf(table.head());
        for (const std::string& name :
             {std::string("a"), std::string("Größe.jpg"), std::string("日本語/写真.png"), std::string("e\u0301"),
              std::string("a\nb"), x(20), x(21), x(300), x(30) + "日本"})
            QCOMPARE(widthOf(table.row(name, answerOf(0, 1, 0.25f))), width);
    }

    // The end of a path tells samples apart, the beginning of a name classes.
    void whatIsTooLongIsCut() {
        const std::vector<std::string> classes{"Siamese " + x(50), "dark"};
        const AnswerTable table(classes, 1, 1000);
        const std::string row = table.row("/photos/" + x(100) + "/7.jpg", answerOf(0, 1, 0.5f));
        QVERIFY2(row.starts_with("…xxx") && row.find("x/7.jpg  Siamese xxx") != row.npos, row.c_str());
        QVERIFY2(row.find("xxx…   50.00 %\n") != row.npos, row.c_str());
        const int most = AnswerTable::kMostNameColumns + AnswerTable::kMostClassColumns;
        QCOMPARE(widthOf(row), most + 2 + 2 + 8);
    }

    void cutTextsAreWholeCharacters() {
        const std::string texts[] = {"",
                                     "abc",
                                     "Größenordnung",
                                     "日本語の名前です",
                                     "e\u0301e\u0301e\u0301e\u0301e\u0301",
                                     "a😀b😀c😀",
                                     "caf\xe9 and more"};
        for (const std::string& text : texts) {
            const std::string whole = printable(text);
            for (int columns = 1; columns < 20; ++columns) {
                for (const std::string& cut : {withoutBeginning(whole, columns), withoutEnd(whole, columns)}) {
                    QVERIFY2(columnsOf(cut) <= columns && columnsOf(cut) >= std::min(columns - 1, columnsOf(whole)),
                             cut.c_str());
                    QCOMPARE(findBrokenUtf8(cut), std::string::npos);
                    QCOMPARE(cut == whole, columnsOf(whole) <= columns);
                    QCOMPARE(columnsOf(padded(cut, columns)), columns);
                }
                QVERIFY(!withoutBeginning(whole, columns).starts_with("…\u0301"));  // an accent of what is gone
            }
        }
        QCOMPARE(withoutBeginning("photos/7.jpg", 6), std::string("…7.jpg"));
        QCOMPARE(withoutEnd("Persian", 5), std::string("Pers…"));
    }

    void oneIsNoPlural() {
        QCOMPARE(plural(1, "epoch"), std::string("1 epoch"));
        QCOMPARE(plural(12'000, "epoch"), std::string("12 000 epochs"));
        QCOMPARE(samplesText(1), std::string("1 sample"));
        QCOMPARE(samplesText(0), std::string("0 samples"));
        QCOMPARE(samplesText(10'000), std::string("10 000 samples"));
    }
};

QTEST_APPLESS_MAIN(TestAnswerTable)
#include "tst_answer_table.moc"
