#include <rapidcheck.h>

#include <QTemporaryDir>
#include <QtTest>
#include <cmath>
#include <fstream>

#include "engine/spec/trial_fields.h"

using namespace lockstep;

namespace {

std::string anyWord() { return *rc::gen::nonEmpty(rc::gen::container<std::string>(rc::gen::inRange<char>('a', 'z'))); }
std::string anyText() { return *rc::gen::container<std::string>(rc::gen::inRange<char>(1, 127)); }

ParamValue anyValue() {
    switch (*rc::gen::inRange(0, 4)) {
        case 0: return *rc::gen::arbitrary<bool>();
        case 1: return *rc::gen::arbitrary<std::int64_t>();
        case 2: return *rc::gen::suchThat(rc::gen::arbitrary<double>(), [](double x) { return std::isfinite(x); });
        default: return anyText();
    }
}

std::map<std::string, ParamValue> anyParams() {
    std::map<std::string, ParamValue> params;
    for (int i = *rc::gen::inRange(0, 4); i > 0; --i) params["p" + anyWord()] = anyValue();  // never "id", "path"
    return params;
}

TrialSpec anySpec() {
    TrialSpec spec;
    spec.dataset = {anyWord(), anyParams()};
    spec.dataPath = anyText();
    spec.model = {anyWord(), anyParams()};
    spec.optimizer = {anyWord(), anyParams()};
    spec.schedule = {anyWord(), anyParams()};
    spec.augmentation = anyParams();
    spec.seed = *rc::gen::arbitrary<std::uint64_t>();
    for (const TrialField& each : trialFields()) {
        if (auto* text = std::get_if<std::string TrialSpec::*>(&each.member)) spec.*(*text) = anyText();
        if (auto* number = std::get_if<double TrialSpec::*>(&each.member))
            spec.*(*number) =
                *rc::gen::suchThat(rc::gen::arbitrary<double>(), [](double x) { return std::isfinite(x); });
        if (auto* whole = std::get_if<std::int64_t TrialSpec::*>(&each.member))
            spec.*(*whole) = *rc::gen::arbitrary<std::int64_t>();
    }
    return spec;
}

QString problemsOf(const std::string& json) {
    const auto result = trialSpecFromJson(json, "");
    if (result.ok()) return "none";
    QStringList out;
    for (const auto& problem : result.problems()) {
        out << QString::fromStdString(problem.code + " at " + problem.field);
    }
    return out.join("; ");
}

}  // namespace

class TestTrialSpec : public QObject {
    Q_OBJECT
private slots:
    void roundTrip() {
        QVERIFY(rc::check("a spec's JSON reads back to the same spec", [] {
            const auto spec = anySpec();
            const auto back = trialSpecFromJson(toJson(spec), "x");
            RC_ASSERT(back.ok());
            RC_ASSERT(back.value() == spec);
        }));
    }

    void absentKeysKeepTheirDefaults() { QVERIFY(trialSpecFromJson("{}", "").value() == TrialSpec()); }

    void aNameIsShortForAChoice() {
        const auto spec =
            trialSpecFromJson(R"({"model": "lenet5", "optimizer": {"id": "adamw", "beta1": 0.8}})", "").value();
        QVERIFY(spec.model == (Choice{"lenet5", {}}));
        QVERIFY(spec.optimizer == (Choice{"adamw", {{"beta1", 0.8}}}));
    }

