#include <QDir>
#include <QFile>
#include <QJsonArray>
#include <QtTest>

#include "tests/app/lockstep_program.h"
#include "tests/report/hostile_text.h"

namespace {

using lockstep::test::parsedXml;

QByteArray contents(const QString& path) {
    QFile file(path);
    if (!file.open(QIODevice::ReadOnly)) qFatal("%s cannot be read", qPrintable(path));
    return file.readAll();
}

QString percent(const QJsonValue& share) { return QString("%1 %").arg(100 * share.toDouble(), 0, 'f', 2); }
QString score(const QJsonValue& value) {
    return value.isNull() ? QString("–") : QString::number(value.toDouble(), 'f', 3);
}

}  // namespace

// A trial's model card, from a run to its files.
class TestCard : public QObject {
    Q_OBJECT
private slots:
    void initTestCase() {
        const auto trained = m_program.run(shortRun() + QStringList{"--title", "<script>alert('|')</script>"});
        QVERIFY2(trained.status == 0, qPrintable(trained.err));
        m_evaluated = m_program.run({"evaluate", "1", "--json"}).last();
        QVERIFY(!m_evaluated["classes"].toArray().isEmpty());
    }

    void figuresAreThoseOfTheTrial() {
        const QString folder = m_program.path("cards");
        const auto said = m_program.run({"card", "1", "--out", folder});
        QVERIFY2(said.status == 0 && said.err.contains("trial-1-card.html"), qPrintable(said.err));
        const QString markdown = contents(folder + "/trial-1-card.md");
        const auto html = parsedXml(contents(folder + "/trial-1-card.html").toStdString());
        QVERIFY2(html.error.isEmpty(), qPrintable(html.error));
        QVERIFY(!html.elements.contains("script") && html.texts.contains("<script>alert('|')</script>"));
        for (const char* heading : {"Results", "Results per class", "Limits", "Curves", "Data", "How to use it",
                                    "How to repeat it", "Settings", "Environment"}) {
            QVERIFY2(html.texts.contains(heading) && markdown.contains(QString("\n## %1\n").arg(heading)), heading);
        }
        const auto trial = m_program.trial(1);
        QVERIFY(markdown.contains("| Test accuracy | " + percent(trial["best_accuracy"])));
        QVERIFY(html.texts.contains(percent(trial["best_accuracy"])));
        const auto evaluation = trial["evaluations"].toArray().at(0).toObject();
        QVERIFY(markdown.contains("| 1 | best (update"));
        QVERIFY(markdown.contains("| " + percent(evaluation["accuracy"]) + " |"));
        for (const auto& each : m_evaluated["classes"].toArray()) {
            const auto row = each.toObject();
            QVERIFY2(markdown.contains(QString("| %1 | %2 | %3 | %4 | %5 |")
                                           .arg(row["class"].toString())
                                           .arg(row["samples"].toInt())
                                           .arg(score(row["precision"]), score(row["recall"]), score(row["f1"]))),
                     qPrintable(row["class"].toString() + markdown));
        }
        QVERIFY(markdown.contains("calibration error is " + percent(m_evaluated["calibration_error"])));
        QVERIFY(markdown.contains("**Trained by** | Lockstep ") && markdown.contains("**Kernel threads** | 1 each"));
    }

    void itsPicturesLieBesideIt() {
        const QString folder = m_program.path("cards"), markdown = contents(folder + "/trial-1-card.md");
        static const QRegularExpression picture("!\\[[^]]*\\]\\(<([^>]+)>\\)");
        int seen = 0;
        for (auto it = picture.globalMatch(markdown); it.hasNext(); ++seen) {
            const auto parsed = parsedXml(contents(folder + '/' + it.next().captured(1)).toStdString());
            QVERIFY2(parsed.error.isEmpty() && parsed.elements.first() == "svg", qPrintable(parsed.error));
        }
        QVERIFY(seen >= 5);
        QCOMPARE(QDir(folder + "/trial-1-card-files").entryList(QDir::Files).size(), seen);
    }

