#include <QJsonArray>
#include <QJsonDocument>
#include <QtTest>

#include "tests/app/lockstep_program.h"

// The commands that answer at once.
class TestCommands : public QObject {
    Q_OBJECT
private slots:
    void helpTeaches() {
        const auto all = m_program.run({"--help"});
        QCOMPARE(all.status, 0);
        QVERIFY(all.out.contains("Exit status") && all.out.contains("lockstep train --preset fashion"));
        QVERIFY(!all.out.contains("probe-plugin"));
        for (const char* name :
             {"train",          "resume", "trials",  "show",   "attach", "pause",    "stop",      "delete",
              "devices",        "models", "bench",   "check",  "prove",  "datasets", "inspect",   "card",
              "export-weights", "report", "program", "doctor", "disk",   "serve",    "find-rate", "find-batch"}) {
            QVERIFY2(all.out.contains(QString("\n  %1 ").arg(name)), name);
            const auto one = m_program.run({name, "--help"});
            QVERIFY2(one.status == 0 && one.out.size() > 100, name);
        }
        QCOMPARE(m_program.run({"help"}).out, all.out);
        QCOMPARE(m_program.run({"help", "train"}).out, m_program.run({"train", "--help"}).out);
        QCOMPARE(m_program.run({"help", "trian"}).status, 2);
        QVERIFY(m_program.run({"--version"}).out.startsWith("lockstep "));
    }

    void devicesNamesWhatIsMissing() {
        const auto json = m_program.run({"devices", "--json"}).last();
        QStringList ids;
        for (const auto& each : json["devices"].toArray()) ids << each.toObject()["id"].toString();
        QVERIFY(ids.contains("cpu") && ids.contains("reference") && ids.contains("null"));
        const auto text = m_program.run({"devices"});
        QCOMPARE(text.status, 0);
        for (const auto& each : json["missing"].toArray()) {
            const auto problem = each.toObject()["problems"].toArray().at(0).toObject();
            QVERIFY(!problem["remedy"].toString().isEmpty());
            QVERIFY(text.out.contains(problem["what"].toString()));
        }
    }

    void whatLimitsInstructionsIsNamed() {
        const auto said = m_program.shell(R"(DNNL_MAX_CPU_ISA=AVX2 exec "$0" "$@")", {"devices"});
        const auto usual = m_program.run({"devices"});
        if (!usual.out.contains("bf16")) QSKIP("the CPU backend is not built");
        QVERIFY2(said.out.contains("(DNNL_MAX_CPU_ISA=AVX2 limits it)"), qPrintable(said.out));
        QVERIFY(!usual.out.contains("MAX_CPU_ISA"));
    }

    void datasetsAndModelsAreListed() {
        QStringList ids;
        const auto datasets = m_program.run({"datasets", "--json"}).last()["datasets"].toArray();
        for (const auto& each : datasets) ids << each.toObject()["id"].toString();
        for (const char* id : {"fashion-mnist", "idx", "cifar10", "cifar100", "image-folder", "text", "text-folder",
                               "text-csv", "synthetic"}) {
            QVERIFY2(ids.contains(id), id);
        }
        const auto models = m_program.run({"models"});
        for (const char* name : {"mlp", "lenet5", "resnet18-cifar", "fashion-cnn", "vgg19-bn", "mobilenet-v2"})
            QVERIFY2(models.out.contains(name), name);
    }

    // 784 x 256 + 256 + 256 x 256 + 256 + 256 x 10 + 10
    void aModelShowsItsLayers() {
        const auto json = m_program.run({"models", "mlp", "--json"}).last();
        QCOMPARE(json["parameters"].toInt(), 269322);
        int sum = 0;
        for (const auto& layer : json["layers"].toArray()) sum += layer.toObject()["parameters"].toInt();
        QCOMPARE(sum, 269322);
        const auto text = m_program.run({"models", "resnet18-cifar"});
        QVERIFY(text.out.contains("11 173 962"));
        const auto usual = m_program.run({"models", "resnet50"}),
                   given = m_program.run({"models", "resnet50", "--classes", "10"});
        QVERIFY(usual.out.contains("Input 3x224x224, 1000 classes, 25 557 032 parameters"));
        QVERIFY(given.out.contains("Input 3x224x224, 10 classes, 23 528 522 parameters"));
    }

