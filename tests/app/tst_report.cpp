#include <QDir>
#include <QFile>
#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <QRegularExpression>
#include <QtTest>

#include "tests/app/sweep_runs.h"
#include "tests/report/hostile_text.h"
#include "tests/ui/queue/made_queue.h"

namespace {

using lockstep::GroupPlace;
using lockstep::Places;
using lockstep::test::MadeQueue;
using lockstep::test::parsedXml;
using lockstep::test::ParsedXml;

QByteArray contents(const QString& path) {
    QFile file(path);
    if (!file.open(QIODevice::ReadOnly)) qFatal("%s cannot be read", qPrintable(path));
    return file.readAll();
}

Places placesOf(const LockstepProgram& program) {
    const std::filesystem::path home = program.home().toStdString();
    return lockstep::preparePlaces({home, home / "cache", home / "sockets", home / "config"}).value();
}

// The texts of the report's row of a cell; empty: it has none.
QStringList rowOf(const QString& html, int cell) {
    static const QRegularExpression table("<table class=\"d\">.*?</table>",
                                          QRegularExpression::DotMatchesEverythingOption);
    for (const QString& row : table.match(html).captured().split("<tr>")) {
        QStringList texts;
        static const QRegularExpression cellText("<td[^>]*>(.*?)</td>");
        for (auto it = cellText.globalMatch(row); it.hasNext();) texts << it.next().captured(1);
        if (texts.value(1) == QString::number(cell)) return texts;
    }
    return {};
}

QString percent(double share) { return QString("%1 %").arg(100 * share, 0, 'f', 2); }

}  // namespace

// A sweep's report, from the history to its file.
class TestReport : public QObject {
    Q_OBJECT
private slots:
    // Sweep 1: four cells of two trials, 50 and 51 %, 60 and 61 %…, one that failed and one that waits. Sweep 2 has
    // rungs, 3 no trial, and all of 4 failed.
    void initTestCase() {
        m_made = std::make_unique<MadeQueue>(placesOf(m_program));
        m_made->keep();
        const auto first = m_made->sweep("<script>alert('|')</script>\nnets", 6);
        for (std::int64_t cell = 0; cell < 4; ++cell)
            for (std::int64_t repeat = 0; repeat < 2; ++repeat)
                m_made->finish("", 0.5 + 0.1 * static_cast<double>(cell) + 0.01 * static_cast<double>(repeat),
                               GroupPlace{first, cell, repeat});
        m_made->fail("", GroupPlace{first, 4, 0});
        m_made->wait("", {}, GroupPlace{first, 5, 0});
        const auto climbs = m_made->sweep("climbs", 3, "asha");
        m_made->pause(1, 0.4, GroupPlace{climbs, 0, 0});
        m_made->pause(3, 0.6, GroupPlace{climbs, 1, 0});
        m_made->pause(1, 0.2, GroupPlace{climbs, 2, 0});
        m_made->sweep("empty", 0);
        const auto barren = m_made->sweep("barren", 2);
        for (std::int64_t cell = 0; cell < 2; ++cell) m_made->fail("", GroupPlace{barren, cell, 0});
    }

