#include <unistd.h>

#include <QtTest>
#include <cmath>
#include <set>

#include "engine/core/error.h"
#include "engine/train/asked_data.h"
#include "engine/train/evaluate.h"
#include "engine/train/predict.h"
#include "engine/train/text_writer.h"
#include "tests/train/train_fixture.h"

using namespace lockstep;

namespace {

Checkpoint trainedCheckpoint(TrialSpec spec, const DatasetSplits& data) {
    const QTemporaryDir folder;
    RunRequest request;
    request.spec = std::move(spec);
    request.data = data;
    request.options.checkpointFolder = folder.path().toStdString();
    run(std::move(request));
    return readCheckpoint((folder.path() + "/last.safetensors").toStdString()).value();
}

Checkpoint trainedOnPatterns(const std::string& model = "mlp", const std::string& device = "reference:1") {
    TrialSpec spec = smallSpec(model, device);
    spec.batch = 12;
    spec.epochs = 1;
    return trainedCheckpoint(spec, dataFor(model, 48, 8));
}

PredictResult predicted(const Checkpoint& checkpoint, const std::string& devices, std::int64_t samples,
                        std::int64_t batch) {
    const ResolvedSpec on = resolved(specToEvaluate(checkpoint.spec, devices));
    const auto data = dataFor(checkpoint.spec.model.id, samples, 1).train;
    return predict({on, checkpoint, *checkpoint.trainedOn, data, batch});
}

}  // namespace

class TstPredict : public QObject {
    Q_OBJECT

private slots:
    // A batch is the same samples in the same program, whoever takes it, also a rank that has the short one alone.
    void theAnswersDoNotDependOnTheDevices_data() {
        QTest::addColumn<QString>("model");
        QTest::addColumn<QString>("kind");
        QTest::newRow("reference") << "mlp"
                                   << "reference:%1";
        if (!hasCpuBackend()) return;
        for (const char* model : {"lenet5", "resnet18-cifar", "vit", "text-encoder"})
            QTest::newRow(model) << model << "cpu:%1x1";
    }
    void theAnswersDoNotDependOnTheDevices() {
        QFETCH(QString, model);
        QFETCH(QString, kind);
        const Checkpoint checkpoint = trainedOnPatterns(model.toStdString(), kind.arg(1).toStdString());
        for (const std::int64_t samples : {1, 5, 37}) {
            const auto one = predicted(checkpoint, kind.arg(1).toStdString(), samples, 4);
            QCOMPARE(one.answers.size(), static_cast<std::size_t>(samples));
            QVERIFY(std::ranges::all_of(one.answers, [](const auto& each) { return each.has_value(); }));
            QCOMPARE(one.batchSeconds.size(), static_cast<std::size_t>((samples + 3) / 4));
            for (const int devices : {2, 4})
                QVERIFY(predicted(checkpoint, kind.arg(devices).toStdString(), samples, 4).answers == one.answers);
        }
    }

    void theAnswersAreThoseOfTheEvaluation() {
        const Checkpoint checkpoint = trainedOnPatterns();
        const auto data = dataFor("mlp", 21, 1);
        const ResolvedSpec on = resolved(specToEvaluate(checkpoint.spec, "reference:2"));
        const auto asked = asAsked(data, AskedSplit::Train, *checkpoint.trainedOn).value();
        const auto evaluated = evaluate({on, checkpoint, *checkpoint.trainedOn, asked, true}).answers;
        const auto answers = predicted(checkpoint, "reference:1", 21, 5).answers;
        for (std::size_t i = 0; i < answers.size(); ++i) QVERIFY(answers[i]->classes == evaluated[i].answer.classes);
    }

