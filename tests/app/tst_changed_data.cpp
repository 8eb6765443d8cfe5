#include <QDir>
#include <QFile>
#include <QJsonArray>
#include <QtTest>

#include "tests/app/lockstep_program.h"

// A trial goes on with the data that it was trained on, or with others if that is said.
class TestChangedData : public QObject {
    Q_OBJECT
private slots:
    void aFileThatIsGoneIsNoticed() {
        LockstepProgram program;
        writeTexts(program);
        const auto running = program.start(arguments(program) + QStringList{"--epochs", "100000"});
        QCOMPARE(program.waitUntilRunning(), 1);
        QCOMPARE(program.run({"stop", "1", "--wait"}).status, 0);
        QCOMPARE(LockstepProgram::finish(*running).status, 4);

        const auto folder = program.path("texts");
        QVERIFY(QFile::rename(folder + "/train/cat/7.txt", program.path("elsewhere")));
        const auto refused = program.run({"resume", "1"});
        QCOMPARE(refused.status, 2);
        QVERIFY2(refused.err.contains(folder) && refused.err.contains("32 training samples then, 31 now") &&
                     refused.err.contains("same command with --changed-data accept"),
                 qPrintable(refused.err));
        QCOMPARE(program.run({"resume", "1", "--changed-data", "refuse"}).status, 2);
        const auto problems = program.run({"resume", "1", "--json"}).last()["problems"].toArray();
        QCOMPARE(problems.at(0).toObject()["code"].toString(), QString("data.other-count"));
        QCOMPARE(program.trial(1)["state"].toString(), QString("stopped"));
        QCOMPARE(program.trial(1)["attempts"].toInt(), 1);

        const auto accepted = program.start({"resume", "1", "--changed-data", "accept"});
        QCOMPARE(program.waitUntilRunning(), 1);
        QCOMPARE(program.run({"stop", "1", "--wait"}).status, 0);
        const auto ended = LockstepProgram::finish(*accepted);
        QVERIFY2(ended.status == 4 && ended.err.contains("31 now"), qPrintable(ended.err));
        QCOMPARE(program.run({"attach", "1", "--json"}).out.count("data.other-count-accepted"), 1);

        QVERIFY(QFile::rename(program.path("elsewhere"), folder + "/train/cat/7.txt"));
        QCOMPARE(program.run({"resume", "1"}).status, 2);  // it has been trained on without
        QCOMPARE(program.run({"resume", "1", "--changed-data", "perhaps"}).status, 2);
    }

    void anEvaluationSaysThatDataHaveChanged() {
        LockstepProgram program;
        writeTexts(program);
        QCOMPARE(program.run(arguments(program) + QStringList{"--epochs", "1"}).status, 0);
        QVERIFY(QFile::remove(program.path("texts/test/cat/3.txt")));
        const auto found = program.run({"evaluate", "1", "--json"});
        QVERIFY2(found.status == 0, qPrintable(found.err));
        const auto remark = found.last()["remarks"].toArray().at(0).toObject();
        QCOMPARE(remark["code"].toString(), QString("data.other-count-accepted"));
        QVERIFY2(!remark["remedy"].toString().contains("run"), qPrintable(remark["remedy"].toString()));
    }

    // As many texts as before, and others: what was asked before stays, and every place says that they are others.
    void evaluationsOfDataThatChangedAreBothKept() {
        LockstepProgram program;
        writeTexts(program);
        QCOMPARE(program.run(arguments(program) + QStringList{"--epochs", "1"}).status, 0);
        const QStringList evaluate{"evaluate", "1", "--json"};
        QCOMPARE(program.run(evaluate).status, 0);
        QCOMPARE(program.run(evaluate).last()["remarks"].toArray().size(), 0);
        const auto before = program.trial(1);
        QCOMPARE(before["evaluations"].toArray().size(), 1);  // the same, so the second stands for both
        QVERIFY(before["fingerprint"].isObject() && before["data_changed_by"].isNull());
        QVERIFY(!program.run({"show", "1"}).out.contains("changed"));

        program.write("texts/test/cat/3.txt", "cat 3 sad ");
        const auto found = program.run({"evaluate", "1"});
        QVERIFY2(found.status == 0 && found.err.contains("changed since evaluation 2") &&
                     found.err.contains("since the checkpoint was written"),
                 qPrintable(found.err));
        const auto trial = program.trial(1);
        const auto evaluations = trial["evaluations"].toArray();
        QCOMPARE(evaluations.size(), 2);
        const auto newest = evaluations.at(0).toObject(), first = evaluations.at(1).toObject();
        QVERIFY(first["data_changed_by"] == newest["evaluation"] && newest["data_changed_by"].isNull());
        QVERIFY(trial["data_changed_by"] == newest["evaluation"] && first["fingerprint"] == trial["fingerprint"]);
        QVERIFY(newest["fingerprint"].toObject()["train"] == first["fingerprint"].toObject()["train"]);
        const auto shown = program.run({"show", "1"});
        QVERIFY2(shown.out.contains("changed since the training: evaluation 3 read other test samples.") &&
                     shown.out.contains("changed since evaluation 2: evaluation 3 read other samples."),
                 qPrintable(shown.out));
        const auto card = program.run({"card", "1", "--markdown", "-"});
        QVERIFY2(card.out.contains("evaluation 3 was asked about other test samples") &&
                     card.out.contains(", changed since | test |"),
                 qPrintable(card.out));
        QCOMPARE(program.run(evaluate).last()["remarks"].toArray().size(), 2);
        QCOMPARE(program.trial(1)["evaluations"].toArray().size(), 2);
    }