    void everyNumberIsThatOfTheSweep() {
        const auto said = m_program.run({"report", "1", "--html", "-"});
        QVERIFY2(said.status == 0 && said.err.isEmpty(), qPrintable(said.err));
        const ParsedXml html = parsedXml(said.out.toStdString());
        QVERIFY2(html.error.isEmpty(), qPrintable(html.error));
        QVERIFY(!html.elements.contains("script") && html.texts.contains("<script>alert('|')</script>\\nnets"));
        const auto cells = sweepIn(m_program, 1)["cells"].toArray();
        QCOMPARE(cells.size(), 6);
        for (const auto& each : cells) {
            const auto cell = each.toObject();
            const QStringList row = rowOf(said.out, cell["cell"].toInt());
            QVERIFY2(row.size() == 10, qPrintable(row.join('|')));
            QCOMPARE(row[2], QString::number(cell["settings"]["batch"].toInt()));
            QCOMPARE(row[4], cell["mean"].isNull() ? QString("–") : percent(cell["mean"].toDouble()));
            QCOMPARE(row[5], cell["deviation"].isNull() ? QString("–")
                                                        : QString::number(100 * cell["deviation"].toDouble(), 'f', 2));
            QCOMPARE(row[6], QString::number(cell["n"].toInt()));
        }
        const QStringList best = rowOf(said.out, 3), failed = rowOf(said.out, 4);
        QVERIFY(best[0] == "1" && best[4] == "80.50 %" && best[5] == "0.71" && best[8] == "7, 8");
        QVERIFY2(failed[0] == "–" && failed[9].startsWith("1 failed: "), qPrintable(failed.join('|')));
        QVERIFY(html.texts.contains("80.50 % ± 0.71 (n 2)") && html.texts.contains("What failed, and why"));
        QVERIFY(said.out.contains("3 GiB wanted"));
        QVERIFY(html.texts.contains("80 epochs trained, of 120 if every cell trained to its end (67 %)"));
    }

    void scriptsAreToldTheSame() {
        const auto said = m_program.run({"report", "1", "--html", m_program.path("one.html"), "--json"}).last();
        const auto best = sweepIn(m_program, 1)["cells"][3].toObject();
        QCOMPARE(said["file"].toString(), m_program.path("one.html"));
        QCOMPARE(static_cast<qint64>(said["bytes"].toInt()), contents(m_program.path("one.html")).size());
        QCOMPARE(said["best"]["mean"], best["mean"]);
        QCOMPARE(said["best"]["settings"].toObject(), best["settings"].toObject());
        QVERIFY(said["epochs"]["spent"].toInt() == 80 && said["epochs"]["planned"].toInt() == 120);
        const auto importance = m_program.run({"importance", "1", "--json"}).last();
        QCOMPARE(said["importance"]["fanova"], importance["fanova"]);
        QCOMPARE(said["importance"]["settings"], importance["settings"]);
    }

    void rungsAreTold() {
        const QString html = m_program.run({"report", "2", "--html", "-"}).out;
        const auto rungs = sweepIn(m_program, 2)["rungs"].toArray();
        QCOMPARE(rungs[0]["cells"].toInt(), 3);
        QVERIFY(html.contains("After 1 epoch: 3 cells, of which 1 went on."));
        QVERIFY(html.contains("<title>Cells at the rungs</title>") && html.contains("paused at rung 2 of"));
        QVERIFY(html.contains("asha: of 3 cells one goes on"));
        QVERIFY(
            html.contains("the best of those at the highest rung is cell 1, with 60.00 % test accuracy by epoch 3."));
        const auto asked = m_program.run({"report", "2", "--html", m_program.path("two.html"), "--json"}).last();
        QVERIFY(asked["importance"]["epoch"].toInt() == 1 && asked["importance"]["cells"].toInt() == 3);
    }

    void whatHasNothingToShowSaysSo() {
        const auto empty = m_program.run({"report", "3", "--html", "-"});
        QVERIFY2(empty.status == 0 && empty.out.contains("It has no trial, so there is nothing to tell of"),
                 qPrintable(empty.out));
        const auto barren = m_program.run({"report", "4", "--html", "-"});
        QVERIFY(barren.status == 0 && barren.out.contains("None of its trials came to a result"));
        QVERIFY(barren.out.contains("What failed, and why") && !barren.out.contains("<svg"));
        const auto said = m_program.run({"report", "4", "--html", m_program.path("four.html"), "--json"}).last();
        QVERIFY(said["best"].isNull() && said["failed"].toInt() == 2);
    }

