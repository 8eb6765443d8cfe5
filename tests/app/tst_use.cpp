#include <QFile>
#include <QJsonArray>
#include <cmath>

#include "tests/app/pictures.h"

// What is done with a trained model: asked how good it is, and what it says.
class TestUse : public QObject {
    Q_OBJECT
private slots:
    void initTestCase() {
        writePictures(m_program);
        const auto trained = m_program.run({"train", "--data", m_program.path("photos"), "--model", "mlp", "--devices",
                                            "cpu:2x1", "--batch", "7", "--epochs", "4", "--lr", "0.05"});
        QVERIFY2(trained.status == 0, qPrintable(trained.err));
    }

    void figuresAreThoseOfTheTrial() {
        const QJsonObject trial = m_program.trial(1);
        for (const char* devices : {"", "cpu:1x1", "cpu:3x1"}) {
            QStringList words{"evaluate", "1", "--last", "--json"};
            if (*devices) words << "--devices" << devices;
            const auto said = m_program.run(words);
            QVERIFY2(said.status == 0, qPrintable(said.err));
            const QJsonObject found = said.last();
            QCOMPARE(found["samples"].toInt(), 18);
            QCOMPARE(found["precision"].toString(), QString("fp32"));
            QCOMPARE(found["accuracy"].toDouble(), trial["test_accuracy"].toDouble());
            QVERIFY(std::abs(found["loss"].toDouble() - trial["test_loss"].toDouble()) < 1e-6);
            const QJsonArray confusion = found["confusion"].toArray();
            int total = 0;
            for (const auto& row : confusion)
                for (const auto& cell : row.toArray()) total += cell.toInt();
            QCOMPARE(total, 18);
            QCOMPARE(found["classes"].toArray().at(0).toObject()["class"].toString(), QString("bright"));
        }
        QCOMPARE(m_program.trial(1)["evaluations"].toArray().size(), 1);  // of the same data, on whatever devices
        QVERIFY(m_program.run({"show", "1"}).out.contains("EVALUATION"));
        QCOMPARE(m_program.run({"evaluate", "1", "--no-keep"}).status, 0);
        QCOMPARE(m_program.trial(1)["evaluations"].toArray().size(), 1);
    }

    void tablesAreCsv() {
        const auto lines = [&](const char* table) {
            return m_program.run({"evaluate", "1", "--no-keep", "--csv", table}).out.split('\n', Qt::SkipEmptyParts);
        };
        QCOMPARE(lines("confusion").front(), QString("class,bright,dark"));
        QCOMPARE(lines("classes").size(), 3);
        QCOMPARE(lines("samples").size(), 19);
        QVERIFY(lines("samples").front().startsWith("sample,class,answer1,probability1"));
    }

    void otherDataAreAskedByTheirClasses() {
        QVERIFY(QDir().mkpath(m_program.path("more/dark")));
        QFile::copy(m_program.path("photos/test/dark/1.jpg"), m_program.path("more/dark/1.jpg"));
        QVERIFY(QDir().mkpath(m_program.path("more/bright")));
        for (int i = 0; i < 4; ++i)
            QFile::copy(m_program.path(QString("photos/test/bright/%1.jpg").arg(i)),
                        m_program.path(QString("more/bright/%1.jpg").arg(i)));
        const auto found = m_program.run({"evaluate", "1", "--data", m_program.path("more"), "--json"});
        QVERIFY2(found.status == 0, qPrintable(found.err));
        QCOMPARE(found.last()["samples"].toInt(), 5);
        QCOMPARE(found.last()["split"].toString(), QString("all"));
        QCOMPARE(found.last()["dataset"].toString(), QString("image-folder"));
        const QJsonObject kept = m_program.trial(1)["evaluations"].toArray().at(0).toObject();
        QCOMPARE(kept["dataset"].toString(), QString("image-folder"));
        QCOMPARE(kept["data"].toString(), m_program.path("more"));
        const auto before = m_program.trial(1)["evaluations"].toArray().size();
        QCOMPARE(m_program.run({"evaluate", "1", "--data", m_program.path("more") + '/'}).status, 0);
        QCOMPARE(m_program.trial(1)["evaluations"].toArray().size(), before);
        QVERIFY(m_program.run({"show", "1"}).out.contains("image-folder " + m_program.path("more") + ' '));
        QVERIFY(QDir().rename(m_program.path("more/dark"), m_program.path("more/gloomy")));
        const auto refused = m_program.run({"evaluate", "1", "--data", m_program.path("more")});
        QCOMPARE(refused.status, 2);
        QVERIFY2(refused.err.contains("gloomy") && refused.err.contains("bright, dark"), qPrintable(refused.err));
    }

