#include <sys/mount.h>
#include <unistd.h>

#include <QDir>
#include <QJsonArray>
#include <QStorageInfo>
#include <QtTest>

#include "tests/app/lockstep_program.h"

namespace {

QStringList keepingThree() { return shortRun() + QStringList{"--epochs", "5", "--set", "keep_checkpoints=best:3"}; }

QStringList rolesIn(const LockstepProgram& program, int trial) {
    QStringList roles;
    for (const auto& each : program.trial(trial)["checkpoints"].toArray())
        roles << each.toObject()["checkpoint"].toString();
    return roles;
}

}  // namespace

// What checkpoints weigh, which are kept, and how they are freed, as a person does it.
class TestDisk : public QObject {
    Q_OBJECT
private slots:
    void keptEpochsAreFoundByTheirNumbers() {
        LockstepProgram program;
        const auto ran = program.run(keepingThree());
        QVERIFY2(ran.status == 0, qPrintable(ran.err));
        const QStringList roles = rolesIn(program, 1);
        QCOMPARE(roles.size(), 4);
        QCOMPARE(roles.front(), QString("last"));
        const auto shown = program.run({"show", "1"}).out;
        for (const auto& role : roles) QVERIFY(shown.contains(role));
        // the best is the one of the three with the best score
        QString best;
        double highest = -1;
        for (const auto& each : program.trial(1)["checkpoints"].toArray()) {
            const auto row = each.toObject();
            if (row["checkpoint"] == "last" || row["value"].toDouble() <= highest) continue;
            highest = row["value"].toDouble();
            best = row["checkpoint"].toString();
        }
        const auto evaluated = [&](const QStringList& choice) {
            return program.run(QStringList{"evaluate", "1", "--json"} + choice).last();
        };
        QCOMPARE(evaluated({})["checkpoint"].toString(), best);
        QCOMPARE(evaluated({"--checkpoint", "best"})["accuracy"].toDouble(), highest);
        QCOMPARE(evaluated({"--checkpoint", "last"})["checkpoint"].toString(), QString("last"));
        const QString third = roles.last().mid(6);  // "epoch-5"
        QCOMPARE(evaluated({"--checkpoint", third})["checkpoint"].toString(), roles.last());
        QCOMPARE(program.run({"export-weights", "1", program.path("w"), "--checkpoint", third}).status, 0);
        const auto card = program.run({"card", "1", "--markdown", "-"}).out;
        for (const auto& role : roles) QVERIFY2(card.contains("| " + role + " | "), qPrintable(role));
        const auto unknown = program.run({"evaluate", "1", "--checkpoint", "77"});
        QVERIFY2(unknown.status == 2 && unknown.err.contains("keeps no checkpoint \"77\""), qPrintable(unknown.err));
        const auto wrong = program.run({"evaluate", "1", "--checkpoint", "first"});
        QVERIFY2(wrong.status == 2 && wrong.err.contains("neither best nor last"), qPrintable(wrong.err));
        const auto both = program.run({"evaluate", "1", "--checkpoint", "best", "--last"});
        QCOMPARE(both.status, 2);
    }

    // Asked for the best, one that keeps none says so; asked for nothing, it takes the last and says that.
    void aTrialThatKeepsItsLastAlone() {
        LockstepProgram program;
        QCOMPARE(program.run(shortRun() + QStringList{"--set", "keep_checkpoints=last"}).status, 0);
        QCOMPARE(rolesIn(program, 1), QStringList{"last"});
        QVERIFY(!program.run({"disk"}).out.contains("--keep last"));  // it would free nothing
        const auto taken = program.run({"evaluate", "1"});
        QVERIFY2(taken.out.contains("Trial 1, last checkpoint"), qPrintable(taken.out + taken.err));
        const auto best = program.run({"evaluate", "1", "--best"});
        QVERIFY2(best.status == 2 && best.err.contains("there are: last"), qPrintable(best.err));
    }