    void problemsNameTheirPath_data() {
        QTest::addColumn<QString>("json");
        QTest::addColumn<QString>("expected");
        const auto row = [](const char* json, const char* expected) { QTest::newRow(json) << json << expected; };
        row(R"({"epoch": 3})", "spec.unknown-key at epoch");
        row(R"({"epochs": "3"})", "spec.wrong-type at epochs");
        row(R"({"epochs": 3.0})", "spec.wrong-type at epochs");
        row(R"({"epochs": 9223372036854775808})", "spec.wrong-type at epochs");
        row(R"({"average_decay": "0.9"})", "spec.wrong-type at average_decay");
        row(R"({"learning_rate": null})", "spec.wrong-type at learning_rate");
        row(R"({"learning_rate": 1e999})", "spec.malformed at ");
        row(R"({"seed": -1})", "spec.out-of-range at seed");
        row(R"({"seed": 18446744073709551616})", "spec.wrong-type at seed");
        row(R"({"seed": "5"})", "spec.wrong-type at seed");
        row(R"({"unheard": {"of": 1}})", "spec.unknown-key at unheard");
        row(R"({"optimizer.momentum": 0.5})", "spec.unknown-key at optimizer.momentum");
        row(R"({"optimizer": {"momentum": [0.5]}})", "spec.wrong-type at optimizer.momentum");
        row(R"({"title": ["a"]})", "spec.wrong-type at title");
        row(R"({"model": 5})", "spec.wrong-type at model");
        row(R"({"model": {"id": 5}})", "spec.wrong-type at model.id");
        row(R"({"model": {"width": {"a": 1}}})", "spec.wrong-type at model.width");
        row(R"({"dataset": {"path": 7}})", "spec.wrong-type at dataset.path");
        row(R"({"augmentation": []})", "spec.wrong-type at augmentation");
        row(R"({"batch": 1, "batch": 2})", "spec.duplicate-key at batch");
        row(R"({"optimizer": {"id": "sgd", "momentum": 0.9, "momentum": 0.8}})",
            "spec.duplicate-key at optimizer.momentum");
        row(R"({"epoch": 3, "seed": "x"})", "spec.unknown-key at epoch; spec.wrong-type at seed");
        row("[]", "spec.wrong-type at ");
        row("7", "spec.wrong-type at ");
        row("", "spec.malformed at ");
        row("{} {}", "spec.malformed at ");
        row(R"({"a":[[[[[[[[[[1]]]]]]]]]]})", "spec.too-deep at ");
        row(("{\"a\": [" + QByteArray("1,").repeated(2000) + "1]}").constData(), "spec.too-many at ");
        row("{\"title\": \"\xff\"}", "spec.malformed at ");
        row(R"({"dataset": {"id": "idx"}, "model": {"id": "mlp"}})", "none");
    }
    void problemsNameTheirPath() {
        QFETCH(QString, json);
        QFETCH(QString, expected);
        const auto bytes =
            json.contains(QChar::ReplacementCharacter) ? std::string("{\"title\": \"\xff\"}") : json.toStdString();
        QCOMPARE(problemsOf(bytes), expected);
    }

    void aFileNameLeadsThePath() {
        const auto unknown = trialSpecFromJson(R"({"epoch": 3})", "a.json").problems().front();
        QCOMPARE(unknown.field, std::string("a.json: epoch"));
        const auto malformed = trialSpecFromJson("{\n  \"epochs\": 3,\n  oops\n}", "a.json").problems().front();
        QVERIFY(malformed == (Problem{"a.json", "spec.malformed", {"3", "3"}}));
    }

    void cutAnywhereIsAProblem() {
        const auto json = toJson(TrialSpec());
        const auto end = json.rfind('}');
        for (std::size_t bytes = 0; bytes <= end; ++bytes) {
            const auto result = trialSpecFromJson(json.substr(0, bytes), "cut");
            QVERIFY2(!result.ok(), std::to_string(bytes).c_str());
            QCOMPARE(result.problems().front().code, std::string("spec.malformed"));
        }
    }

    void anyByteMayBeDamaged() {
        const auto json = toJson(TrialSpec());
        for (std::size_t at = 0; at < json.size(); ++at) {
            for (const char byte : {'\0', '"', '{', '9', '\xff'}) {
                auto damaged = json;
                damaged[at] = byte;
                (void)trialSpecFromJson(damaged, "damaged");  // a spec or a problem; never an abort
            }
        }
    }

    void files() {
        QTemporaryDir folder;
        const std::filesystem::path file = folder.filePath("spec.json").toStdString();
        QCOMPARE(trialSpecFromFile(file).problems().front().code, std::string("spec.unreadable"));
        QCOMPARE(trialSpecFromFile(file.parent_path()).problems().front().code, std::string("spec.unreadable"));
        std::ofstream(file) << toJson(TrialSpec());
        QVERIFY(trialSpecFromFile(file).value() == TrialSpec());
        std::ofstream(file) << std::string(2 << 20, ' ');
        QCOMPARE(trialSpecFromFile(file).problems().front().code, std::string("spec.too-large"));
    }
};

QTEST_APPLESS_MAIN(TestTrialSpec)
#include "tst_trial_spec.moc"
