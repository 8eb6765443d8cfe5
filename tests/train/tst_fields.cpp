#include <QtTest>
#include <algorithm>
#include <cstring>

#include "engine/model/layers.h"
#include "engine/ops/elementwise.h"
#include "tests/train/train_fixture.h"

using namespace lockstep;

namespace {

constexpr int kClasses = 4;
const Field kImage{"image", {{1, 3, 3}, DType::U8}}, kLabel{"label", {{1}, DType::I32}},
    kHint{"hint", {{kClasses}, DType::F32}};

// All images are alike: only the field "hint" tells the class of a sample.
class Hinted final : public Dataset {
public:
    Hinted(std::int64_t count, std::vector<Field> fields) {
        m_info = {"hinted", count, std::move(fields), {"a", "b", "c", "d"}, {0.5f}, {0.25f}};
    }
    const DatasetInfo& info() const override { return m_info; }
    void read(std::int64_t index, std::span<const std::span<std::byte>> into) const override {
        const auto label = static_cast<std::int32_t>(index % kClasses);
        float hint[kClasses] = {};
        hint[label] = 20;
        for (std::size_t f = 0; f < into.size(); ++f) {
            const std::string& name = m_info.fields[f].name;
            if (name == "hint") std::memcpy(into[f].data(), hint, into[f].size());
            else if (name == "label") std::memcpy(into[f].data(), &label, into[f].size());
            else std::memset(into[f].data(), 100, into[f].size());
        }
    }

private:
    DatasetInfo m_info;
};

DatasetSplits splits(const std::vector<Field>& fields) {
    return {std::make_shared<Hinted>(21, fields), std::make_shared<Hinted>(10, fields)};
}

// Its logits are those of the image plus the hint.
ModelEntry hintedModel() {
    return {.name = "hinted",
            .meaning = "",
            .params = {},
            .build = [](GraphBuilder& b, ValueId image, ValueId, const ModelInput& input, const ParamValues&) {
                const ValueId hint = b.input("hint", {{input.batch, input.classes}, DType::F32});
                const ValueId seen = denseLayer(b, flatten(b, image, "flatten"), input.classes, "head");
                return add(b, seen, hint, "add");
            }};
}

// In the reproducible mode where `accumulation` is 0.
RunResult train(const std::string& model, const std::string& devices, const DatasetSplits& data, int accumulation = 1) {
    static const Environment environment = [] {
        Environment e = makeTestEnvironment();
        e.add(hintedModel());
        return e;
    }();
    TrialSpec spec = smallSpec(model, devices);
    spec.learningRate = 0.001;
    spec.accumulation = std::max(accumulation, 1);
    if (accumulation == 0) spec.mode = "reproducible";
    RunControl control;
    return runTrial(resolve(spec, environment).value(), data, {}, control, {});
}

}  // namespace

class TstFields : public QObject {
    Q_OBJECT

private slots:
    void aModelReadsAFieldByItsName_data() {
        QTest::addColumn<QString>("devices");
        QTest::addColumn<int>("accumulation");
        for (const char* devices : {"reference:1", "reference:2", "reference:3"})
            QTest::newRow(devices) << devices << 1;
        QTest::newRow("three passes") << "reference:2" << 3;
        QTest::newRow("logical shards") << "reference:2" << 0;
        if (hasCpuBackend()) QTest::newRow("cpu:2x1") << "cpu:2x1" << 2;
    }

    // The test split's last batch has two samples, one rank of three none.
    void aModelReadsAFieldByItsName() {
        QFETCH(QString, devices);
        QFETCH(int, accumulation);
        const RunResult result = train("hinted", devices.toStdString(), splits({kHint, kImage, kLabel}), accumulation);
        QVERIFY2(result.outcome == RunResult::Outcome::Finished, result.failed.what.c_str());
        QCOMPARE(result.finished.testAccuracy, 1.0);
        QVERIFY2(result.finished.testLoss < 1e-6, qPrintable(QString::number(result.finished.testLoss)));
    }

    void theNullBackendTakesIt() {
        QCOMPARE(train("hinted", "null:3", splits({kImage, kLabel, kHint})).outcome, RunResult::Outcome::Finished);
    }

    void aFieldThatNobodyReadsDoesNoHarm() {
        const RunResult result = train("mlp", "reference:2", splits({kHint, kImage, kLabel}));
        QVERIFY2(result.outcome == RunResult::Outcome::Finished, result.failed.what.c_str());
        QVERIFY(result.finished.testAccuracy < 0.5);
    }

    void whatTheModelNeedsAndTheDatasetLacksIsAProblem_data() {
        QTest::addColumn<QString>("model");
        QTest::addColumn<std::vector<Field>>("fields");
        QTest::addColumn<Problem>("expected");
        const Field bytes{"hint", {{kClasses}, DType::U8}}, two{"hint", {{2}, DType::F32}};
        QTest::newRow("no image") << "mlp" << std::vector{kHint, kLabel}
                                  << Problem{"dataset", "data.missing-field", {"image", "hint f32[4], label i32[1]"}};
        QTest::newRow("no label") << "mlp" << std::vector{kImage}
                                  << Problem{
                                         "dataset", "data.missing-field", {"label", "image f32[1x3x3], ids i64[1]"}};
        QTest::newRow("no hint") << "hinted" << std::vector{kImage, kLabel}
                                 << Problem{"dataset",
                                            "data.missing-field",
                                            {"hint", "image f32[1x3x3], label i32[1], ids i64[1]"}};
        const auto sentences = languageFields(9), texts = textFields(9);
        QTest::newRow("images for a language model")
            << "gpt" << std::vector{kImage, kLabel}
            << Problem{"dataset", "data.missing-field", {"tokens", "image u8[1x3x3], label i32[1]"}};
        QTest::newRow("sentences for an image model")
            << "mlp" << sentences
            << Problem{"dataset", "data.missing-field", {"image", "tokens i32[9], targets i32[9]"}};
        QTest::newRow("sentences to classify")
            << "text-encoder" << sentences
            << Problem{"dataset", "data.missing-field", {"label", "tokens i32[9], targets i32[9], ids i64[1]"}};
        QTest::newRow("texts for a language model")
            << "gpt" << texts
            << Problem{"dataset",
                       "data.missing-field",
                       {"targets", "tokens i32[9], length i32[1], label i32[1], ids i64[1]"}};
        QTest::newRow("sentences that are too long")
            << "gpt" << languageFields(10) << Problem{"tokens", "model.sequence-too-long", {"10", "gpt", "9"}};
        QTest::newRow("another type") << "hinted" << std::vector{kImage, kLabel, bytes}
                                      << Problem{"dataset", "data.field-type", {"hint", "u8[4]", "f32[8x4]", "8"}};
        QTest::newRow("another size") << "hinted" << std::vector{kImage, kLabel, two}
                                      << Problem{"dataset", "data.field-type", {"hint", "f32[2]", "f32[8x4]", "8"}};
    }

    void whatTheModelNeedsAndTheDatasetLacksIsAProblem() {
        QFETCH(QString, model);
        QFETCH(std::vector<Field>, fields);
        QFETCH(Problem, expected);
        const RunResult result = train(model.toStdString(), "reference:1", splits(fields));
        QCOMPARE(result.outcome, RunResult::Outcome::Failed);
        const auto problem = problemIn(result.failed);
        QVERIFY2(problem.has_value(), result.failed.what.c_str());
        QCOMPARE(problem->field, expected.field);
        QCOMPARE(problem->code, expected.code);
        QCOMPARE(problem->args, expected.args);
    }
};

QTEST_APPLESS_MAIN(TstFields)
#include "tst_fields.moc"