    void progressComesToAll() {
        const Checkpoint checkpoint = trainedOnPatterns();
        const ResolvedSpec on = resolved(specToEvaluate(checkpoint.spec, "reference:3"));
        std::vector<std::int64_t> told;
        predict({on, checkpoint, *checkpoint.trainedOn, dataFor("mlp", 19, 1).train, 4,
                 [&](std::int64_t done) { told.push_back(done); }});
        QVERIFY(std::ranges::is_sorted(told));
        QCOMPARE(told.back(), std::int64_t{19});
    }

    void oneAfterTheOtherAsAllTogether() {
        const Checkpoint checkpoint = trainedOnPatterns();
        const auto together = predicted(checkpoint, "reference:1", 6, 1).answers;
        const ResolvedSpec on = resolved(specToEvaluate(checkpoint.spec, "reference:1"));
        Predictor predictor(on, checkpoint, *checkpoint.trainedOn);
        std::set<pid_t> readers;
        for (std::int64_t i = 5; i >= 0; --i) {
            const auto one = std::make_shared<Only>(dataFor("mlp", 6, 1).train, i);
            QVERIFY(predictor.answer(one) == together[static_cast<std::size_t>(i)]);
            readers.insert(one->reader);
        }
        QCOMPARE(readers.size(), std::size_t{1});  // all by one loader
        QVERIFY(!readers.contains(gettid()));
    }

    // Asked nothing, or of what cannot be read, it ends all the same.
    void whoIsAskedNothingDoesNotWait() {
        const Checkpoint checkpoint = trainedOnPatterns();
        const ResolvedSpec on = resolved(specToEvaluate(checkpoint.spec, "reference:1"));
        const Predictor unasked(on, checkpoint, *checkpoint.trainedOn);
        Predictor predictor(on, checkpoint, *checkpoint.trainedOn);
        const auto data = std::make_shared<PatternDataset>(1, ImageShape{1, 12, 12}, 4, 1);
        data->beforeRead = [](std::int64_t) { throw EngineError(EngineError::Kind::Io, "17.png", "cannot be read"); };
        QVERIFY_EXCEPTION_THROWN(predictor.answer(data), EngineError);
    }

    void aReaderThatFailsEndsAll() {
        const Checkpoint checkpoint = trainedOnPatterns();
        const ResolvedSpec on = resolved(specToEvaluate(checkpoint.spec, "reference:2"));
        const auto data = std::make_shared<PatternDataset>(30, ImageShape{1, 12, 12}, 4, 1);
        data->beforeRead = [](std::int64_t index) {
            if (index == 17) throw EngineError(EngineError::Kind::Io, "17.png", "cannot be read");
        };
        try {
            predict({on, checkpoint, *checkpoint.trainedOn, data, 4});
            QFAIL("it was answered");
        } catch (const EngineError& error) {
            QCOMPARE(QString::fromStdString(error.where()), QString("17.png"));
        }
    }

    void likeliestBytesAlone() {
        const std::vector<double> logits{1, 4, 2, 3};
        const auto two = byteShares(logits, 1, 2);
        QVERIFY(two[0] == 0 && two[2] == 0);
        QVERIFY(std::abs(two[1] - 1 / (1 + std::exp(-1))) < 1e-12);
        QCOMPARE(byteShares(logits, 1, 1)[1], 1.0);
        QVERIFY(byteShares(logits, 1, 4) == byteShares(logits, 1, 0));
    }

private:
    class Only final : public Dataset {
    public:
        Only(std::shared_ptr<const Dataset> all, std::int64_t index) : m_all(std::move(all)), m_index(index) {
            m_info = m_all->info();
            m_info.count = 1;
        }
        const DatasetInfo& info() const override { return m_info; }
        void read(std::int64_t, std::span<const std::span<std::byte>> into) const override {
            reader = gettid();
            m_all->read(m_index, into);
        }
        mutable pid_t reader = 0;

    private:
        std::shared_ptr<const Dataset> m_all;
        std::int64_t m_index;
        DatasetInfo m_info;
    };
};

QTEST_APPLESS_MAIN(TstPredict)
#include "tst_predict.moc"
