#include <QtTest>

#include "ui/shell/command_match.h"

using namespace lockstep::ui;

class TestCommandMatch : public QObject {
    Q_OBJECT
private slots:
    void lettersMustComeInOrder() {
        QVERIFY(matchScore("stt", "Start training") >= 0);
        QVERIFY(matchScore("START", "start training") >= 0);
        QVERIFY(matchScore("gnis", "Start training") < 0);
        QVERIFY(matchScore("start training x", "Start training") < 0);
        QCOMPARE(matchScore("", "anything"), 0);
    }

    void beginningsOfWordsComeFirst() {
        const QStringList titles{"Restore layout", "Show timeline", "Start training", "Stop this run"};
        QCOMPARE(matchingCommands("st", titles).front(), 2);
        QCOMPARE(matchingCommands("sr", titles).front(), 3);
        QCOMPARE(matchingCommands("tim", titles).front(), 1);
    }

    void allInTheirOrderForNothing() {
        QCOMPARE(matchingCommands("", {"b", "a"}), (std::vector<int>{0, 1}));
        QVERIFY(matchingCommands("zz", {"b", "a"}).empty());
    }
};

QTEST_APPLESS_MAIN(TestCommandMatch)
#include "tst_command_match.moc"