    // New photos are few, and may be of one class.
    void aFewPhotosAreEnoughToAskAbout() {
        QVERIFY(QDir().mkpath(m_program.path("few/dark")));
        m_program.write("few/dark/0.jpg", jpegBytes(std::vector<std::uint8_t>(16 * 16 * 3, 30), 16, 16));
        const auto said = m_program.run({"evaluate", "1", "--data", m_program.path("few"), "--json"});
        QVERIFY2(said.status == 0, qPrintable(said.err));
        QCOMPARE(said.last()["samples"].toInt(), 1);
    }

    void answersDoNotDependOnTheDevices() {
        QString first;
        for (const char* devices : {"cpu:1x1", "cpu:2x1", "cpu:4x1"}) {
            const auto said = m_program.run(
                {"predict", "1", m_program.path("photos/test"), "--devices", devices, "--csv", "--batch", "4"});
            QVERIFY2(said.status == 0, qPrintable(said.err));
            QCOMPARE(said.out.count('\n'), 19);
            if (first.isEmpty()) first = said.out;
            QCOMPARE(said.out, first);
            QVERIFY2(said.err.contains("18 samples on " + QString(devices)), qPrintable(said.err));
        }
        QVERIFY(first.startsWith("sample,class1,probability1,class2,probability2,problem\n"));
    }

    // Checkpoints keep fp32. What it comes to in another precision stands beside.
    void anotherPrecisionIsAskedFor() {
        QVERIFY(QDir().mkpath(m_program.path("empty")));
        const auto kept = [&] { return m_program.trial(1)["evaluations"].toArray(); };
        const QStringList asked{"evaluate", "1", "--json", "--precision"};
        for (const char* precision : {"fp32", "bf16"}) {
            const auto said = m_program.run(asked + QStringList{precision});
            QVERIFY2(said.status == 0, qPrintable(said.err));
            QCOMPARE(said.last()["precision"].toString(), QString(precision));
            QCOMPARE(kept().at(0)["precision"].toString(), QString(precision));
        }
        QCOMPARE(kept().at(1)["precision"].toString(), QString("fp32"));
        const auto fastest = m_program.run({"predict", "1", m_program.path("photos/test"), "--precision", "auto"});
        QVERIFY2(fastest.status == 0 && fastest.err.contains("(precision=auto)"), qPrintable(fastest.err));
        QVERIFY2(fastest.err.contains("→"), qPrintable(fastest.err));  // what is remarked has its remedy
        const auto summary =
            m_program.run({"predict", "1", m_program.path("photos/test"), "--precision", "auto", "--json"});
        const QJsonArray remarks = summary.last()["summary"].toObject()["remarks"].toArray();
        QVERIFY2(summary.err.isEmpty() && !remarks.isEmpty(), qPrintable(summary.err));
        QCOMPARE(remarks.at(0).toObject()["code"].toString(), QString("run.precision-chosen"));
        const auto nothing = m_program.run({"predict", "1", m_program.path("empty"), "--precision", "auto"});
        QVERIFY2(nothing.status == 1 && !nothing.err.contains("precision"), qPrintable(nothing.err));  // nor measured
        const auto none = m_program.run({"predict", "1", m_program.path("empty"), "--precision", "auto", "--json"});
        QVERIFY2(none.last()["summary"].toObject()["precision"].isNull(), qPrintable(none.out));
        for (const auto& [precision, why] :
             {std::pair{"tf32", "cpu devices do not compute in tf32"}, {"bf17", "fp32, tf32"}, {"", "fp32, tf32"}}) {
            const auto refused = m_program.run(asked + QStringList{precision});
            QVERIFY2(refused.status == 2 && refused.err.contains(why), qPrintable(refused.err));
        }
    }

    void readersOfAnswersMayLeave() {
        const auto said = m_program.shell(
            "yes \"$1\" | head -n 3000 | \"$0\" predict 1 - --csv | head -n 1; "
            "exit ${PIPESTATUS[2]}",
            {m_program.path("photos/test/dark/0.jpg")});
        QVERIFY2(said.status == 141 && said.err.isEmpty(), qPrintable(QString::number(said.status) + said.err));
        QCOMPARE(said.out.count('\n'), 1);
        const QString status = m_program.run({"--help"}).out.section("Exit status:", 1);
        QVERIFY2(status.contains("141") && status.contains("SIGPIPE"), qPrintable(status));
    }

