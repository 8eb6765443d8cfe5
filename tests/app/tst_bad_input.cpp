#include <sys/mount.h>
#include <unistd.h>

#include <QDir>
#include <QFile>
#include <QJsonArray>
#include <QtTest>
#include <filesystem>

#include "tests/app/lockstep_program.h"

namespace {

QStringList synthetic(const QStringList& more) { return shortRun() + more; }

// Big-endian words, as IDX headers have them.
QByteArray words(std::initializer_list<quint32> values) {
    QByteArray bytes;
    for (const quint32 value : values) {
        for (int shift = 24; shift >= 0; shift -= 8) bytes += static_cast<char>(value >> shift & 255);
    }
    return bytes;
}

}  // namespace

// What cannot work ends in a message that names file or field, value and remedy, and in an exit status; nothing aborts.
class TestBadInput : public QObject {
    Q_OBJECT
private slots:
    void requests_data() {
        QTest::addColumn<QStringList>("arguments");
        QTest::addColumn<int>("status");
        QTest::addColumn<QStringList>("said");
        const auto row = [](const char* name, const QStringList& arguments, int status, const QStringList& said) {
            QTest::newRow(name) << arguments << status << said;
        };
        row("nothing to train", {"train"}, 2, {"fashion-mnist", "epochs: 5", "--preset fashion", "--data"});
        row("nothing to train for long", {"train", "--epochs", "3"}, 2, {"epochs: 3", "--preset fashion"});
        row("unknown command", {"trian"}, 2, {"trian"});
        row("unknown option", synthetic({"--epoch", "3"}), 2, {"--epoch"});
        row("not a number", synthetic({"--batch", "many"}), 2, {"batch: \"many\" is not a whole number"});
        row("unknown setting", synthetic({"--set", "optimizer.momentmu=0.9"}), 2, {"optimizer.momentmu", "momentum"});
        row("unknown top setting", synthetic({"--set", "momentum=0.9"}), 2, {"momentum", "optimizer"});
        row("setting without value", synthetic({"--set", "optimizer.momentum"}), 2,
            {"optimizer.momentum", "KEY=VALUE"});
        row("setting by itself", {"train", "--preset", "fashion", "precision=bf17"}, 2,
            {"precision=bf17", "--set optimizer.momentum=0.95"});
        row("mistyped setting", synthetic({"--set", "optimizer.momentum=high"}), 2, {"optimizer.momentum", "high"});
        row("out of range", synthetic({"--set", "optimizer.momentum=1.5"}), 2, {"optimizer.momentum", "1.5"});
        row("epochs", synthetic({"--epochs", "0"}), 2, {"epochs", "0"});
        row("epochs in words", synthetic({"--epochs", "many"}), 2, {"epochs", "\"many\" is not a whole number"});
        row("half an epoch", synthetic({"--epochs", "2.5"}), 2, {"epochs", "\"2.5\" is not a whole number"});
        row("learning rate", synthetic({"--lr", "nan"}), 2, {"learning_rate", "\"nan\" is not a number"});
        row("negative seed", synthetic({"--seed", "-1"}), 2, {"seed: -1 is outside 0 … 18446744073709551615"});
        row("huge seed", synthetic({"--seed", "18446744073709551616"}), 2, {"seed: 18446744073709551616 is outside 0"});
        row("a group set", synthetic({"--set", "augmentation=3"}), 2, {"augmentation.NAME=VALUE"});
        row("unknown way to recompute", synthetic({"--recompute", "blocks"}), 2,
            {"recompute", "blocks", "none, segments"});
        row("unknown model", synthetic({"--model", "lenet9"}), 2, {"lenet9", "lenet5"});
        row("unknown dataset", synthetic({"--dataset", "minst"}), 2, {"minst", "synthetic"});
        row("unknown devices", synthetic({"--devices", "tpu:2"}), 2, {"tpu", "cpu"});
        row("bad devices", synthetic({"--devices", "cpu:two"}), 2, {"cpu:two", "cpu:2x1"});
        row("batch over dataset", synthetic({"--batch", "601"}), 2, {"batch", "601", "600"});
        row("batch under devices", synthetic({"--devices", "cpu:3", "--batch", "2"}), 2, {"batch", "2", "3"});
        row("unknown preset", {"train", "--preset", "fasion"}, 3, {"fasion", "fashion"});
        row("preset and spec", {"train", "--preset", "fashion", "--spec", "x"}, 2, {"--preset", "--spec"});
        row("no such spec", {"train", "--spec", "/nowhere/spec.json"}, 2, {"/nowhere/spec.json"});
        row("no such data", {"train", "--data", "/nowhere"}, 2, {"/nowhere"});
        row("no such trial", {"show", "99"}, 3, {"99", "lockstep trials"});
        row("resume of none", {"resume", "99"}, 3, {"99"});
        row("trial not a number", {"show", "last"}, 2, {"last"});
        row("no such checkpoint", {"train", "--from", "/nowhere/last.safetensors"}, 2, {"/nowhere/last.safetensors"});
        row("bad input shape", {"models", "mlp", "--input", "28x28"}, 2, {"28x28", "3x32x32"});
        row("image too small", {"models", "lenet5", "--input", "1x4x4"}, 2, {"conv2", "mlp"});
        row("odd image", {"models", "vgg19-bn", "--input", "3x225x224"}, 2, {"height", "225", "vgg19-bn", "224"});
        row("image under the strides", {"models", "resnet50", "--input", "3x64x28"}, 2, {"width", "28", "32"});
        row("no such weights", synthetic({"--weights", "/nowhere/w.safetensors"}), 2, {"/nowhere/w.safetensors"});
        row("no such head", synthetic({"--new-head", "maybe"}), 2, {"new_head", "maybe", "auto"});
        row("no such layer", synthetic({"--frozen", "stem,head"}), 2, {"frozen", "stem", "dense1"});
        row("all frozen", synthetic({"--frozen", "dense1,dense2,head"}), 2, {"frozen", "mlp"});
        row("a prompt for images", synthetic({"--set", "sample_prompt=Once"}), 2, {"sample_prompt", "Once", "mlp"});
        row("too hot", synthetic({"--model", "gpt", "--set", "sample_temperature=1000"}), 2, {"sample_temperature"});
        row("export of nothing", {"export-weights", "/nowhere/last.safetensors", "w"}, 2,
            {"/nowhere/last.safetensors"});
        row("export by other names", {"export-weights", "a", "b", "--names", "keras"}, 2, {"--names", "torchvision"});
        row("export of no trial", {"export-weights", "99", "w"}, 3, {"99", "lockstep trials"});
        row("weights of no trial", synthetic({"--weights", "99"}), 3, {"99", "lockstep trials"});
        row("from no trial", {"train", "--from", "99999999999999999999"}, 3, {"lockstep trials"});
        row("choice of a file", {"export-weights", "a.safetensors", "w", "--last"}, 2, {"a.safetensors", "--last"});
        row("inspect nothing", {"inspect", "/nowhere"}, 2, {"/nowhere"});
        for (const char* bad : {"nan", "inf", "-inf", "0", "-1", "1e-13"})
            row(qPrintable(QString("a first rate of ") + bad), {"find-rate", "--from", bad}, 2,
                {QString("--from: ") + bad + " is no learning rate from 1e-12 to 1e+06"});
        row("a last rate of nan", {"find-rate", "--to", "nan"}, 2, {"--to: nan is no learning rate"});
        row("rates that do not grow", {"find-rate", "--from", "1", "--to", "0.1"}, 2,
            {"--to", "not grow from 1 to 0.1"});
        row("no rate", {"find-rate", "--from", "low"}, 2, {"--from", "low"});
        row("events for people", {"find-rate", "--events"}, 2, {"--events", "--json"});
        row("a limit below none", {"trials", "--limit", "-1"}, 2, {"--limit", "-1", "below 0"});
    }
    void requests() {
        QFETCH(QStringList, arguments);
        QFETCH(int, status);
        QFETCH(QStringList, said);
        const auto outcome = m_program.run(arguments);
        QVERIFY2(outcome.status == status, qPrintable(QString::number(outcome.status) + outcome.out + outcome.err));
        for (const auto& word : said) QVERIFY2(outcome.err.contains(word), qPrintable(word + " in: " + outcome.err));
        QVERIFY2(outcome.err.contains("→"), qPrintable(outcome.err));
    }

