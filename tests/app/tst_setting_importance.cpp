#include <QJsonArray>
#include <QtTest>
#include <cmath>

#include "tests/app/lockstep_program.h"

namespace {

// What came out depends on the rate, the most, and on the kind; each seventh trial came to nothing.
QByteArray madeTable(int trials) {
    QByteArray table = "rate,kind,\"a, b\",momentum,accuracy\n";
    for (int i = 1; i <= trials; ++i) {
        const double u = std::fmod(i * 0.618033988749895, 1), v = std::fmod(i * 0.414213562373095, 1),
                     w = std::fmod(i * 0.732050807568877, 1);
        const QString kind = v < 0.5 ? "sgd" : "adamw";
        const double accuracy = 0.9 - std::pow(u - 0.6, 2) - (v < 0.5 ? 0 : 0.1);
        table += QString("%1,%2,%3,%4,%5\n")
                     .arg(std::pow(10, 4 * u - 4))
                     .arg(kind)
                     .arg(static_cast<int>(10 * w))
                     .arg(v < 0.5 ? QString::number(w) : QString())
                     .arg(i % 7 == 0 ? QString("nan") : QString::number(accuracy))
                     .toUtf8();
    }
    return table;
}

}  // namespace

class TestSettingImportance : public QObject {
    Q_OBJECT
private slots:
    void aTableIsReadAndBothQuestionsAreAnswered() {
        const auto file = m_program.write("trials.csv", madeTable(140));
        const QStringList words{"importance", "--csv", file, "--objective", "accuracy", "--maximise", "--log", "rate"};
        const auto json = m_program.run(words + QStringList{"--json"}).last();
        QCOMPARE(json["used"].toInt(), 120);
        QCOMPARE(json["left_out"]["without_result"].toInt(), 20);
        QCOMPARE(json["settings"].toArray().size(), 4);
        const auto first = json["settings"][0].toObject();
        QCOMPARE(first["setting"].toString(), QString("rate"));
        QVERIFY(first["fanova"]["share"].toDouble() > 0.5 && first["fanova"]["deviation"].toDouble() > 0);
        QVERIFY(first["ped_anova"]["share"].toDouble() > 0.5);
        QCOMPARE(json["fanova"]["verdict"].toString(), QString("sound"));
        QVERIFY(json["fanova"]["r2_out_of_bag"].toDouble() > 0.8);
        QCOMPARE(json["ped_anova"]["verdict"].toString(), QString("sound"));
        QCOMPARE(json["ped_anova"]["best"].toInt(), 12);

        const auto text = m_program.run(words);
        QCOMPARE(text.status, 0);
        for (const char* each :
             {"120 trials; left out: 20 without result", "explains the differences between all trials",
              "must be right to be among the best 10 %", "R² out of bag", "█", " ± "})
            QVERIFY2(text.out.contains(each), qPrintable(text.out));
        const auto one = m_program.run(words + QStringList{"--method", "ped-anova", "--quantile", "0.25"});
        QVERIFY2(one.out.contains("the best 25 %") && !one.out.contains("fANOVA"), qPrintable(one.out));
    }

    void tooFewTrialsAreSaidSo() {
        const auto file = m_program.write("few.csv", madeTable(9));
        const auto text = m_program.run({"importance", "--csv", file, "--objective", "accuracy"});
        QCOMPARE(text.status, 0);
        QCOMPARE(text.out.count("too few trials to say: 8 of at least 10 have a result"), 2);
        QVERIFY(!text.out.contains("█"));
        const auto empty = m_program.write("empty.csv", "rate,loss\n");
        QCOMPARE(m_program.run({"importance", "--csv", empty, "--objective", "loss"}).status, 0);
    }

    void whatIsWrongIsNamed() {
        const auto file = m_program.write("table.csv", "rate,loss\n-1,2\n3,4\n");
        const auto codeOf = [&](const QStringList& words) {
            const auto outcome = m_program.run(QStringList{"importance", "--json"} + words);
            return QString("%1 %2").arg(outcome.status).arg(outcome.last()["problems"][0]["code"].toString());
        };
        QCOMPARE(codeOf({"--csv", file, "--objective", "none"}), QString("2 table.no-column"));
        QCOMPARE(codeOf({"--csv", file, "--objective", "loss", "--log", "none"}), QString("2 table.no-column"));
        QCOMPARE(codeOf({"--csv", file, "--objective", "loss", "--log", "rate"}), QString("2 table.not-log"));
        QCOMPARE(codeOf({"--csv", m_program.path("absent"), "--objective", "loss"}), QString("2 file.unreadable"));
        QCOMPARE(codeOf({}), QString("2 cli.usage"));
        QCOMPARE(codeOf({"1", "--quantile", "1"}), QString("2 cli.usage"));
        QCOMPARE(codeOf({"1", "--csv", file, "--objective", "loss"}), QString("2 cli.usage"));
        QCOMPARE(codeOf({"7"}), QString("3 group.unknown"));
    }

private:
    LockstepProgram m_program;
};

QTEST_GUILESS_MAIN(TestSettingImportance)
#include "tst_setting_importance.moc"