    // For people, in columns; and with nothing to tell there are no figures.
    void answersAreATable() {
        const QString one = m_program.path("photos/test/dark/0.jpg"), none = m_program.write("nothing.jpg", "no image");
        const auto said = m_program.run({"predict", "1", one, none});
        QCOMPARE(said.status, 1);
        const QStringList lines = said.out.split('\n', Qt::SkipEmptyParts);
        QCOMPARE(lines.size(), 3);
        QVERIFY2(lines[0].startsWith("SAMPLE ") && lines[0].endsWith("  CLASS 2     PROB."), qPrintable(said.out));
        QCOMPARE(lines[1].size(), lines[0].size());
        QCOMPARE(lines[1].lastIndexOf("dark"), lines[0].indexOf("CLASS 1"));
        QCOMPARE(lines[2].indexOf("cannot be answered"), lines[0].indexOf("CLASS 1"));
        QVERIFY2(said.err.contains("2 samples on ") && said.err.contains("a batch of 2 takes"), qPrintable(said.err));
        const auto single = m_program.run({"predict", "1", one, "--top", "1"});
        QVERIFY2(single.err.contains("1 sample on "), qPrintable(single.err));
        const auto nothing = m_program.run({"predict", "1", none});
        QVERIFY2(nothing.err.contains("no answers: 1 sample could not be answered"), qPrintable(nothing.err));
        QVERIFY2(!nothing.err.contains("takes") && !nothing.err.contains("samples/s"), qPrintable(nothing.err));
        const auto interactive = m_program.run({"predict", "1", "--interactive"}, one.toUtf8() + '\n');
        QVERIFY2(interactive.out.startsWith("SAMPLE ") && interactive.out.count('\n') == 2,
                 qPrintable(interactive.out));
    }

    void whatCannotBeReadIsARow() {
        const QString none = m_program.write("none.jpg", "no image");
        const auto said = m_program.run({"predict", "1", none, m_program.path("photos/test/dark/0.jpg"),
                                         m_program.path("absent.png"), "--json", "--top", "1"});
        QCOMPARE(said.status, 1);
        const auto lines = said.lines();
        QCOMPARE(lines.size(), 4);
        const auto codeAt = [&](int i) { return lines[i]["problems"].toArray().at(0).toObject()["code"].toString(); };
        QCOMPARE(codeAt(0), QString("image.not-an-image"));
        QCOMPARE(lines[1]["answers"].toArray().at(0).toObject()["class"].toString(), QString("dark"));
        QCOMPARE(codeAt(2), QString("predict.not-found"));
        QCOMPARE(lines[3]["summary"].toObject()["failed"].toInt(), 2);
    }

    void theStandardInputListsPaths() {
        QByteArray list("\xEF\xBB\xBF");  // as editors of Windows begin a file
        for (int i : {3, 0, 7}) list += m_program.path(QString("photos/test/bright/%1.jpg").arg(i)).toUtf8() + '\n';
        for (const bool one : {false, true}) {
            const auto said = m_program.run(
                QStringList{"predict", "1", "--json"} + (one ? QStringList{"--interactive"} : QStringList{"-"}), list);
            QVERIFY2(said.status == 0, qPrintable(said.err));
            QVERIFY(said.lines()[1]["sample"].toString().endsWith("bright/0.jpg"));
            QCOMPARE(said.lines().size(), one ? 3 : 4);
        }
    }

    // Who asks by lines counts rows.
    void eachLineHasOneRow() {
        const QString one = m_program.path("photos/test/dark/0.jpg"), folder = m_program.path("photos/test");
        const QString none = m_program.path("absent.png");
        QVERIFY(QDir().mkpath(m_program.path("alone")));
        QFile::copy(one, m_program.path("alone/only.jpg"));
        const QStringList asked{folder, one, "", none, m_program.path("alone")};
        const auto said =
            m_program.run({"predict", "1", "--interactive", "--json"}, (asked.join('\n') + '\n').toUtf8());
        QCOMPARE(said.status, 1);
        const auto rows = said.lines();
        QCOMPARE(rows.size(), asked.size());
        const auto codeOf = [](const QJsonObject& row) {
            return row["problems"].toArray().at(0).toObject()["code"].toString();
        };
        QCOMPARE(codeOf(rows[0]), QString("predict.several"));
        QVERIFY(rows[0]["sample"].toString() == folder && said.out.contains("holds 18 samples"));
        QVERIFY(rows[1]["sample"].toString() == one && rows[1]["answers"].toArray().size() == 2);
        QCOMPARE(codeOf(rows[2]), QString("predict.nothing-asked"));
        QCOMPARE(codeOf(rows[3]), QString("predict.not-found"));
        QCOMPARE(rows[4]["sample"].toString(), m_program.path("alone/only.jpg"));
    }