    // What the card says to do does it.
    void theCommandTrainsTheSame() {
        static const QRegularExpression command("```sh\n(lockstep train [^\n]*)\n");
        const QString words = command.match(m_program.run({"card", "1", "--markdown", "-"}).out).captured(1);
        QVERIFY(words.contains("--set"));
        const auto again = m_program.shell(QString(words).replace("lockstep", "\"$0\"") + " --print-spec", {});
        QVERIFY2(again.status == 0, qPrintable(again.err));
        QCOMPARE(again.out, m_program.run({"show", "1", "--spec"}).out);
    }

    void whereItGoesIsChosen() {
        const auto html = m_program.run({"card", "1", "--html", "-"});
        QVERIFY(html.status == 0 && html.out.startsWith("<!DOCTYPE html>") && html.err.isEmpty());
        const auto markdown = m_program.run({"card", "1", "--markdown", "-"});
        QVERIFY(markdown.out.startsWith("# &lt;script&gt;") && markdown.out.contains("Picture left out: Loss"));
        QCOMPARE(m_program.run({"card", "1", "--html", "-", "--markdown", "-"}).status, 2);
        QCOMPARE(m_program.run({"card", "1", "--html", "x", "--out", "y"}).status, 2);
        QCOMPARE(m_program.run({"card", "99"}).status, 3);
        for (const QStringList& words : {QStringList{"--html", "a/b/card"}, QStringList{"--markdown", "c/d/card"}}) {
            const auto said = m_program.run({"card", "1", words[0], m_program.path(words[1])});
            QVERIFY2(said.status == 0 && QFile::exists(m_program.path(words[1])), qPrintable(said.err));
        }
        QVERIFY(QDir().mkpath(m_program.path("here")));
        const auto here = m_program.shell(
            "cd '" + m_program.path("here") + "' && \"$0\" card 1 --html own.html && \"$0\" card 1", {});
        QVERIFY2(here.status == 0, qPrintable(here.err));
        QCOMPARE(QDir(m_program.path("here")).entryList(QDir::AllEntries | QDir::NoDotAndDotDot),
                 QStringList({"own.html", "trial-1-card-files", "trial-1-card.html", "trial-1-card.md"}));
    }

    void aFullDiskLeavesTheOldCard() {
        const QString disk = m_program.path("disk");
        QVERIFY(QDir().mkpath(disk));
        const auto on = [&](const QString& script) {
            return m_program.shell("unshare -m sh -c 'mount -t tmpfs -o size=64k tmpfs \"$1\" && cd \"$1\" && " +
                                       script + "' \"$0\" \"$@\"",
                                   {disk});
        };
        if (on("true").status != 0) QSKIP("no file system of one's own can be mounted here");
        const auto full = on("echo old > trial-1-card.md; \"$0\" card 1; echo status $?; ls -A; cat trial-1-card.md");
        QCOMPARE(full.out, QString("status 1\ntrial-1-card.md\nold\n"));
        QVERIFY2(full.err.contains("No space left") && full.err.contains("trial-1-card"), qPrintable(full.err));
    }

    void aRunUnderWayHasOne() {
        const auto run = m_program.start(longRun());
        const int trial = m_program.waitUntilRunning();
        const auto card = m_program.run({"card", QString::number(trial), "--markdown", "-"});
        m_program.run({"stop", QString::number(trial), "--wait"});
        LockstepProgram::finish(*run);
        QVERIFY2(card.status == 0 && card.out.contains("It is still being trained (running)"), qPrintable(card.err));
        const auto stopped = m_program.run({"card", QString::number(trial), "--markdown", "-"});
        QVERIFY(stopped.out.contains(QString("Stopped on request before its end")));
        QVERIFY(stopped.out.contains(QString("`lockstep resume %1` goes on").arg(trial)));
    }

    void aDamagedCheckpointIsToldOf() {
        const QString folder = m_program.trial(1)["run_directory"].toString() + "/checkpoints/";
        for (const char* name : {"best.safetensors", "last.safetensors"}) QVERIFY(QFile::resize(folder + name, 100));
        const auto card = m_program.run({"card", "1", "--markdown", "-"});
        QVERIFY2(card.status == 0 && card.out.contains("best.safetensors"), qPrintable(card.err));
        QVERIFY(card.out.contains("| **Classes** |") && !card.out.contains("## How to use it"));
    }

private:
    LockstepProgram m_program;
    QJsonObject m_evaluated;
};

QTEST_GUILESS_MAIN(TestCard)
#include "tst_card.moc"