    void aloneItHelps() {
        const auto outcome = m_program.run({});
        QCOMPARE(outcome.status, 2);
        QCOMPARE(outcome.out, m_program.run({"--help"}).out);
        QVERIFY(outcome.err.isEmpty());
    }

    void errorsAreObjectsWhereJsonIsAskedFor_data() {
        QTest::addColumn<QStringList>("arguments");
        QTest::addColumn<QString>("code");
        const auto row = [](const QStringList& arguments, const char* code) {
            QTest::newRow(qPrintable(arguments.join(' '))) << arguments + QStringList{"--json"} << code;
        };
        row({"show", "99"}, "trial.unknown");
        row({"attach", "99"}, "trial.unknown");
        row({"resume", "99"}, "trial.unknown");
        row({"export-weights", "99", "w"}, "trial.unknown");
        row({"queue", "first", "99"}, "trial.unknown");
        row({"export-weights", "/nowhere/last.safetensors", "w"}, "checkpoint.unreadable");
        row({"inspect", "/nowhere"}, "dataset.not-found");
        row({"models", "nix"}, "model.unknown");
        row({"bench", "--model", "nix"}, "spec.unknown-model");
        row({"check", "nix"}, "spec.unknown-model");
        row({"prove", "--model", "nix"}, "spec.unknown-model");
        row({"find-rate", "--from", "nan"}, "rate.outside");
        row({"train"}, "cli.nothing-to-train");
        row({"show", "last"}, "cli.usage");
        row({"trials", "--limit", "-1"}, "cli.usage");
        row({"trian"}, "cli.usage");
    }
    void errorsAreObjectsWhereJsonIsAskedFor() {
        QFETCH(QStringList, arguments);
        QFETCH(QString, code);
        const auto outcome = m_program.run(arguments);
        QVERIFY(outcome.status == 2 || outcome.status == 3);
        QCOMPARE(outcome.lines().size(), 1);
        const auto problem = outcome.last()["problems"].toArray().at(0).toObject();
        QCOMPARE(problem["code"].toString(), code);
        for (const char* part : {"what", "remedy"}) QVERIFY(outcome.err.contains(problem[part].toString()));
    }

