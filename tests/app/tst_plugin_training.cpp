#include <QDir>
#include <QElapsedTimer>
#include <QJsonArray>
#include <QJsonObject>
#include <QtTest>

#include "tests/app/lockstep_program.h"
#include "tests/plugin/out_of_tree.h"

namespace fs = std::filesystem;

// A plugin built out of tree, put where plugins go, and trained on; a broken one beside it does no harm.
class TestPluginTraining : public QObject {
    Q_OBJECT
private slots:
    void trainsOnAPluginsDataset() {
        const fs::path folder = m_program.path("plugin").toStdString(), images = m_program.path("images").toStdString();
        fs::create_directories(folder);
        const auto trouble =
            buildOutOfTree(folder, "pnm_folder", fs::path(LOCKSTEP_SOURCE_DIR) / "plugins/examples/pnm_folder");
        QVERIFY2(trouble.isEmpty(), trouble);
        const fs::path plugins = fs::path(m_program.home().toStdString()) / "plugins";
        fs::create_directories(plugins);
        for (const auto& file : fs::recursive_directory_iterator(folder / "build")) {
            if (file.path().extension() == ".so") fs::copy(file.path(), plugins);
        }
        put(plugins / "broken.so", "this is no library");
        writeImages(images, 40);

        const auto doctor = m_program.run({"doctor"});
        QVERIFY(doctor.out.contains("pnm-folder") && doctor.out.contains("broken.so"));
        const auto run = m_program.run({"train", "--dataset", "pnm-folder", "--data", m_program.path("images"),
                                        "--model", "mlp", "--set", "model.width=8", "--devices", "cpu:2", "--batch",
                                        "8", "--epochs", "5", "--lr", "0.1", "--json"});
        QVERIFY2(run.status == 0, qPrintable(run.err));
        QCOMPARE(run.last()["test_accuracy"].toDouble(), 1.0);
        QVERIFY(m_program.run({"trials"}).out.contains("pnm-folder"));
    }

    // A sample that never comes: nobody can end the thread that reads it, so the process ends, and everybody is told
    // why.
    void aRankThatHangsIsNamedAndTheProcessEnds() {
        LockstepProgram program;
        const fs::path plugins = fs::path(program.home().toStdString()) / "plugins";
        fs::create_directories(plugins);
        fs::copy(LOCKSTEP_FIXTURE, plugins);
        QElapsedTimer clock;
        clock.start();
        const auto run =
            program.run({"train", "--dataset", "sound", "--data", program.home(), "--set", "dataset.mode=11", "--model",
                         "mlp", "--devices", "cpu:3x1", "--batch", "15", "--set", "timeout=3", "--json"});
        QCOMPARE(run.status, 1);
        QVERIFY(clock.elapsed() < 40'000);
        const auto last = run.last();
        QCOMPARE(last["event"].toString(), QString("run_failed"));
        QCOMPARE(last["kind"].toString(), QString("io"));
        QCOMPARE(last["where"].toString(), QString("data"));
        const int rank = last["rank"].toInt();
        QVERIFY(rank >= 0 && rank < 3);
        QVERIFY2(last["collective"].toString().startsWith("all-reduce of ") && last["sequence"].toInt() > 0,
                 qPrintable(run.out.right(400)));
        QCOMPARE(last["waiting"].toArray().size(), 2);
        for (const auto& each : last["waiting"].toArray()) QVERIFY(each.toInt() != rank);
        const auto trials = program.run({"trials"});
        QVERIFY2(trials.out.contains("failed"), qPrintable(trials.out));
        const auto shown = program.run({"show", "1"});
        QVERIFY2(shown.out.contains("did not come"), qPrintable(shown.out));
    }

private:
    LockstepProgram m_program;
};

QTEST_APPLESS_MAIN(TestPluginTraining)
#include "tst_plugin_training.moc"