    void itShowsAsksAndFrees() {
        LockstepProgram program;
        QCOMPARE(program.run(keepingThree()).status, 0);
        QCOMPARE(program.run(shortRun()).status, 0);
        const auto shown = program.run({"disk"});
        QVERIFY2(shown.status == 0 && shown.out.contains("2 trials"), qPrintable(shown.out + shown.err));
        QVERIFY2(shown.out.contains("`lockstep disk --free --keep last` would free"), qPrintable(shown.out));
        const auto weight = program.run({"disk", "--json"}).last();
        QCOMPARE(weight["trials"].toArray().size(), 2);
        QCOMPARE(weight["trials"].toArray()[0].toObject()["trial"].toInt(), 1);
        const auto before = weight["trials"].toArray()[0].toObject()["checkpoints"].toDouble();

        const auto unasked = program.run({"disk", "--free", "--keep", "last"});  // nobody at the terminal
        QVERIFY2(unasked.status == 2 && unasked.err.contains("Nothing was freed"), qPrintable(unasked.err));
        QVERIFY(unasked.out.contains("trial 1"));
        const auto dry = program.run({"disk", "--free", "--keep", "last", "--dry-run", "--json"});
        QCOMPARE(dry.status, 0);
        QCOMPARE(dry.last()["freed"].toInt(), 0);
        QCOMPARE(dry.last()["items"].toArray().size(), 2);
        QCOMPARE(rolesIn(program, 1).size(), 4);

        const auto freed = program.run({"disk", "--free", "--keep", "last", "--trials", "1", "--yes", "--json"});
        QVERIFY2(freed.status == 0, qPrintable(freed.err));
        QCOMPARE(rolesIn(program, 1), QStringList{"last"});
        QCOMPARE(rolesIn(program, 2), (QStringList{"last", "best"}));
        const auto after = program.run({"disk", "--json"}).last();
        double left = 0;
        for (const auto& each : after["trials"].toArray())
            if (each.toObject()["trial"] == 1) left = each.toObject()["checkpoints"].toDouble();
        const double mark = 4096;  // the file that says so
        QVERIFY(before - left <= freed.last()["freed"].toDouble() &&
                before - left >= freed.last()["freed"].toDouble() - mark);
        QCOMPARE(program.run({"evaluate", "1"}).status, 0);  // the last is there
    }

    void whatWasFreedIsSaid() {
        LockstepProgram program;
        auto run = program.start(longRun());
        QCOMPARE(program.waitUntilRunning(), 1);
        const auto held = program.run({"disk", "--free", "--keep", "none", "--yes"});
        QVERIFY2(held.status == 0 && held.out.contains("Left alone"), qPrintable(held.out + held.err));
        QCOMPARE(program.run({"stop", "1", "--wait"}).status, 0);
        LockstepProgram::finish(*run);
        QVERIFY(!rolesIn(program, 1).isEmpty());
        const auto freed = program.run({"disk", "--free", "--keep", "none", "--yes"});
        QVERIFY2(freed.status == 0, qPrintable(freed.err));
        for (const QStringList& asked : {QStringList{"evaluate", "1"}, QStringList{"evaluate", "1", "--last"},
                                         QStringList{"export-weights", "1", "w"}, QStringList{"resume", "1"}}) {
            const auto out = program.run(asked);
            QVERIFY2(out.status == 2 && out.err.contains("were freed on"), qPrintable(asked.join(' ') + out.err));
        }
        QVERIFY(program.run({"show", "1"}).out.contains("were freed on"));
        const auto card = program.run({"card", "1", "--markdown", "-"});
        QVERIFY2(card.out.contains("Its checkpoints were freed on") && !card.out.contains("lockstep resume"),
                 qPrintable(card.out));
        QVERIFY(program.run({"show", "1", "--json", "--metric", "loss"}).last()["series"].isObject());
    }

    // One who reads a checkpoint reads it whole, or hears that it was freed; never half of one.
    void whoReadsWhileItIsFreed() {
        LockstepProgram program;
        QCOMPARE(program.run(shortRun()).status, 0);
        std::vector<std::unique_ptr<QProcess>> readers;
        for (int i = 0; i < 6; ++i)
            readers.push_back(program.start({"evaluate", "1", "--no-keep", "--devices", "cpu:1"}));
        QCOMPARE(program.run({"disk", "--free", "--keep", "none", "--yes"}).status, 0);
        for (const auto& reader : readers) {
            const auto out = LockstepProgram::finish(*reader);
            QVERIFY2(out.status == 0 || (out.status == 2 && out.err.contains("were freed on")), qPrintable(out.err));
        }
    }