    // The folder has other classes by now, and no checkpoint says what they were.
    void classesAreKnownWithoutTheData() {
        LockstepProgram program;
        writeTexts(program);
        QCOMPARE(program.run(arguments(program) + QStringList{"--epochs", "1"}).status, 0);
        const auto script = [&] { return program.run({"export", "1", "--pytorch", "-"}).out; };
        const QString names = "CLASSES = [\"cat\", \"dog\"]";
        QVERIFY(script().contains(names));
        QVERIFY(QDir(program.trial(1)["run_directory"].toString() + "/checkpoints").removeRecursively());
        for (const QString split : {"train", "test"})
            QVERIFY(QDir().rename(program.path("texts/" + split + "/cat"), program.path("texts/" + split + "/lion")));
        QVERIFY2(script().contains(names), qPrintable(script()));
        QVERIFY(program.run({"card", "1", "--markdown", "-"}).out.contains("| **Classes** | 2: cat, dog |"));
        QVERIFY(program.run({"show", "1"}).out.contains("2: cat, dog"));
        QCOMPARE(program.trial(1)["classes"].toArray(), (QJsonArray{"cat", "dog"}));
        QVERIFY(program.run({"export", "1", "--json", "-"}).out.contains(R"("classes":["cat","dog"])"));
        QVERIFY(QDir(program.path("texts")).removeRecursively());
        QVERIFY(script().contains(names));
    }

    // Of a trial from before its row said it, an evaluation of a checkpoint does.
    void anEvaluationTellsWhatATrialWasTrainedOn() {
        LockstepProgram program;
        writeTexts(program);
        QCOMPARE(program.run(arguments(program) + QStringList{"--epochs", "1"}).status, 0);
        const auto forget = [&] {
            return QProcess::execute("sqlite3", {program.home() + "/history.sqlite",
                                                 "UPDATE trial SET trained_on = NULL, fingerprint = NULL"});
        };
        const auto known = program.trial(1);
        QCOMPARE(forget(), 0);
        QCOMPARE(program.trial(1)["classes"], known["classes"]);  // of a checkpoint
        QCOMPARE(program.run({"evaluate", "1"}).status, 0);
        QVERIFY(QDir(program.trial(1)["run_directory"].toString() + "/checkpoints").removeRecursively());
        QCOMPARE(program.trial(1)["classes"], known["classes"]);
        QCOMPARE(program.trial(1)["fingerprint"], known["fingerprint"]);
        QCOMPARE(forget(), 0);
        QVERIFY(program.trial(1)["classes"].toArray().isEmpty() && program.trial(1)["fingerprint"].isNull());
    }

    void withoutHistory() {
        LockstepProgram program;
        writeTexts(program);
        const auto last = program.path("out/last.safetensors");
        const QStringList toFolder{"--out", program.path("out")};
        QCOMPARE(program.run(arguments(program) + QStringList{"--epochs", "1"} + toFolder).status, 0);
        const auto moved = program.path("moved");
        QVERIFY(QDir().rename(program.path("texts"), moved));
        const QStringList on{"train", "--from", last, "--data", moved};
        QCOMPARE(program.run(on + QStringList{"--epochs", "2"} + toFolder).status, 0);  // the same, elsewhere

        QFile changed(moved + "/train/dog/3.txt");
        QVERIFY(changed.open(QIODevice::WriteOnly) && changed.write("dog 3 sad ") == 10);
        changed.close();
        const auto refused = program.run(on + QStringList{"--epochs", "3"});
        QVERIFY2(refused.status == 2 && refused.err.contains("content"), qPrintable(refused.err));
        const auto accepted = program.run(on + QStringList{"--epochs", "3", "--changed-data", "accept"});
        QVERIFY2(accepted.status == 0 && accepted.err.contains("content"), qPrintable(accepted.err));
        QCOMPARE(program.run(arguments(program) + QStringList{"--changed-data", "accept"}).status, 2);  // since when?
    }

private:
    static void writeTexts(const LockstepProgram& program) {
        for (const QString folder : {"train/cat", "train/dog", "test/cat", "test/dog"}) {
            QDir().mkpath(program.path("texts/" + folder));
            const int count = folder.startsWith("train") ? 16 : 4;
            for (int i = 0; i < count; ++i)
                program.write(QString("texts/%1/%2.txt").arg(folder).arg(i),
                              QString("%1 %2").arg(folder.mid(folder.size() - 3)).arg(i).leftJustified(10).toUtf8());
        }
    }
    static QStringList arguments(const LockstepProgram& program) {
        return {"train",
                "--data",
                program.path("texts"),
                "--model",
                "text-encoder",
                "--devices",
                "cpu:1x1",
                "--batch",
                "8",
                "--set",
                "model.layers=1",
                "model.width=16",
                "model.heads=2",
                "dataset.sequence=16"};
    }
};

QTEST_APPLESS_MAIN(TestChangedData)
#include "tst_changed_data.moc"