    void archivesAreRead() {
        QProcess zip;
        zip.setWorkingDirectory(m_program.path("photos"));
        zip.start("bsdtar", {"-caf", m_program.path("photos.zip"), "test"});
        QVERIFY(zip.waitForFinished() && zip.exitCode() == 0);
        const auto packed = m_program.run({"predict", "1", m_program.path("photos.zip"), "--csv", "--top", "1"});
        QVERIFY2(packed.status == 0, qPrintable(packed.err));
        QCOMPARE(packed.out.count('\n'), 19);
        QVERIFY(packed.out.contains("photos.zip/test/dark/8.jpg"));
        // As made by `tar -C photos/test .`, with a file that is empty.
        m_program.write("photos/test/dark/empty.jpg", {});
        zip.setWorkingDirectory(m_program.path("photos/test"));
        zip.start("bsdtar", {"-caf", m_program.path("dotted.tgz"), "."});
        QVERIFY(zip.waitForFinished() && zip.exitCode() == 0);
        QVERIFY(QFile::remove(m_program.path("photos/test/dark/empty.jpg")));
        const auto dotted = m_program.run({"predict", "1", m_program.path("dotted.tgz"), "--json", "--top", "1"});
        QCOMPARE(dotted.lines().size(), 20);
        QCOMPARE(dotted.last()["summary"].toObject()["failed"].toInt(), 1);
        QVERIFY(dotted.out.contains("dotted.tgz/dark/8.jpg") && dotted.out.contains("image.empty"));
        const QString broken = m_program.write("broken.zip", "PK no more");
        QCOMPARE(m_program.run({"predict", "1", broken}).status, 1);
    }

    void aLanguageModelGoesOn() {
        m_program.write("notes.txt", QByteArray("to be or not to be, that is the question. ").repeated(60));
        const auto trained = m_program.run({"train",
                                            "--data",
                                            m_program.path("notes.txt"),
                                            "--model",
                                            "gpt",
                                            "--set",
                                            "model.layers=1",
                                            "model.width=16",
                                            "model.heads=2",
                                            "model.context=16",
                                            "dataset.sequence=16",
                                            "--devices",
                                            "cpu:1",
                                            "--batch",
                                            "8",
                                            "--epochs",
                                            "1",
                                            "--optimizer",
                                            "adamw",
                                            "--lr",
                                            "0.01",
                                            "--json",
                                            "--no-steps"});
        QVERIFY2(trained.status == 0, qPrintable(trained.err));
        const auto once = m_program.run({"predict", "2", "--prompt", "to be", "--length", "30"});
        QVERIFY2(once.status == 0 && once.out.startsWith("to be"), qPrintable(once.err));
        QCOMPARE(m_program.run({"predict", "2", "--prompt", "to be", "--length", "30"}).out, once.out);
        const auto other =
            m_program.run({"predict", "2", "--prompt", "to be", "--length", "30", "--seed", "2", "--json"});
        QCOMPARE(other.last()["prompt"].toString(), QString("to be"));
        QVERIFY(!other.last()["text"].toString().isEmpty());
        QCOMPARE(m_program.run({"predict", "2", m_program.path("notes.txt")}).status, 2);
        const auto noText = m_program.run({"predict", "1", "--prompt", "to be", "--precision", "auto"});
        QVERIFY2(noText.status == 2 && noText.out.isEmpty(), qPrintable(noText.out));
        QVERIFY2(!noText.err.contains("precision=auto"), qPrintable(noText.err));  // nor measured
        QCOMPARE(m_program.shell("\"$0\" predict 2 --prompt $'\\xff\\xfe'", {}).status, 2);
        const auto evaluated = m_program.run({"evaluate", "2", "--json"});
        QVERIFY(evaluated.last()["perplexity"].toDouble() > 1 && evaluated.last()["bits_per_byte"].toDouble() > 0);
        // Before anything is read of the data.
        QVERIFY(QFile::rename(m_program.path("notes.txt"), m_program.path("notes.away")));
        const auto noSamples = m_program.run({"evaluate", "2", "--csv", "samples"});
        QVERIFY2(noSamples.status == 2 && !noSamples.err.contains("--csv samples"), qPrintable(noSamples.err));
        QVERIFY(m_program.run({"predict", "2", "--prompt", "a", "--temperature", "nan"}).status != 0);
        const auto noTable = m_program.run({"evaluate", "2", "--csv", "classes"});
        QVERIFY(QFile::rename(m_program.path("notes.away"), m_program.path("notes.txt")));
        QVERIFY2(noTable.status == 2 && noTable.err.contains("no table"), qPrintable(noTable.err));
        const auto card = m_program.run({"card", "2", "--markdown", "-"});
        QVERIFY2(card.status == 0 && card.out.contains("It foretells text"), qPrintable(card.err));
        QVERIFY(card.out.contains("| Test perplexity | ") && card.out.contains("## What it writes"));
        QVERIFY(card.out.contains("lockstep predict 2 --prompt") && !card.out.contains("## Results per class"));
    }