    // Where there is no room for a log beside the history, nor for the word that something was freed.
    void aFullDiskIsFreed() {
        LockstepProgram program;
        const auto disk = program.path("disk");
        QDir().mkpath(disk);
        if (geteuid() != 0 || mount("tmpfs", disk.toUtf8(), "tmpfs", 0, "size=8m") != 0)
            QSKIP("only root may mount a small disk");
        const auto unmount = qScopeGuard([&] { umount2(disk.toUtf8(), MNT_DETACH); });
        program.setHome(disk + "/home");
        QCOMPARE(program.run(shortRun()).status, 0);
        QFile filler(disk + "/filler");
        QVERIFY(filler.open(QIODevice::WriteOnly | QIODevice::Unbuffered));
        while (filler.write(QByteArray(4096, 'x')) > 0) {
        }
        QCOMPARE(QStorageInfo(disk).bytesAvailable(), qint64(0));
        const auto freed = program.run({"disk", "--free", "--keep", "none", "--yes"});
        QVERIFY2(freed.status == 0, qPrintable(freed.out + freed.err));
        QVERIFY(QStorageInfo(disk).bytesAvailable() > 0);
        filler.remove();
        QVERIFY(program.run({"evaluate", "1"}).err.contains("were freed on"));
    }

    void whatIsNotUnderstood_data() {
        QTest::addColumn<QStringList>("arguments");
        QTest::addColumn<QString>("says");
        const auto row = [](const char* name, const QStringList& arguments, const char* says) {
            QTest::newRow(name) << QStringList{"disk"} + arguments << QString(says);
        };
        row("nothing asked", {"--free"}, "does not say what to free");
        row("keep", {"--free", "--keep", "all"}, "--keep all");
        row("trials", {"--free", "--keep", "last", "--trials", "3-1"}, "--trials 3-1");
        row("age", {"--free", "--keep", "last", "--older-than", "soon"}, "--older-than soon");
        row("without --free", {"--keep", "last"}, "--keep requires --free");
        row("sure and not", {"--free", "--caches", "--yes", "--dry-run"}, "--yes excludes --dry-run");
    }
    void whatIsNotUnderstood() {
        QFETCH(QStringList, arguments);
        QFETCH(QString, says);
        const LockstepProgram program;
        const auto out = program.run(arguments);
        QVERIFY2(out.status == 2 && out.err.contains(says), qPrintable(out.err));
    }

    void trialsThatAreNotThereAreRefused() {
        const LockstepProgram program;
        QCOMPARE(program.run(shortRun()).status, 0);
        for (const char* trials : {"77", "1,77", "77-80"}) {
            const auto said = program.run({"disk", "--free", "--keep", "none", "--trials", trials, "--yes"});
            QVERIFY2(said.status == 3 && said.err.contains("no trial 77"), qPrintable(said.out + said.err));
        }
        QVERIFY(QFile::exists(program.home() + "/runs/1/checkpoints/last.safetensors"));
        QCOMPARE(program.run({"disk", "--free", "--keep", "none", "--trials", "1-77", "--yes"}).status, 0);
    }

    // Bytes, folder and remedy; and nothing of it is left behind.
    void aRunThatDoesNotFitIsRefused() {
        LockstepProgram program;
        const auto out =
            program.run(QStringList{"train", "--dataset", "synthetic", "--model", "mlp", "--epochs", "1000000", "--set",
                                    "keep_checkpoints=best:1000000", "model.width=2000"});
        QVERIFY2(out.status == 2, qPrintable(out.out + out.err));
        for (const char* words : {"TiB", "runs/1/checkpoints", "keep_checkpoints to best:", "lockstep disk"})
            QVERIFY2(out.err.contains(words), qPrintable(out.err));
        QVERIFY(program.run({"trials"}).out.contains("No trials"));
    }
};

QTEST_APPLESS_MAIN(TestDisk)
#include "tst_disk.moc"
