#include <QtTest>

#include <set>

#include "engine/ops/dense.h"
#include "engine/ops/elementwise.h"
#include "engine/train/check_model.h"
#include "engine/train/made_batch.h"
#include "tests/train/train_fixture.h"

using namespace lockstep;

namespace {

// Sixteen small grey images; the reference device learns them by heart, too, so that this runs in every build.
ResolvedSpec specFor(const std::string& model) {
    TrialSpec spec = smallSpec(model, "reference:1");
    spec.batch = 16;
    spec.optimizer = {"adamw", {}};
    spec.learningRate = model == "gpt" ? 0.01 : 0.003;
    return resolved(spec);
}

// The same for a model of this file.
ResolvedSpec specFor(const ModelEntry& model) {
    ResolvedSpec spec = specFor("mlp");
    spec.model = &model;
    spec.modelParams = {};
    return spec;
}

ModelInput smallImages() {
    ModelInput input;
    input.batch = 16;
    input.height = input.width = 12;
    input.classes = 4;
    input.tokens = 6;
    return input;
}

// Its weights start at zero and stop at a ReLU that takes zero for below: no gradient comes through, though the loss
// has a slope.
ModelEntry deadModel() {
    const auto build = [](GraphBuilder& b, ValueId image, ValueId, const ModelInput& input, const ParamValues&) {
        const ValueId pixels = flatten(b, image, "flatten");
        const Shape shape{input.classes, b.typeOf(pixels).shape[1]};
        const ValueId w = b.parameter("head/weight", shape, {.kind = Initializer::Kind::Constant, .value = 0}, true);
        return relu(b, dense(b, pixels, w, std::nullopt, "head"), "relu");
    };
    return {.name = "dead", .meaning = "Never learns.", .params = {}, .build = build};
}

// A branch that is never above zero says nothing, but its bias makes a long vector of all weights, while the loss bends
// within small steps of the others.
ModelEntry modelWithIdleBranch() {
    const auto build = [](GraphBuilder& b, ValueId image, ValueId, const ModelInput& input, const ParamValues&) {
        const auto constant = [](double value) {
            return Initializer{.kind = Initializer::Kind::Constant, .value = value};
        };
        const ValueId pixels = flatten(b, image, "flatten");
        const Shape shape{input.classes, b.typeOf(pixels).shape[1]};
        const ValueId w = b.parameter("head/weight", shape, {.kind = Initializer::Kind::HeNormal}, true);
        const ValueId idleWeight = b.parameter("idle/weight", shape, constant(0), true);
        const ValueId idleBias = b.parameter("idle/bias", {input.classes}, constant(-1e9), false);
        const ValueId idle = relu(b, dense(b, pixels, idleWeight, idleBias, "idle"), "relu");
        return add(b, dense(b, pixels, w, std::nullopt, "head"), idle, "add");
    };
    return {.name = "idle", .meaning = "Has a branch that says nothing.", .params = {}, .build = build};
}

// Each bias lies a fifth of the first distance above the kink of a ReLU.
ModelEntry modelAtKinks() {
    const auto build = [](GraphBuilder& b, ValueId image, ValueId, const ModelInput& input, const ParamValues&) {
        const auto constant = [](double value) {
            return Initializer{.kind = Initializer::Kind::Constant, .value = value};
        };
        const ValueId pixels = flatten(b, image, "flatten");
        const Shape shape{input.classes, b.typeOf(pixels).shape[1]};
        const ValueId w = b.parameter("head/weight", shape, constant(0), true);
        const ValueId bias = b.parameter("head/bias", {input.classes}, constant(2e-8), false);
        return relu(b, dense(b, pixels, w, bias, "head"), "relu");
    };
    return {.name = "kinks", .meaning = "Lies at kinks.", .params = {}, .build = build};
}

}  // namespace

class TstCheckModel : public QObject {
    Q_OBJECT

private slots:
    void soundModelsPass_data() {
        QTest::addColumn<QString>("model");
        for (const char* model : {"mlp", "lenet5", "fashion-cnn", "gpt", "text-encoder"}) QTest::newRow(model) << model;
    }

    void soundModelsPass() {
        QFETCH(QString, model);
        const ResolvedSpec spec = specFor(model.toStdString());
        const ModelInput input = smallImages();
        std::size_t told = 0;
        const auto slopes = checkSlopes({spec, input, 0, [&](const SlopeCheck&) { ++told; }});
        QCOMPARE(told, slopes.size());
        QVERIFY(slopes.front().parameter.empty());
        std::set<std::string> names;
        for (const SlopeCheck& slope : slopes) {
            QVERIFY2(slope.holds, slope.parameter.c_str());
            names.insert(slope.parameter);
        }
        const DatasetInfo info = infoOf(spec.model->task, input, 16);
        const auto plan = planRun(spec, info, info);
        QCOMPARE(names.size(), plan.ranks.front().training->storage->parameters.size() + 1);
        const MemorisedBatch memorised = memorise({spec, input});
        QVERIFY(memorised.isMemorised() && memorised.updates < 200);
    }

    void aGradientThatIsNoSlopeIsFound() {
        const ModelEntry dead = deadModel();
        const ResolvedSpec spec = specFor(dead);
        const ModelInput input = smallImages();
        const auto slopes = checkSlopes({spec, input});
        QCOMPARE(slopes.size(), std::size_t{2});
        QVERIFY(!slopes[0].holds && !slopes[1].holds);
        QCOMPARE(slopes[1].parameter, std::string("head/weight"));
        const MemorisedBatch memorised = memorise({spec, input, 20});
        QVERIFY(!memorised.isMemorised());
        QCOMPARE(memorised.updates, std::int64_t{20});
    }

    void aKinkBetweenTheLossesIsNoWrongGradient() {
        const ModelEntry kinks = modelAtKinks();
        const ResolvedSpec spec = specFor(kinks);
        ModelInput input = smallImages();
        input.classes = 5;  // not as many samples of each: biases have a gradient
        for (const SlopeCheck& slope : checkSlopes({spec, input})) {
            if (slope.parameter != "head/bias") continue;
            QVERIFY2(slope.holds, qPrintable(QString("%1, %2").arg(slope.along).arg(slope.across)));
            return;
        }
        QFAIL("the bias was not looked at");
    }

    void aLossThatBendsSoonIsNoWrongGradient() {
        const ModelEntry idle = modelWithIdleBranch();
        const ResolvedSpec spec = specFor(idle);
        const ModelInput input = smallImages();
        const SlopeCheck all = checkSlopes({spec, input}).front();
        QVERIFY2(all.holds, qPrintable(QString("%1, %2").arg(all.along).arg(all.across)));
    }

    void timeEndsTheSearch() {
        const ResolvedSpec spec = specFor("lenet5");
        const ModelInput input = smallImages();
        QCOMPARE(checkSlopes({spec, input, 1e-9}).size(), std::size_t{1});
    }
};

QTEST_GUILESS_MAIN(TstCheckModel)
#include "tst_check_model.moc"