    // A text that is none costs its own answer alone.
    void textsThatCannotBeReadAreRows() {
        const QByteArray rows = QByteArray("all is well,good\nnothing works,bad\n").repeated(20);
        const QString table = m_program.write("texts.csv", "text,label\n" + rows);
        const auto trained =
            m_program.run({"train", "--data", table, "--model", "text-encoder", "--devices", "cpu:1", "--batch", "8",
                           "--epochs", "1", "--set", "model.layers=1", "model.width=16", "model.heads=2"});
        QVERIFY2(trained.status == 0, qPrintable(trained.err));
        const QString asked = m_program.write("asked.csv", "text\ngood\n\"\"\nbad\n");
        const QString broken = m_program.write("broken.csv", "text\n\xff\xfe\n");
        const auto said =
            m_program.run({"predict", "3", asked, broken, m_program.path("absent.txt"), "--json", "--top", "1"});
        QCOMPARE(said.status, 1);
        const auto lines = said.lines();
        QCOMPARE(lines.size(), 6);
        for (const int right : {0, 2}) QVERIFY(lines[right].contains("answers"));
        for (const int wrong : {1, 3, 4}) QVERIFY(lines[wrong].contains("problems"));
        const auto interactive = m_program.run({"predict", "3", "--interactive", "--json"}, "good\n\nbad\n");
        QCOMPARE(interactive.lines().size(), 3);
        QVERIFY(interactive.lines()[2].contains("answers"));
    }

    void moreDevicesThanTheTrainingBatchHad() {
        const QString image = m_program.path("photos/test/dark/0.jpg");
        QVERIFY(m_program.run({"predict", "1", image, "--devices", "cpu:9"}).status == 0);
        QVERIFY(m_program.run({"evaluate", "1", "--devices", "cpu:9"}).status == 0);
    }

    // The trial's own folder, with photographs of another size since.
    void aFolderThatHasGrownIsReadAtTheModelsSize() {
        const QString later = m_program.write("photos/test/dark/later.jpg",
                                              jpegBytes(std::vector<std::uint8_t>(60 * 40 * 3, 25), 60, 40));
        const auto said = m_program.run({"evaluate", "1", "--json"});
        QVERIFY2(said.status == 0, qPrintable(said.err));
        QCOMPARE(said.last()["samples"].toInt(), 19);
        QVERIFY(QFile::remove(later));
    }

    void aScriptForPytorch() {
        const QString script = m_program.path("scripts/train.py");
        QVERIFY(QDir().mkpath(m_program.path("scripts")));
        const auto written = m_program.run({"export", "1", "--pytorch", script});
        QVERIFY2(written.status == 0, qPrintable(written.err));
        QFile file(script);
        QVERIFY(file.open(QIODevice::ReadOnly));
        const QString text = QString::fromUtf8(file.readAll());
        QVERIFY(
            text.startsWith("# mlp on image-folder, trained by PyTorch with the settings of Lockstep's trial 1.\n"));
        QVERIFY(text.contains("\nSIZE = (3, 16, 16)") && text.contains("\nCLASSES = [\"bright\", \"dark\"]\n"));
        QVERIFY(text.contains("\nDATA = \"" + m_program.path("photos") + "\"\n") && !text.contains("measure("));
        QCOMPARE(m_program.run({"export", "1", "--pytorch", "-"}).out, text);
        m_program.write("notes.txt", QByteArray("to be or not to be, that is the question. ").repeated(60));
        const QString spec = m_program.write("language.json", specOfALanguage());
        const auto ofSpec = m_program.run({"export", spec, "--pytorch", "-"});
        QVERIFY2(ofSpec.status == 0 && ofSpec.out.contains("\nTOKENS = 16"), qPrintable(ofSpec.err));
        const auto noModel =
            m_program.run({"export", m_program.write("bad.json", "{\"model\": {\"id\": \"none\"}}"), "--pytorch", "-"});
        QVERIFY2(noModel.status == 2 && noModel.err.contains("none") && noModel.out.isEmpty(), qPrintable(noModel.err));
    }