    void texts() {
        const auto refused = [&](const char* name, const QByteArray& text, const QStringList& said) {
            const auto file = m_program.write(name, text);
            const auto outcome =
                m_program.run({"train", "--data", file, "--model", "gpt", "--devices", "cpu:1", "--batch", "1"});
            for (const auto& word : QStringList{file, "→"} + said)
                QVERIFY2(outcome.err.contains(word), qPrintable(word + " in: " + outcome.err));
            QVERIFY(outcome.status != 0);
        };
        refused("latin.txt", "na\xefve", {"byte 2", "0xef", "iconv"});
        refused("empty.txt", "", {"empty"});
        refused("no_label.csv", "text,class\na,b\n", {"'label'", "text, class", "label_column"});
        refused("open.csv", "text,label\na,b\n\"c,d\n", {"line 3", "quote"});
    }

    void specFiles_data() {
        QTest::addColumn<QByteArray>("text");
        QTest::addColumn<QStringList>("said");
        QTest::newRow("malformed") << QByteArray("{\n\"epochs\": 3,\n}") << QStringList{"line 3"};
        QTest::newRow("cut") << QByteArray("{\"epochs\":") << QStringList{"line 1"};
        QTest::newRow("unknown") << QByteArray(R"({"epoch": 3})") << QStringList{"epoch", "epochs"};
        QTest::newRow("duplicate") << QByteArray(R"({"epochs": 3, "epochs": 4})") << QStringList{"epochs", "twice"};
        QTest::newRow("mistyped") << QByteArray(R"({"optimizer": {"id": 3}})") << QStringList{"optimizer.id", "3"};
        QTest::newRow("unknown setting") << QByteArray(
                                                R"({"dataset": "synthetic", "model": {"id": "mlp", "wdith": 3}})")
                                         << QStringList{"model.wdith", "width"};
        QTest::newRow("binary") << QByteArray("\x89PNG\0\0", 6) << QStringList{"line 1"};
    }
    void specFiles() {
        QFETCH(QByteArray, text);
        QFETCH(QStringList, said);
        const auto file = m_program.write("bad.json", text);
        const auto outcome = m_program.run({"train", "--spec", file});
        QCOMPARE(outcome.status, 2);
        for (const auto& word : said) QVERIFY2(outcome.err.contains(word), qPrintable(word + " in: " + outcome.err));
    }

