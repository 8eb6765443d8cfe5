#include <QtTest>
#include <limits>

#include "engine/core/error.h"
#include "engine/core/param_schema.h"

using namespace lockstep;

namespace {
const ParamSchema kSchema{
    {"momentum", 0.9, 0.0, 1.0, {}, "", "how much of the last step is kept"},
    {"layers", std::int64_t{3}, 1.0, 9.0, {}, "", "hidden layers"},
    {"nesterov", false, {}, {}, {}, "", "look ahead"},
    {"mode", std::string("mean"), {}, {}, {"mean", "sum"}, "", "reduction"},
};

Problem only(const std::map<std::string, ParamValue>& given) {
    const auto result = ParamValues::from(kSchema, given, "optimizer");
    return result.ok() || result.problems().size() != 1 ? Problem{} : result.problems().front();
}
}  // namespace

class TestParamSchema : public QObject {
    Q_OBJECT
private slots:
    void absentValuesFallBack() {
        const auto values = ParamValues::from(kSchema, {{"layers", std::int64_t{5}}}, "m");
        QVERIFY(values.ok());
        QCOMPARE(values.value().integer("layers"), 5);
        QCOMPARE(values.value().number("momentum"), 0.9);
        QCOMPARE(values.value().flag("nesterov"), false);
        QCOMPARE(values.value().string("mode"), std::string("mean"));
    }
    void whatWasNeverSetIsNamed() {
        const auto nameOf = [](const auto& read) {
            try {
                read();
            } catch (const EngineError& error) {
                return error.where();
            }
            return std::string();
        };
        const ParamValues values(kSchema), none;
        QCOMPARE(nameOf([&] { (void)none.flag("nesterov"); }), std::string("nesterov"));
        QCOMPARE(nameOf([&] { (void)values.integer("layer"); }), std::string("layer"));
        QCOMPARE(nameOf([&] { (void)values.number("damping"); }), std::string("damping"));
        QCOMPARE(nameOf([&] { (void)none.string("mode"); }), std::string("mode"));
    }
    void aWholeNumberServesForANumber() {
        const auto values = ParamValues::from(kSchema, {{"momentum", std::int64_t{1}}}, "");
        QVERIFY(values.ok());
        QCOMPARE(values.value().number("momentum"), 1.0);
    }
    void problemsNameFieldValueAndRange() {
        QCOMPARE(only({{"momentum", 1.5}}), (Problem{"optimizer.momentum", "spec.out-of-range", {"1.5", "0", "1"}}));
        QCOMPARE(only({{"layers", 2.0}}).code, std::string("spec.wrong-type"));
        QCOMPARE(only({{"mode", std::string("max")}}),
                 (Problem{"optimizer.mode", "spec.not-a-choice", {"max", "mean, sum"}}));
        QCOMPARE(only({{"momentmu", 0.5}}).field, std::string("optimizer.momentmu"));
        QCOMPARE(only({{"momentum", std::numeric_limits<double>::quiet_NaN()}}).code, std::string("spec.out-of-range"));
    }
    void whatHasNoSettingsSaysSo() {
        const auto result = ParamValues::from({}, {{"width", std::int64_t{1}}}, "model");
        QVERIFY((result.problems().front() == Problem{"model.width", "spec.unknown-key", {"width", "none"}}));
    }

    void allProblemsAreReportedAtOnce() {
        const auto result = ParamValues::from(kSchema, {{"momentum", -1.0}, {"layers", std::int64_t{0}}}, "");
        QVERIFY(!result.ok());
        QCOMPARE(result.problems().size(), std::size_t{2});
    }
};

QTEST_APPLESS_MAIN(TestParamSchema)
#include "tst_param_schema.moc"