    // A link stays, and leads to the new file; what is no file stays what it is.
    void whatIsNoFileIsWrittenInto() {
        const QString link = m_program.path("link.csv"), real = m_program.write("real.csv", "old");
        QVERIFY(QFile::link("real.csv", link));
        QCOMPARE(m_program.run({"export", "1", "--csv", link}).status, 0);
        QVERIFY(QFileInfo(link).isSymLink());
        QFile file(real);
        QVERIFY(file.open(QIODevice::ReadOnly) && file.readLine().startsWith("step,seconds,loss"));
        const auto lines = [&](const QString& words) {
            const auto said = m_program.shell("\"$0\" " + words + " | head -c 20", {});
            return said.out;
        };
        QVERIFY(lines("export 1 --csv /dev/stdout").startsWith("step,seconds"));
        QVERIFY(lines("export 1 --json /dev/stdout").startsWith("{"));
        QVERIFY(lines("export 1 --pytorch /dev/stdout").startsWith("# mlp"));
        QVERIFY(lines("card 1 --markdown /dev/stdout").startsWith("# "));
        QVERIFY(lines("card 1 --html /dev/stdout").startsWith("<!DOCTYPE html>"));
        for (const char* words : {"export 1 --onnx -", "export 1 --onnx /dev/stdout"}) {
            const auto said = m_program.shell(QString("\"$0\" %1 | wc -c").arg(words), {});
            QVERIFY2(said.out.trimmed().toInt() > 1000, qPrintable(said.out + said.err));
        }
        QVERIFY(!QFile::exists("-"));
        QVERIFY(!QFile::exists("/dev/stdout-files"));
        const auto weights = m_program.shell(
            "mkfifo \"$1\"; wc -c < \"$1\" & \"$0\" export-weights 1 \"$1\" > /dev/null && wait && test -p \"$1\"",
            {m_program.path("pipe")});
        QVERIFY2(weights.status == 0 && weights.out.trimmed().toInt() > 1000, qPrintable(weights.out + weights.err));
    }

    // A model of a card, which is not there.
    void exportsNeedNoDevices() {
        const QString folder = m_program.trial(1)["run_directory"].toString() + "/checkpoints/";
        QFile from(folder + "best.safetensors");
        QVERIFY(from.open(QIODevice::ReadOnly));
        QByteArray bytes = from.readAll();
        // Of the spec in its header, two words as long as others; the checksum is then nobody's.
        for (const auto& [was, is] :
             {std::pair{"cpu:2x1", "cuda:00"}, std::pair{"fp32", "tf32"}, std::pair{"\"checksum\"", "\"another1\""}}) {
            QVERIFY2(bytes.contains(was), was);
            bytes.replace(was, is);
        }
        const QString elsewhere = m_program.write("card.safetensors", bytes);
        const auto onnx = m_program.run({"export", elsewhere, "--onnx", m_program.path("card.onnx")});
        QVERIFY2(onnx.status == 0, qPrintable(onnx.err));
        const auto asked = m_program.run({"evaluate", elsewhere, "--devices", "cpu:1", "--json"});
        QVERIFY2(asked.status == 0, qPrintable(asked.err));
        QCOMPARE(asked.last()["samples"].toInt(), 18);
    }

    void aScriptIsWholeOrNotThere() {
        QVERIFY(QDir().mkpath(m_program.path("small")));
        const QString script = m_program.path("small/train.py");
        const QString checkpoint = m_program.trial(1)["run_directory"].toString() + "/checkpoints/best.safetensors";
        const auto full = m_program.shell("trap '' XFSZ; ulimit -f 8; exec \"$0\" \"$@\"",
                                          {"export", checkpoint, "--pytorch", script});
        QVERIFY2(full.status == 1 && full.err.contains("train.py") && full.err.contains("→"), qPrintable(full.err));
        QVERIFY(QDir(m_program.path("small")).isEmpty());
        const QString none = m_program.write("none", "no folder");
        const auto nowhere = m_program.run({"export", "1", "--pytorch", none + "/train.py"});
        QVERIFY2(nowhere.status == 2 && nowhere.err.contains(none), qPrintable(nowhere.err));
        const auto closed = m_program.shell("\"$0\" \"$@\" > /dev/full", {"export", "1", "--pytorch", "-"});
        QVERIFY2(closed.status == 1 && closed.err.contains("No space left"), qPrintable(closed.err));
    }