    void aHomeThatCannotBe() {
        LockstepProgram program;
        const auto file = program.write("in-the-way", "x");
        program.setHome(file + "/home");
        for (const auto& arguments : {shortRun(), QStringList{"trials"}}) {
            const auto outcome = program.run(arguments);
            QVERIFY2(outcome.status == 2, qPrintable(outcome.out + outcome.err));
            QVERIFY2(outcome.err.contains(file) && outcome.err.contains("LOCKSTEP_HOME"), qPrintable(outcome.err));
        }
    }

    void cudaWithoutADriver() {
        for (const auto& device : m_program.run({"devices", "--json"}).last()["devices"].toArray()) {
            if (device.toObject()["backend"] == "cuda") QSKIP("this machine has a card");
        }
        const auto outcome = m_program.run(synthetic({"--devices", "cuda:0"}));
        QCOMPARE(outcome.status, 2);
        QVERIFY2(outcome.err.contains("cuda devices cannot be used") && outcome.err.contains("module"),
                 qPrintable(outcome.err));
    }

    void aLossThatIsNoNumber() {
        LockstepProgram program;
        auto arguments = synthetic({"--lr", "1000", "--schedule", "constant", "--epochs", "20"});
        const auto outcome = program.run(arguments);
        QVERIFY2(outcome.status == 1, qPrintable(outcome.out + outcome.err));
        QVERIFY2(outcome.err.contains("finite") && outcome.err.contains("--lr"), qPrintable(outcome.err));
        const auto row = program.trial(1);
        QCOMPARE(row["state"].toString(), QString("failed"));
        QVERIFY(!row["failure"].toString().isEmpty());
    }

    void truncatedIdx() {
        QDir().mkpath(m_program.path("idx"));
        for (const char* split : {"train", "t10k"}) {
            m_program.write(QString("idx/%1-images-idx3-ubyte").arg(split),
                            words({0x803, 10, 28, 28}) + QByteArray(10 * 784 - 1, 'x'));
            m_program.write(QString("idx/%1-labels-idx1-ubyte").arg(split),
                            words({0x801, 10}) + QByteArray("\0\1\0\1\0\1\0\1\0\1", 10));
        }
        const auto outcome = m_program.run({"train", "--data", m_program.path("idx"), "--model", "mlp"});
        QVERIFY2(outcome.status == 2, qPrintable(outcome.out + outcome.err));
        QVERIFY2(outcome.err.contains("images-idx3-ubyte") && outcome.err.contains("7855"), qPrintable(outcome.err));
    }

