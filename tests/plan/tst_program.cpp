#include <QtTest>

#include <cstdlib>
#include <fstream>
#include <sstream>

#include "engine/backend/null/null_backend.h"
#include "engine/core/error.h"
#include "engine/model/registry.h"
#include "tests/plan/sample_programs.h"

using namespace lockstep;

namespace {

const std::string kFolder = std::string(LOCKSTEP_SOURCE_DIR) + "/tests/plan/golden/";

std::string contents(const std::string& file) {
    std::ostringstream text;
    text << std::ifstream(file).rdbuf();
    return text.str();
}

std::string firstDifference(const std::string& expected, const std::string& actual) {
    std::istringstream a(expected), b(actual);
    std::string left, right;
    for (int line = 1; std::getline(a, left), std::getline(b, right), a || b; ++line) {
        if (left != right) return "line " + std::to_string(line) + "\n  expected: " + left + "\n  actual:   " + right;
        left.clear();
        right.clear();
    }
    return {};
}

// After an intended change: LOCKSTEP_UPDATE_GOLDEN=1 build/tests/tst_program, then read the diff.
void compareWithGolden(const std::string& name, const std::string& actual) {
    const std::string file = kFolder + name + ".txt";
    if (std::getenv("LOCKSTEP_UPDATE_GOLDEN")) std::ofstream(file) << actual;
    const std::string difference = firstDifference(contents(file), actual);
    QVERIFY2(difference.empty(), (file + ": " + difference).c_str());
}

CompileOptions options() {
    CompileOptions options;
    options.threads = 2;
    options.bucketBytes = 4096;
    return options;
}

Graph smallMlp(bool training) {
    const ModelEntry& entry = *findModel(builtinModels(), "mlp");
    const std::map<std::string, ParamValue> small{{"width", std::int64_t{16}}, {"depth", std::int64_t{1}}};
    const auto params = ParamValues::from(entry.params, small, "model");
    const ModelInput input{4, sample::kChannels, sample::kExtent, sample::kExtent, sample::kClasses};
    return buildForward(entry, params.value(), input, training).value();
}

// conv, batch norm, relu, max pool, dropout, conv, and the head
Graph smallConv(bool training) { return sample::fromCodes({0, 1, 2, 4, 3, 0}, 4, training); }

Program trainingOf(const Graph& forward) {
    return compileTraining({&forward}, *makeNullBackend(), {}, sample::batchLayout(4), options());
}

Program evaluationOf(const Graph& forward, const Program& nominal) {
    CompileOptions shared = options();
    shared.storage = nominal.storage;
    return compileEvaluation({&forward}, *makeNullBackend(), sample::batchLayout(4), shared);
}

}  // namespace

class TestProgram : public QObject {
    Q_OBJECT
private slots:
    void mlpTraining() { compareWithGolden("mlp_training", dump(trainingOf(smallMlp(true)))); }

    void mlpEvaluation() {
        compareWithGolden("mlp_evaluation", dump(evaluationOf(smallMlp(false), trainingOf(smallMlp(true)))));
    }

    void convTraining() { compareWithGolden("conv_training", dump(trainingOf(smallConv(true)))); }

    void convEvaluation() {
        compareWithGolden("conv_evaluation", dump(evaluationOf(smallConv(false), trainingOf(smallConv(true)))));
    }

    void convWithoutSamples() {
        compareWithGolden("conv_empty", dump(compileEmptyTraining(trainingOf(smallConv(true)))));
    }

    void passesAreShown() {
        const Graph two = smallConv(true), one = sample::fromCodes({0, 1, 2, 4, 3, 0}, 3, true);
        compareWithGolden("conv_passes", dump(compileTraining({&two, &one, nullptr}, *makeNullBackend(), {},
                                                              sample::batchLayout(7), options())));
    }

    void synchronisedNormsAreShown() {
        const std::vector<int> codes{0, 1, 2, 4, 0, 1};
        const Graph two = sample::fromCodes(codes, 2, true, true);
        const Program program =
            compileTraining({&two, nullptr}, *makeNullBackend(), {}, sample::batchLayout(2), options());
        compareWithGolden("synchronised_training", dump(program));
        compareWithGolden("synchronised_empty", dump(compileEmptyTraining(program)));
    }

    void layoutsAndCopiesAreShown() {
        const Program program = sample::training(smallMlp(true), options(), {.hostMemory = false, .padsWeights = true});
        compareWithGolden("mlp_padded", dump(program));
    }

    void averagesAreShown() {
        const Graph forward = smallConv(true);
        const Program program =
            compileTraining({&forward}, *makeNullBackend(), sample::averaging(), sample::batchLayout(4), options());
        compareWithGolden("averages_training", dump(program));
        compareWithGolden("averages_evaluation", dump(evaluationOf(smallConv(false), program)));
    }

    void mastersAreShown() {
        const sample::Traits halves{.compute = DType::BF16};
        CompileOptions shared = options();
        shared.precision = Precision::Bf16;
        const Program program = sample::training(smallConv(true), shared, halves, sample::averaging());
        compareWithGolden("masters_training", dump(program));
        shared.storage = program.storage;
        compareWithGolden("masters_evaluation", dump(sample::evaluation(smallConv(false), shared, halves)));
    }

    void theTextIsStable() { QCOMPARE(dump(trainingOf(smallConv(true))), dump(trainingOf(smallConv(true)))); }

    void entriesAreFoundByName() {
        const Program program = trainingOf(smallConv(true));
        QCOMPARE(program.storage->find("layer1/running_var")->name, std::string("layer1/running_var"));
        QVERIFY(!program.storage->find("layer9/weight"));
    }

    void signaturesTellStorageApart() {
        const Program one = trainingOf(smallConv(true)), same = trainingOf(smallConv(true));
        const Program other = trainingOf(smallMlp(true));
        QCOMPARE(one.storage->signature(), same.storage->signature());
        QVERIFY(one.storage->signature() != other.storage->signature());
        const Program averaged = sample::training(smallConv(true), options(), {}, sample::averaging());
        QVERIFY(averaged.storage->signature() != one.storage->signature());
        QVERIFY(averaged.storage->signature().starts_with("storage f32 states 1 averages\n"));
        const sample::Traits halves{.compute = DType::BF16};
        const Program half = sample::training(smallConv(true), options(), halves, sample::averaging());
        QVERIFY(half.storage->signature().starts_with("storage bf16 states 1 masters f32 averages\n"));
    }
};

QTEST_APPLESS_MAIN(TestProgram)
#include "tst_program.moc"