    void foldersOfFilesAreMade() {
        const QString weights = m_program.path("made/weights/w.safetensors");
        QCOMPARE(m_program.run({"export-weights", "1", weights}).status, 0);
        QVERIFY(QFile::exists(weights));
        for (const char* option : {"--csv", "--json", "--onnx", "--pytorch"}) {
            const QString file = m_program.path(QString("made/%1/here/file").arg(option + 2));
            const auto said = m_program.run({"export", "1", option, file});
            QVERIFY2(said.status == 0 && QFile::exists(file), qPrintable(said.err));
        }
        QVERIFY(m_program.run({"export", "99", "--csv", m_program.path("unmade/file")}).status == 3);
        QVERIFY(!QFile::exists(m_program.path("unmade")));
    }

    // Nothing comes between the bytes of what is exported, no other output and no error.
    void anOutputIsOfOneThing() {
        for (const QStringList& two : {QStringList{"--csv", "-", "--json", "-"}, {"--json", "-", "--onnx", "-"}}) {
            const auto said = m_program.run(QStringList{"export", "1"} + two);
            QVERIFY2(said.status == 2 && said.out.isEmpty(), qPrintable(said.out.left(200)));
            QVERIFY2(said.err.contains(two[0]) && said.err.contains(two[2]), qPrintable(said.err));
        }
        const QString file = m_program.path("both");
        const auto same = m_program.run({"export", "1", "--csv", file, "--json", file});
        QVERIFY2(same.status == 2 && same.err.contains(file) && !QFile::exists(file), qPrintable(same.err));
        QVERIFY(QFile::link(file, m_program.path("link")));
        for (const QString& other : {m_program.path("./both"), m_program.path("link")}) {
            const auto spelt = m_program.run({"export", "1", "--csv", file, "--json", other});
            QVERIFY2(spelt.status == 2 && spelt.err.contains(other) && !QFile::exists(file), qPrintable(spelt.err));
        }
        const auto piped = m_program.run({"export", "1", "--csv", "-", "--json", "/dev/stdout"});
        QVERIFY2(piped.status == 2 && piped.out.isEmpty(), qPrintable(piped.out.left(200)));
        const auto halfway = m_program.run(
            {"export", "1", "--json", "-", "--onnx", m_program.write("none", "no folder") + "/model.onnx"});
        QVERIFY2(halfway.status == 2 && halfway.err.contains("cannot be made"), qPrintable(halfway.err));
        QCOMPARE(halfway.lines().size(), 1);
        QVERIFY(halfway.last().contains("series"));
        const auto missing = m_program.run({"export", "99", "--json", "-"});
        QVERIFY2(missing.status == 3 && missing.out.isEmpty() && missing.err.contains("99"), qPrintable(missing.out));
    }

    // What a trial is to do is known before it has done it.
    void aTrialWithoutACheckpointHasAScript() {
        const QString checkpoints = m_program.trial(1)["run_directory"].toString() + "/checkpoints";
        QVERIFY(QDir(checkpoints).exists() && QDir().rename(checkpoints, checkpoints + ".away"));
        const auto said = m_program.run({"export", "1", "--pytorch", "-"});
        QVERIFY(QDir().rename(checkpoints + ".away", checkpoints));
        QVERIFY2(said.status == 0, qPrintable(said.err));
        QVERIFY(said.out.contains("\nMEAN = (") && !said.out.contains("measure("));  // the history knows them
        QVERIFY(said.out.contains("\nSIZE = (3, 16, 16)") && !said.out.contains("export-weights 1"));
        const QString spec = m_program.write("again.json", m_program.run({"show", "1", "--spec"}).out.toUtf8());
        const auto ofSpec = m_program.run({"export", spec, "--pytorch", "-"});
        QVERIFY2(ofSpec.status == 0, qPrintable(ofSpec.err));
        QVERIFY(ofSpec.out.contains("\n# No checkpoint tells mean and deviation"));
        QVERIFY(ofSpec.out.contains("measure(train") && ofSpec.out.contains("\nSIZE = (3, 16, 16)"));
    }

    void whatIsMissingIsSaid() {
        const auto nobody = m_program.run({"evaluate", "99"});
        QVERIFY2(nobody.status == 3 && nobody.err.contains("99"), qPrintable(nobody.err));
        QVERIFY(m_program.run({"predict", "1"}).status == 2);
        QVERIFY(m_program.run({"predict", "1", "--top", "9", "x"}).status == 2);
        const auto noFile = m_program.run({"evaluate", m_program.path("absent.safetensors")});
        QVERIFY2(noFile.status == 2, qPrintable(noFile.err));
    }