    void aHistoryFromANewerVersion() {
        LockstepProgram program;
        QCOMPARE(program.run({"trials"}).status, 0);
        QFile file(program.home() + "/history.sqlite");
        if (!file.exists()) file.setFileName(program.home() + "/data/history.sqlite");
        QVERIFY(file.open(QIODevice::ReadWrite));
        file.seek(60);  // user_version, in SQLite's file header
        file.write(words({4711}));
        file.close();
        for (const auto& arguments : {shortRun(), QStringList{"trials"}}) {
            const auto outcome = program.run(arguments);
            QVERIFY2(outcome.status == 2, qPrintable(outcome.out + outcome.err));
            QVERIFY2(outcome.err.contains("history.sqlite") && outcome.err.contains("newer"), qPrintable(outcome.err));
        }
    }

    // Known before it begins: bytes, folder and remedy, and nothing is left of it.
    void aDiskThatIsTooSmall() {
        LockstepProgram program;
        if (!mountSmallDisk(program)) QSKIP("only root may mount a small disk");
        const auto small = program.run(shortRun());
        const auto large = program.run(synthetic({"--set", "model.width=2048"}));  // a checkpoint has 44 MiB
        const auto trials = program.run({"trials", "--json"});
        const auto unharmed = program.trial(1);
        umount2(program.path("disk").toUtf8(), MNT_DETACH);
        QVERIFY2(small.status == 0, qPrintable(small.out + small.err));
        QVERIFY2(large.status == 2, qPrintable(large.out + large.err));
        for (const char* said : {"runs/2/checkpoints", "44.4 MiB", "lockstep disk"})
            QVERIFY2(large.err.contains(said), qPrintable(large.err));
        QCOMPARE(trials.last()["trials"].toArray().size(), 1);
        QCOMPARE(unharmed["state"].toString(), QString("finished"));
    }

    // One that fills while a run goes on: the run fails, its last checkpoint stays, the others are unharmed.
    void aDiskThatFills() {
        LockstepProgram program;
        if (!mountSmallDisk(program)) QSKIP("only root may mount a small disk");
        const auto unmount = qScopeGuard([&] { umount2(program.path("disk").toUtf8(), MNT_DETACH); });
        QCOMPARE(program.run(shortRun()).status, 0);
        // A checkpoint has 1.4 MiB: three of them fit, and beside 1 MiB no other.
        const auto run = program.start(synthetic({"--epochs", "100000", "--set", "model.width=64"}));
        QCOMPARE(program.waitUntilRunning(), 2);
        const QString last = program.home() + "/runs/2/checkpoints/last.safetensors";
        QTRY_VERIFY_WITH_TIMEOUT(QFile::exists(last), 30'000);
        QFile filler(program.path("disk/filler"));
        QVERIFY(filler.open(QIODevice::WriteOnly));
        const auto free = [&] { return std::filesystem::space(program.home().toStdString()).available; };
        while (free() > 1'000'000 && filler.write(QByteArray(100'000, 'x')) > 0) filler.flush();
        const auto failed = LockstepProgram::finish(*run);
        QVERIFY2(failed.status == 1, qPrintable(failed.out + failed.err));
        QVERIFY2(failed.err.contains("safetensors") && failed.err.contains("space", Qt::CaseInsensitive),
                 qPrintable(failed.err));
        QCOMPARE(program.trial(1)["state"].toString(), QString("finished"));
        QCOMPARE(program.trial(2)["state"].toString(), QString("failed"));
        QVERIFY(filler.remove());  // what an evaluation found could not be kept, where nothing at all is free
        const auto evaluated = program.run({"evaluate", "2", "--last"});
        QVERIFY2(evaluated.status == 0, qPrintable(evaluated.out + evaluated.err));
    }

private:
    static bool mountSmallDisk(LockstepProgram& program) {
        const auto disk = program.path("disk");
        QDir().mkpath(disk);
        program.setHome(disk + "/home");
        return geteuid() == 0 && mount("tmpfs", disk.toUtf8(), "tmpfs", 0, "size=8m") == 0;
    }

    LockstepProgram m_program;
};

QTEST_APPLESS_MAIN(TestBadInput)
#include "tst_bad_input.moc"
