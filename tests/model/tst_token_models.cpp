#include <QtTest>

#include <algorithm>
#include <map>

#include "engine/model/registry.h"

using namespace lockstep;

// Models that read tokens: their sizes, what their graphs read, and what they refuse.
namespace {

using Given = std::map<std::string, ParamValue>;

const ModelInput kShort{.batch = 2, .classes = 10, .tokens = 16};

const ModelEntry& model(const char* name) { return *findModel(builtinModels(), name); }

Result<Graph> tryBuild(const ModelEntry& entry, const ModelInput& input, bool training, const Given& given = {}) {
    return buildForward(entry, ParamValues::from(entry.params, given, "model").value(), input, training);
}

Graph build(const char* name, const ModelInput& input, bool training = true, const Given& given = {}) {
    return tryBuild(model(name), input, training, given).value();
}

}  // namespace

class TestTokenModels : public QObject {
    Q_OBJECT
private slots:
    void tokenModelsHaveTheirFormulasCounts();
    void sequencesLongerThanTheContextAreRefused();
    void paddingIsReadFromTheLengths();
    void aTiedHeadIsTheEmbedding();
};

// Tables; per block qkv, out and two dense layers with their biases (12 w² + 9 w) and two norms; the last norm; the
// head.
void TestTokenModels::tokenModelsHaveTheirFormulasCounts() {
    const auto trunk = [](qint64 layers, qint64 width, qint64 context) {
        return (256 + context) * width + layers * (12 * width * width + 13 * width) + 2 * width;
    };
    const auto count = [](const char* name, const Given& given) {
        return parameterCount(build(name, model(name).usual, true, given));
    };
    QCOMPARE(count("gpt", {}), trunk(6, 256, 128));
    QCOMPARE(count("gpt", {{"tied", false}}), qint64{4'902'912});  // of ../shared/peers/models.py
    QCOMPARE(count("gpt", {{"layers", std::int64_t{2}}, {"width", std::int64_t{48}}, {"context", std::int64_t{130}}}),
             trunk(2, 48, 130));
    QCOMPARE(count("text-encoder", {}), trunk(4, 256, 512) + 256 * 4 + 4);
}

void TestTokenModels::sequencesLongerThanTheContextAreRefused() {
    for (const char* name : {"gpt", "text-encoder"}) {
        const Given given{{"context", std::int64_t{20}}};
        ModelInput input = model(name).usual;
        input.tokens = 20;
        QVERIFY(tryBuild(model(name), input, true, given).ok());
        input.tokens = 21;
        const auto result = tryBuild(model(name), input, true, given);
        QVERIFY(!result.ok());
        QVERIFY((result.problems().front() == Problem{"tokens", "model.sequence-too-long", {"21", name, "20"}}));
        input.tokens = 0;
        QVERIFY((tryBuild(model(name), input, true).problems().front() ==
                 Problem{"tokens", "model.bad-input", {"0", "1"}}));
        const auto odd = tryBuild(model(name), kShort, true, {{"heads", std::int64_t{3}}});
        QVERIFY((odd.problems().front() ==
                 Problem{name, "graph.bad-attribute", {name, "heads", "3", "a divisor of the width, 256"}}));
    }
}

void TestTokenModels::paddingIsReadFromTheLengths() {
    const Graph graph = build("text-encoder", kShort);
    const auto length = graph.find("length");
    QVERIFY(length);
    QCOMPARE(graph.typeOf(*length).text(), std::string("i32[2]"));
    int readers = 0;
    for (const Node& node : graph.nodes()) readers += static_cast<int>(std::ranges::count(node.inputs, *length));
    QCOMPARE(readers, 4 + 1);  // attention of each block, and the mean
}

void TestTokenModels::aTiedHeadIsTheEmbedding() {
    const Graph tied = build("gpt", kShort), apart = build("gpt", kShort, true, {{"tied", false}});
    QVERIFY(!tied.find("head/weight"));
    QVERIFY(tied.value(*tied.find("embedding/weight")).decays);
    QCOMPARE(apart.typeOf(*apart.find("head/weight")).text(), std::string("f32[10x256]"));
    QVERIFY(!apart.find("head/bias"));
    QVERIFY(!apart.value(*apart.find("embedding/weight")).decays);
    QVERIFY(apart.value(*apart.find("head/weight")).decays);
}

QTEST_APPLESS_MAIN(TestTokenModels)
#include "tst_token_models.moc"