    void whatWouldBeIgnoredIsRefused_data() {
        QTest::addColumn<QStringList>("words");
        QTest::addColumn<QString>("says");
        const QString image = m_program.path("photos/test/dark/0.jpg"), out = m_program.path("out");
        const auto row = [](const char* name, const QStringList& words, const char* says) {
            QTest::newRow(name) << words << QString(says);
        };
        row("a path beside lines", {"predict", "1", image, "--interactive"}, "excludes");
        row("a path beside a prompt", {"predict", "1", image, "--prompt", "x"}, "excludes");
        row("CSV of a text", {"predict", "1", "--prompt", "x", "--csv"}, "excludes");
        row("a seed below nothing", {"predict", "1", "--prompt", "x", "--seed", "-1"}, "below 0");
        row("a seed above all", {"predict", "1", "--prompt", "x", "--seed", "18446744073709551616"}, "too large");
        row("a trial by an option", {"predict", "--trial", "1", image}, "by its number alone");
        row("one trial and another", {"evaluate", "1", "--trial", "2"}, "by its number alone");
        row("a length of nothing", {"predict", "1", image, "--length", "3"}, "requires");
        row("curves of a checkpoint", {"export", "1", "--csv", out, "--best"}, "whole trial");
        row("settings of a checkpoint", {"export", "1", "--json", out, "--checkpoint", "2"}, "whole trial");
        row("a spec's checkpoint", {"export", m_program.write("any.json", "{}"), "--pytorch", out, "--last"},
            "chooses among the checkpoints");
        row("devices of an export", {"export", "1", "--csv", out, "--devices", "cpu:1"}, "--devices");
    }
    void whatWouldBeIgnoredIsRefused() {
        QFETCH(QStringList, words);
        QFETCH(QString, says);
        const auto said = m_program.run(words);
        QVERIFY2(said.status == 2 && said.err.contains(says), qPrintable(said.err));
        QVERIFY(!QFile::exists(m_program.path("out")));
    }

    void numbersBeyondAllTrialsAreUnknown() {
        for (const QStringList& words : {QStringList{"export", "99999999999999999999", "--csv", "x"},
                                         QStringList{"evaluate", "99999999999999999999"},
                                         QStringList{"export", "99999999999999999999", "--pytorch", "x"}}) {
            const auto said = m_program.run(words);
            QVERIFY2(said.status == 3 && said.err.contains("no trial 99999999999999999999"), qPrintable(said.err));
        }
    }

    // Its run folder was copied here under another number than its checkpoints say.
    void anEvaluationIsKeptWithTheTrialThatWasAsked() {
        const QString own = m_program.trial(1)["run_directory"].toString(), other = QFileInfo(own).path() + "/50";
        QCOMPARE(QProcess::execute("cp", {"-r", own, other}), 0);
        const auto imported = m_program.run({"import"});
        QVERIFY2(imported.status == 0, qPrintable(imported.err));
        const auto before = m_program.trial(1)["evaluations"].toArray().size();
        const auto found = m_program.run({"evaluate", "50", "--json"});
        QVERIFY2(found.status == 0, qPrintable(found.err));
        QCOMPARE(found.last()["trial"].toInt(), 50);
        QCOMPARE(m_program.trial(50)["evaluations"].toArray().size(), 1);
        QCOMPARE(m_program.trial(1)["evaluations"].toArray().size(), before);
    }

    void whatCannotBeKeptIsToldAllTheSame() {
        const auto ask = [&](const QString& sql) {
            return QProcess::execute("sqlite3", {m_program.home() + "/history.sqlite", sql});
        };
        QCOMPARE(ask("CREATE TRIGGER none BEFORE INSERT ON evaluation BEGIN SELECT RAISE(ABORT, 'no more'); END"), 0);
        const auto plain = m_program.run({"evaluate", "1"});
        const auto json = m_program.run({"evaluate", "1", "--json"});
        QCOMPARE(ask("DROP TRIGGER none"), 0);
        QVERIFY2(plain.status > 0 && plain.err.contains("no more"), qPrintable(plain.err));
        QVERIFY2(plain.out.contains("accuracy") && plain.out.contains("PRECISION"), qPrintable(plain.out));
        QVERIFY(json.status > 0);
        QCOMPARE(json.lines().front()["samples"].toInt(), 18);
        QCOMPARE(json.last()["problems"].toArray().at(0).toObject()["code"].toString(), QString("history.refused"));
        QCOMPARE(m_program.run({"evaluate", "1"}).status, 0);
    }

private:
    QByteArray specOfALanguage() const {
        return QStringLiteral(
                   "{'dataset': {'id': 'text', 'path': '%1', 'sequence': 16}, 'model': {'id': 'gpt', 'context': 32}}")
            .arg(m_program.path("notes.txt"))
            .replace('\'', '"')
            .toUtf8();
    }

    LockstepProgram m_program;
};

QTEST_GUILESS_MAIN(TestUse)
#include "tst_use.moc"