    void whereItGoesIsChosen() {
        QVERIFY(QDir().mkpath(m_program.path("here")));
        const auto here = m_program.shell("cd '" + m_program.path("here") + "' && \"$0\" report 1", {});
        QVERIFY2(here.status == 0 && here.err == "sweep-1.html\n" && here.out.isEmpty(), qPrintable(here.err));
        QVERIFY(contents(m_program.path("here/sweep-1.html")).startsWith("<!DOCTYPE html>"));
        QCOMPARE(m_program.run({"report", "1", "--html", m_program.path("a/b/c.html")}).status, 0);
        QVERIFY(QFile::exists(m_program.path("a/b/c.html")));
        const auto codeOf = [&](const QStringList& words) {
            const auto refused = m_program.run(QStringList{"report", "--json"} + words);
            return QString("%1 %2").arg(refused.status).arg(refused.last()["problems"][0]["code"].toString());
        };
        QCOMPARE(codeOf({"1", "--html", "-"}), QString("2 report.two-outputs"));
        QCOMPARE(codeOf({"99", "--html", m_program.path("x/y.html")}), QString("3 group.unknown"));
        QVERIFY(!QFile::exists(m_program.path("x")));
        QCOMPARE(codeOf({}), QString("2 cli.usage"));
        QCOMPARE(codeOf({"0"}), QString("2 cli.usage"));
    }

    void aFullDiskLeavesTheOldReport() {
        const QString disk = m_program.path("disk");
        QVERIFY(QDir().mkpath(disk));
        const auto on = [&](const QString& script) {
            return m_program.shell("unshare -m sh -c 'mount -t tmpfs -o size=16k tmpfs \"$1\" && cd \"$1\" && " +
                                       script + "' \"$0\" \"$@\"",
                                   {disk});
        };
        if (on("true").status != 0) QSKIP("no file system of one's own can be mounted here");
        const auto full = on("echo old > sweep-1.html; \"$0\" report 1; echo status $?; ls -A; cat sweep-1.html");
        QCOMPARE(full.out, QString("status 1\nsweep-1.html\nold\n"));
        QVERIFY2(full.err.contains("No space left") && full.err.contains("sweep-1.html"), qPrintable(full.err));
    }

    // One that was trained, and what its report says to do.
    void itsFileSearchesTheSame() {
        LockstepProgram trained;
        const auto swept = trained.run(sweepOf({"model.width=8,16", "learning_rate=0.03,0.1"}, {"--method", "grid"}));
        QVERIFY2(swept.status == 0, qPrintable(swept.err));
        const auto said = trained.run({"report", "1", "--html", "-"});
        const ParsedXml html = parsedXml(said.out.toStdString());
        QVERIFY2(html.error.isEmpty(), qPrintable(html.error));
        QVERIFY(html.texts.filter(QRegularExpression("^Lockstep [0-9.]+, ")).size() >= 1);
        QVERIFY(html.texts.contains("Trained by") && html.texts.contains("lockstep sweep sweep-1.json\n"));
        const auto json = html.texts.filter(QRegularExpression("^\\{\n"));
        QCOMPARE(json.size(), 1);
        const auto file = trained.write("sweep-1.json", json[0].toUtf8());
        const auto printed = [&](const QStringList& words) {
            return QJsonDocument::fromJson(trained.run(words).out.toUtf8()).object();
        };
        QVERIFY(!printed({"sweep", file, "--print-sweep"}).isEmpty());
        QCOMPARE(printed({"sweep", file, "--print-sweep"}), printed({"sweeps", "1", "--print-sweep"}));
        const auto train = html.texts.filter(QRegularExpression("^lockstep train "));
        QCOMPARE(train.size(), 1);
        const auto best =
            trained.run({"report", "1", "--html", trained.path("r.html"), "--json"}).last()["best"].toObject();
        const auto again = trained.shell(QString(train[0]).replace("lockstep", "\"$0\"") + " --print-spec", {});
        QVERIFY2(again.status == 0, qPrintable(again.err));
        QCOMPARE(again.out, trained.run({"show", QString::number(best["best_trial"].toInt()), "--spec"}).out);
    }

private:
    LockstepProgram m_program;
    std::unique_ptr<MadeQueue> m_made;
};

QTEST_GUILESS_MAIN(TestReport)
#include "tst_report.moc"