    void programsArePrinted() {
        const QStringList arguments{"program", "--model", "mlp", "--devices", "reference:2", "--batch", "32"};
        const auto training = m_program.run(arguments);
        QCOMPARE(training.status, 0);
        QVERIFY(training.out.contains("all-reduce") || training.out.contains("AllReduce"));
        QCOMPARE(m_program.run(arguments).out, training.out);
        const auto evaluation = m_program.run(arguments + QStringList{"--evaluation"});
        QCOMPARE(evaluation.status, 0);
        QVERIFY(evaluation.out != training.out && !evaluation.out.isEmpty());
        const auto averaging = m_program.run(arguments + QStringList{"--average-decay", "0.99"});
        QVERIFY(averaging.out.contains("average_decay=0.99") && averaging.out.contains("average 0"));
        QVERIFY(!training.out.contains("average 0"));
        QCOMPARE(m_program.run(arguments + QStringList{"--average-decay", "1"}).status, 2);
    }

    void benchPrintsLossAndRate() {
        const auto outcome =
            m_program.run({"bench", "--model", "mlp", "--batch", "32", "--devices", "cpu:1", "--steps", "5", "--json"});
        QCOMPARE(outcome.status, 0);
        const auto json = outcome.last();
        QVERIFY(json["samples_per_second"].toDouble() > 0);
        QVERIFY(json["loss"].toDouble() > 0);
        QCOMPARE(json["steps"].toInt(), 5);
        QCOMPARE(json["device_count"].toInt(), 1);
        QVERIFY(json["remarks"].isArray() && json["remarks"].toArray().isEmpty());
        QVERIFY(json["peak_bytes"].toDouble() > 1e6);
        QVERIFY(json["device_bytes"].toDouble() > 1e4);

        // LeNet-5 on 28x28: 117,600 + 240,000 + 58,920 multiply-adds an image forward, three times that in training.
        const QStringList lenet{"bench", "--model", "lenet5", "--batch", "8", "--steps", "2", "--json"};
        const double forward = 2.0 * (117'600 + 240'000 + 58'920) * 8;
        QCOMPARE(m_program.run(lenet).last()["flops_per_step"].toDouble(), 3 * forward);
        const auto inference = m_program.run(lenet + QStringList{"--inference"});
        QCOMPARE(inference.status, 0);
        QCOMPARE(inference.last()["flops_per_step"].toDouble(), forward);
        // GPT: per token 12 w² of a block and 256 w of the tied head, and two products of all tokens with all in
        // attention.
        const auto gpt = m_program.run({"bench", "--model", "gpt", "--batch", "2", "--input", "8", "--steps", "1",
                                        "--warmup", "0", "--set", "model.layers=1", "model.width=16", "--json"});
        QVERIFY2(gpt.status == 0, qPrintable(gpt.err));
        QCOMPARE(gpt.last()["flops_per_step"].toDouble(),
                 3 * 2 * (2.0 * 8 * (12 * 256 + 256 * 16) + 2 * 2.0 * 8 * 8 * 16));
        const QStringList shortGpt{"model.layers=1", "model.width=16", "model.context=9"};
        for (const auto& words : {QStringList{"bench", "--steps", "1", "--json"}, QStringList{"program"}}) {
            const auto few = m_program.run(words + QStringList{"--model", "gpt", "--batch", "2", "--set"} + shortGpt);
            QVERIFY2(few.status == 0, qPrintable(few.err));
        }
        const auto tooLarge = m_program.run({"bench", "--model", "lenet5", "--batch", "10000000"});
        QCOMPARE(tooLarge.status, 2);
        QVERIFY2(tooLarge.err.contains("of memory free"), qPrintable(tooLarge.err));
        const auto tooLong = m_program.run({"bench", "--model", "gpt", "--input", "129"});
        QCOMPARE(tooLong.status, 2);
        QVERIFY2(tooLong.err.contains("129 tokens") && tooLong.err.contains("at most 128"), qPrintable(tooLong.err));
        QCOMPARE(m_program.run({"bench", "--model", "gpt", "--input", "1x8x8"}).status, 2);
        const QStringList uneven{"--devices", "cpu:2", "--set", "shares=100,1",
                                 "--inference"};  // one device has no image
        QCOMPARE(m_program.run(lenet + uneven).status, 0);
        QCOMPARE(inference.last()["loss"].toDouble(), inference.last()["first_loss"].toDouble());  // nothing is learnt
    }

    void findRateSuggestsOne() {
        const QStringList run{"find-rate", "--dataset", "synthetic", "--model", "mlp", "--devices", "cpu:2x1"};
        const auto text = m_program.run(run + QStringList{"--steps", "40"});
        QVERIFY2(text.status == 0, qPrintable(text.out + text.err));
        QVERIFY(text.out.contains("\nSuggested: --lr ") && text.out.contains("•"));
        const auto json = m_program.run(run + QStringList{"--steps", "40", "--json"}).last();
        const auto points = json["points"].toArray();
        QVERIFY(points.size() > 10 && points.size() <= 40);
        QCOMPARE(points[0].toObject()["learning_rate"].toDouble(), 1e-6);
        const double suggested = json["suggested_lr"].toDouble();
        QVERIFY(suggested > 1e-4 && suggested < json["lowest_at"].toDouble());

        // A line for each rate, as it is tested, says what the object has.
        const auto lines = m_program.run(run + QStringList{"--steps", "40", "--json", "--events"}).lines();
        QCOMPARE(lines.size(), lines.last()["points"].toArray().size() + 1);
        for (qsizetype i = 0; i + 1 < lines.size(); ++i) {
            const auto point = lines.last()["points"].toArray()[i].toObject();
            QCOMPARE(lines[i]["event"].toString(), QString("rate_tested"));
            QCOMPARE(lines[i]["update"].toInteger(), i + 1);
            QCOMPARE(lines[i]["updates"].toInt(), 40);
            for (const char* key : {"learning_rate", "loss", "smoothed_loss"}) QCOMPARE(lines[i][key], point[key]);
        }
        const auto& end = lines[lines.size() - 2];
        QCOMPARE(end["blew_up"].toBool(), !lines.last()["blew_up_at"].isNull());

        // What --lr says is four times smaller than what is tested, where a rule multiplies it.
        const auto scaled = m_program
                                .run(run + QStringList{"--steps", "40", "--json", "--set", "learning_rate_rule=linear",
                                                       "learning_rate_batch=32"})
                                .last();
        QCOMPARE(4 * scaled["suggested_lr"].toDouble(), scaled["steepest_at"].toDouble());

        const auto none = m_program.run(run + QStringList{"--from", "1e-8", "--to", "1e-7", "--json"});
        QCOMPARE(none.status, 1);
        QCOMPARE(none.last()["problems"][0]["code"].toString(), QString("rate.no-descent"));
        const auto spoilt = m_program.run(run + QStringList{"--from", "1e4", "--to", "1e5", "--json"});
        QCOMPARE(spoilt.status, 1);
        QCOMPARE(spoilt.last()["problems"][0]["code"].toString(), QString("rate.blew-up"));
        QCOMPARE(m_program.run(run + QStringList{"--from", "1", "--to", "0.1"}).status, 2);
    }

    void findBatchSaysWhatFitsAndWhatIsFast() {
        const QStringList run{"find-batch",  "--model", "mlp",       "--devices", "cpu:2x1",
                              "--doublings", "1",       "--seconds", "0"};
        const auto text = m_program.run(run);
        QVERIFY2(text.status == 0, qPrintable(text.out + text.err));
        QVERIFY(text.out.contains("The largest batch that fits is 5 000, 2 500 per device"));
        QVERIFY(text.out.contains("\nSuggested: --batch "));
        const auto json = m_program.run(run + QStringList{"--set", "shares=2,1", "--json"}).last();
        QCOMPARE(json["largest_batch"].toInt(), json["training_samples"].toInt());
        QCOMPARE(json["speeds"].toArray().size(), 2);
        QCOMPARE(json["speeds"][1]["batch"].toInt(), 32);
        QCOMPARE(json["speeds"][1]["per_device"].toArray(), (QJsonArray{21, 11}));
        QVERIFY(json["suggested_batch"].toInt() >= 16);
        QCOMPARE(m_program.run({"find-batch", "--model", "nix"}).status, 2);

        const auto lines =
            m_program.run(run + QStringList{"--json", "--events", "--lr", "0.5", "--epochs", "9"}).lines();
        QCOMPARE(lines.size(), 4);
        QCOMPARE(lines[0]["event"].toString(), QString("batches_planned"));
        QCOMPARE(lines[0]["largest_batch"], lines[3]["largest_batch"]);
        QCOMPARE(lines[0]["batches_at_most"].toInt(), 2);
        QVERIFY(lines[0]["all_samples_fit"].toBool());
        for (const int i : {0, 1}) {
            QCOMPARE(lines[i + 1]["event"].toString(), QString("batch_timed"));
            QCOMPARE(lines[i + 1]["samples_per_second"], lines[3]["speeds"][i]["samples_per_second"]);
        }
    }

    void proveSaysWhetherDevicesAreOne() {
        const QStringList run{"prove", "--devices", "cpu:2x1", "--batch", "16", "--updates", "2"};
        const auto prove = [&](const QStringList& more) { return m_program.run(run + more); };
        const auto equal = prove({"--model", "lenet5"});
        QVERIFY2(equal.status == 0, qPrintable(equal.out + equal.err));
        QVERIFY(equal.out.contains("\nEQUAL: 2 updates on 2 devices") && equal.out.contains("conv1/weight"));
        const auto json = prove({"--model", "lenet5", "--json"}).last();
        QVERIFY(json["equal"].toBool() && json["problems"].toArray().isEmpty());
        QCOMPARE(json["updates"].toArray().size(), 2);
        QCOMPARE(json["updates"][1]["gradients"].toArray().size(), 10);

        const auto local = prove({"--model", "fashion-cnn"});
        QCOMPARE(local.status, 1);
        QVERIFY(local.out.contains("\nNOT EQUAL: ") && local.out.contains("--set batch_norm=synchronised"));
        const auto broken = prove({"--model", "lenet5", "--break", "average-of-averages", "--json"});
        QCOMPARE(broken.status, 1);
        QCOMPARE(broken.last()["batch"].toInt(), 17);
        QCOMPARE(broken.last()["problems"][0]["code"].toString(), QString("prove.broken-average"));
        QVERIFY(broken.last()["worst"].toObject()["difference"].toDouble() > 1e-3);

        QCOMPARE(prove({"--model", "lenet5", "--devices", "cpu:1"}).status, 2);
        QCOMPARE(prove({"--model", "lenet5", "--break", "local-norm"}).status, 2);
        QCOMPARE(prove({"--model", "lenet5", "--break", "nothing"}).status, 2);
        QCOMPARE(prove({"--model", "lenet5", "--updates", "0"}).status, 2);
    }

    void automaticPrecisionSaysWhatItComesTo() {
        const QStringList automatic{"--model", "mlp", "--batch", "8", "--precision", "auto"};
        const auto said = m_program.run(QStringList{"program"} + automatic);
        QVERIFY2(said.status == 0 && said.err.contains("(precision=auto)"), qPrintable(said.out + said.err));
        const QString chosen = said.err.section(' ', 2, 2);  // "Computing in bf16 (precision=auto)…"
        QVERIFY2(said.out.contains("\nprecision    " + chosen + '\n'), qPrintable(said.err + said.out));
        const auto kept = m_program.run(QStringList{"bench", "--steps", "1", "--mode", "reproducible"} + automatic);
        QVERIFY2(kept.status == 0 && kept.out.contains("(precision=auto)"), qPrintable(kept.out + kept.err));
    }

    void checkSaysWhetherAModelIsSound() {
        const QStringList small{"--set", "model.width=16", "--input", "1x8x8"};
        const auto sound = m_program.run(QStringList{"check", "mlp"} + small);
        QVERIFY2(sound.status == 0, qPrintable(sound.out + sound.err));
        QVERIFY(sound.out.contains("\nRIGHT: ") && sound.out.contains("dense2/weight"));
        const auto half = m_program.run(QStringList{"check", "mlp"} + small + QStringList{"--set", "precision=bf16"});
        QVERIFY2(half.status == 0, qPrintable(half.out + half.err));
        const auto text =
            m_program.run({"check", "text-encoder", "--input", "6", "--set", "model.layers=1", "model.width=16"});
        QVERIFY2(text.status == 0 && text.out.contains("embedding/weight"), qPrintable(text.out + text.err));
        const auto cut = m_program.run(QStringList{"check", "mlp", "--updates", "1", "--json"} + small);
        QCOMPARE(cut.status, 1);
        QVERIFY(!cut.last()["passes"].toBool());
        QCOMPARE(cut.last()["gradients"].toArray().size(), 7);
        QCOMPARE(cut.last()["problems"][0]["code"].toString(), QString("check.not-memorised"));
        QCOMPARE(m_program.run({"check", "nothing"}).status, 2);
        QCOMPARE(m_program.run({"check"}).status, 2);
    }

    void inspectReportsCounts() {
        const auto path = QStringLiteral("/usr/share/datasets/fashion-mnist");
        if (!QFileInfo::exists(path)) QSKIP("dataset-fashion-mnist is not installed");
        const auto json = m_program.run({"inspect", path, "--json"}).last();
        QCOMPARE(json["classes"].toArray().size(), 10);
        QCOMPARE(json["fields"].toArray().size(), 2);
        QCOMPARE(json["fields"][0]["name"].toString(), QString("image"));
        QCOMPARE(json["fields"][0]["shape"].toArray(), (QJsonArray{1, 28, 28}));
        for (const auto& count : json["train_per_class"].toArray()) QCOMPARE(count.toInt(), 6000);
        for (const auto& count : json["test_per_class"].toArray()) QCOMPARE(count.toInt(), 1000);
        QVERIFY(m_program.run({"inspect", path})
                    .out.contains("60 000 training and 10 000 test samples of image u8[1x28x28], label i32[1]"));
    }

    void inspectReportsTexts() {
        const auto text = m_program.write("text.txt", QByteArray("to be or not to be, ").repeated(100));
        const auto said = m_program.run({"inspect", text});
        QVERIFY2(said.out.contains("text, 15 training and 1 test sample of tokens i32[128], targets i32[128]"),
                 qPrintable(said.out));
        QVERIFY(!said.out.contains("CLASS"));
        QCOMPARE(m_program.run({"inspect", text, "--json"}).last()["train_count"].toInt(), 15);
        const auto table =
            m_program.write("table.csv", "text,label\n" + QByteArray("well,good\nill,bad\n").repeated(20));
        const auto json = m_program.run({"inspect", table, "--json"}).last();
        QCOMPARE(json["format"].toString(), QString("text-csv"));
        QCOMPARE(json["classes"].toArray(), (QJsonArray{"bad", "good"}));
    }

    void aPrintedSpecIsASpec() {
        const auto printed = m_program.run({"train", "--preset", "fashion", "--lr", "0.25", "--set",
                                            "optimizer.momentum=0.5", "model.dropout=0.1", "--print-spec"});
        QCOMPARE(printed.status, 0);
        const auto json = QJsonDocument::fromJson(printed.out.toUtf8()).object();
        QCOMPARE(json["learning_rate"].toDouble(), 0.25);
        QCOMPARE(json["optimizer"].toObject()["momentum"].toDouble(), 0.5);
        QCOMPARE(json["optimizer"].toObject()["nesterov"].toBool(), true);
        QCOMPARE(json["dataset"].toObject()["id"].toString(), QString("fashion-mnist"));
        const auto file = m_program.write("printed.json", printed.out.toUtf8());
        QCOMPARE(m_program.run({"train", "--spec", file, "--print-spec"}).out, printed.out);
        const auto other = m_program.run({"train", "--spec", file, "--optimizer", "adamw", "--print-spec"});
        QVERIFY(!QJsonDocument::fromJson(other.out.toUtf8()).object()["optimizer"].toObject().contains("momentum"));
    }

    void noSpecIsPrintedThatCannotBeTrained() {
        for (const QStringList& wrong : {QStringList{"--frozen", "nothing"}, QStringList{"--batch", "100000000"},
                                         QStringList{"--devices", "cpu:2", "--batch", "1"}}) {
            const QStringList words = QStringList{"train", "--dataset", "synthetic", "--model", "mlp"} + wrong;
            const auto printed = m_program.run(words + QStringList{"--print-spec"});
            QVERIFY2(printed.status == 2 && printed.out.isEmpty(), qPrintable(printed.out));
            QCOMPARE(printed.err, m_program.run(words).err);
        }
    }

    void wholeNumbersMayBeWrittenShort() {
        const auto printed = m_program.run({"train", "--preset", "fashion", "--epochs", "1e3", "--seed",
                                            "18446744073709551615", "--set", "bucket_bytes=1e6", "--print-spec"});
        QVERIFY2(printed.out.contains("\"epochs\": 1000,") && printed.out.contains("\"bucket_bytes\": 1000000,") &&
                     printed.out.contains("\"seed\": 18446744073709551615,"),
                 qPrintable(printed.out + printed.err));
    }

    void doctorIsContentHere() {
        const auto outcome = m_program.run({"doctor"});
        QVERIFY2(outcome.status == 0, qPrintable(outcome.out + outcome.err));
        QVERIFY(outcome.out.contains("home: ") && outcome.out.contains("history: ") && outcome.out.contains("cores: "));
        QCOMPARE(m_program.run({"doctor", "--json"}).last()["sound"].toBool(), true);
    }

    void doctorSeesAHomeThatIsNone() {
        LockstepProgram other;
        other.setHome(other.write("file", "x") + "/home");
        const auto outcome = other.run({"doctor"});
        QCOMPARE(outcome.status, 1);
        QVERIFY(outcome.out.contains("bad"));
    }

    void anEmptyHistorySaysWhatToDo() {
        LockstepProgram fresh;
        const auto outcome = fresh.run({"trials"});
        QCOMPARE(outcome.status, 0);
        QVERIFY(outcome.out.contains("lockstep train"));
    }

private:
    LockstepProgram m_program;
};

QTEST_APPLESS_MAIN(TestCommands)
#include "tst_commands.moc"
