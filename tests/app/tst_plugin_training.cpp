#include <QDir>
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
        const auto trouble = buildOutOfTree(folder, "pnm_folder", fs::path(LOCKSTEP_SOURCE_DIR) / "plugins/examples/pnm_folder");
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
        const auto run = m_program.run({"train", "--dataset", "pnm-folder", "--data", m_program.path("images"), "--model", "mlp",
                                        "--set", "model.width=8", "--devices", "cpu:2", "--batch", "8", "--epochs", "5", "--lr",
                                        "0.1", "--json"});
        QVERIFY2(run.status == 0, qPrintable(run.err));
        QCOMPARE(run.last()["test_accuracy"].toDouble(), 1.0);
        QVERIFY(m_program.run({"trials"}).out.contains("pnm-folder"));
    }

private:
    LockstepProgram m_program;
};

QTEST_APPLESS_MAIN(TestPluginTraining)
#include "tst_plugin_training.moc"
