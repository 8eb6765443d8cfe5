#include <QtTest>

#include <atomic>
#include <chrono>
#include <cmath>
#include <limits>
#include <thread>

#include "engine/collective/host_group.h"
#include "engine/core/random.h"
#include "engine/train/text_writer.h"
#include "tests/train/train_fixture.h"

using namespace lockstep;

namespace {

constexpr std::int64_t kTokens = 16;
constexpr double kInfinity = std::numeric_limits<double>::infinity();

// A text in windows side by side, as datasets/text.cpp has them.
class ByteText final : public Dataset {
public:
    explicit ByteText(std::string text, std::int64_t tokens = kTokens) : m_text(std::move(text)) {
        m_info.id = "bytes";
        m_info.fields = languageFields(tokens);
        m_info.count = (static_cast<std::int64_t>(m_text.size()) - 1 + tokens - 1) / tokens;
        for (int byte = 0; byte < kByteTokens; ++byte) m_info.classes.push_back(std::to_string(byte));
    }
    const DatasetInfo& info() const override { return m_info; }
    void read(std::int64_t index, std::span<const std::span<std::byte>> into) const override {
        const std::size_t count = into[0].size() / sizeof(std::int32_t);
        for (std::size_t i = 0, at = static_cast<std::size_t>(index) * count; i < count; ++i, ++at) {
            const auto byte = [&](std::size_t j) { return std::int32_t{static_cast<unsigned char>(m_text[j])}; };
            reinterpret_cast<std::int32_t*>(into[0].data())[i] = at < m_text.size() ? byte(at) : 0;
            reinterpret_cast<std::int32_t*>(into[1].data())[i] = at + 1 < m_text.size() ? byte(at + 1) : -1;
        }
    }

private:
    std::string m_text;
    DatasetInfo m_info;
};

std::string sentences(int count) {
    std::string text;
    for (int i = 0; i < count; ++i) text += "the quick brown fox jumps over the lazy dog. ";
    return text;
}

DatasetSplits texts() { return {std::make_shared<ByteText>(sentences(10)), std::make_shared<ByteText>(sentences(2))}; }

TrialSpec writingSpec(const std::string& devices) {
    TrialSpec spec = smallSpec("gpt", devices);
    spec.model.params["context"] = kTokens + 2;
    spec.optimizer.id = "adamw";
    spec.learningRate = 0.01;
    spec.sampleLength = 24;
    spec.sampleTemperature = 1;
    return spec;
}

std::vector<TextSample> written(const TrialSpec& spec, RunOptions options = {}) {
    Run done = run({.spec = spec, .data = texts(), .options = std::move(options), .onEvent = {}});
    if (done.result.outcome != RunResult::Outcome::Finished) qFatal("%s", done.result.failed.what.c_str());
    return done.recorder.all<TextSample>();
}

// A writer with the weights that a run begins with.
class FirstWriter {
public:
    explicit FirstWriter(const std::string& devices) : m_spec(resolved(writingSpec(devices))) {
        m_plan = planRun(m_spec, texts().train->info(), texts().test->info());
        const auto& program = m_plan.ranks.front().writing;
        m_device = m_spec.backend->open(m_spec.devices.front());
        m_group = makeHostGroup(1);
        m_replica = std::make_unique<Replica>(*m_device, *m_group[0], std::vector{program}, nullptr);
        m_replica->initialize(1);
        m_writer.emplace(*m_replica, 0, *program, m_plan.window);
    }
    TextWriter& operator*() { return *m_writer; }

private:
    ResolvedSpec m_spec;
    RunPlan m_plan;
    std::unique_ptr<Device> m_device;
    std::vector<std::unique_ptr<Collective>> m_group;
    std::unique_ptr<Replica> m_replica;
    std::optional<TextWriter> m_writer;
};

double largestDifference(const std::vector<double>& a, const std::vector<double>& b) {
    double largest = a.size() == b.size() ? 0 : kInfinity;
    for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i) largest = std::max(largest, std::abs(a[i] - b[i]));
    return largest;
}

}  // namespace

class TstTextWriter : public QObject {
    Q_OBJECT

private slots:
    void sharesAreTheSoftmax() {
        const CounterRng rng(3, streamOf("logits"), 0, 0);
        std::vector<double> logits;
        for (std::uint32_t i = 0; i < kByteTokens; ++i) logits.push_back(500 + 5 * rng.normal(i));
        for (const double temperature : {0.3, 1.0, 7.0}) {
            long double sum = 0;
            for (const double logit : logits) sum += std::exp((static_cast<long double>(logit) - 500) / temperature);
            const std::vector<double> shares = byteShares(logits, temperature);
            for (std::size_t i = 0; i < logits.size(); ++i) {
                const long double exact = std::exp((static_cast<long double>(logits[i]) - 500) / temperature) / sum;
                QVERIFY(std::abs(shares[i] - static_cast<double>(exact)) < 1e-13);
            }
        }
    }

    void withoutTemperatureItIsTheFirstOfTheLargest() {
        QCOMPARE(byteShares(std::vector<double>{1, 4, -kInfinity, 4}, 0), (std::vector<double>{0, 1, 0, 0}));
    }

    void whatIsNoNumberHasNoShares() {
        QVERIFY(byteShares(std::vector<double>{1, std::nan(""), 2}, 1).empty());
        QVERIFY(byteShares(std::vector<double>{1, kInfinity}, 1).empty());
        QVERIFY(byteShares(std::vector<double>{-kInfinity, -kInfinity}, 0).empty());
    }

    void bytesAreDrawnByTheirShares() {
        const std::vector<double> shares{0, 0.25, 0, 0.75, 0};
        QCOMPARE(byteAt(shares, 0), std::size_t{1});
        QCOMPARE(byteAt(shares, 0.2499), std::size_t{1});
        QCOMPARE(byteAt(shares, 0.25), std::size_t{3});
        QCOMPARE(byteAt(shares, 1), std::size_t{3});  // as rounding may leave it
    }

    void thePromptIsTheBeginningOfTheTest_data() {
        QTest::addColumn<QByteArray>("text");
        QTest::addColumn<QByteArray>("prompt");
        QTest::newRow("all that is known") << QByteArray("abcdefgh") << QByteArray("abcdefg");
        QTest::newRow("32 bytes") << QByteArray(60, 'x') << QByteArray(32, 'x');
        QTest::newRow("whole characters") << QByteArray(31, 'x') + "é and more" << QByteArray(31, 'x');
        QTest::newRow("not even one") << QByteArray("é") << QByteArray("\xc3");
        QTest::newRow("nothing") << QByteArray("a") << QByteArray("\n");
    }
    void thePromptIsTheBeginningOfTheTest() {
        QFETCH(QByteArray, text);
        QFETCH(QByteArray, prompt);
        QCOMPARE(QByteArray::fromStdString(usualPrompt(ByteText(text.toStdString(), 40))), prompt);
    }

    // What the CPU's kernels say of the next byte is what the plain loops say.
    void backendsAgree() {
        if (!hasCpuBackend()) QSKIP("this build has no CPU backend");
        FirstWriter cpu("cpu:1x1"), reference("reference:1");
        for (const char* text : {"t", "the quick", "the quick brown fox"}) {
            const auto expected = (*reference).logitsAfter(text);
            QCOMPARE(expected.size(), std::size_t{kByteTokens});
            QVERIFY(largestDifference((*cpu).logitsAfter(text), expected) < 1e-5);
            QVERIFY(largestDifference(byteShares((*cpu).logitsAfter(text), 0.7), byteShares(expected, 0.7)) < 1e-6);
        }
    }

    // Of a text beyond the sequence its end counts; what lies in the window from before does not.
    void theEndOfALongTextCounts() {
        FirstWriter writer("reference:1");
        const std::string text = sentences(2), end = text.substr(text.size() - kTokens);
        const auto expected = (*writer).logitsAfter(end);
        QVERIFY(largestDifference((*writer).logitsAfter(text), expected) == 0);
        QVERIFY(largestDifference((*writer).logitsAfter(end.substr(1)), expected) > 0);
        const auto first = (*FirstWriter("reference:1")).logitsAfter("the");
        QVERIFY(largestDifference((*writer).logitsAfter("the"), first) == 0);
    }

    void aTextFollowsFromSeedAndEpoch() {
        TrialSpec spec = writingSpec("reference:1");
        spec.samplePrompt = "the lazy dog, who is longer than the sequence,";
        const auto first = written(spec), again = written(spec);
        QCOMPARE(first.size(), std::size_t{2});
        QVERIFY(first == again);
        QVERIFY(first[0].text != first[1].text);
        QCOMPARE(first[0].epoch, 1);
        QCOMPARE(first[1].epoch, 2);
        QCOMPARE(first[0].prompt, spec.samplePrompt);
        spec.learningRate = 0;  // the same weights: another epoch, another text
        const auto idle = written(spec);
        QVERIFY(idle[0].text != idle[1].text);
        spec.sampleTemperature = 0;
        const auto likeliest = written(spec);
        QCOMPARE(likeliest[0].text, likeliest[1].text);
        spec.sampleTemperature = 1;
        spec.seed = 2;
        QVERIFY(written(spec)[0].text != first[0].text);
    }

    // Who writes has learnt it by heart: the text goes on as it did, beyond the sequence.
    void whatIsLearntByHeartIsReproduced() {
        TrialSpec spec = writingSpec(hasCpuBackend() ? "cpu:1x1" : "reference:1");
        spec.model.params["width"] = std::int64_t{32};
        spec.epochs = 40;
        spec.sampleTemperature = 0;
        spec.samplePrompt = "the quick brown";
        spec.sampleLength = 75;
        const TextSample last = written(spec).back();
        QCOMPARE(QByteArray::fromStdString(last.prompt + last.text), QByteArray::fromStdString(sentences(2)));
    }

    void averagesWriteWhereThereAreAny() {
        TrialSpec spec = writingSpec("reference:1");
        const auto weights = written(spec);
        spec.averageDecay = 0.999;
        QVERIFY(written(spec).back().text != weights.back().text);
    }

    void reproducibleRunsWriteTheSame_data() {
        QTest::addColumn<QString>("backend");
        QTest::newRow("reference") << "reference:";
        if (hasCpuBackend()) QTest::newRow("cpu") << "cpu:";
    }
    void reproducibleRunsWriteTheSame() {
        QFETCH(QString, backend);
        const auto on = [&](int devices) {
            TrialSpec spec = writingSpec(backend.toStdString() + std::to_string(devices));
            spec.mode = "reproducible";
            return spec;
        };
        const auto one = written(on(1));
        QCOMPARE(one.size(), std::size_t{2});
        for (const int devices : {2, 4}) QVERIFY(written(on(devices)) == one);

        QTemporaryDir folder;
        RunOptions options;
        options.checkpointFolder = folder.path().toStdString();
        const auto stop = [](const TrainEvent& event, RunControl& control) {
            const auto* step = std::get_if<StepDone>(&event);
            if (step && step->step == 5) control.stop();
        };
        const Run stopped = run({.spec = on(2), .data = texts(), .options = options, .onEvent = stop});
        QCOMPARE(stopped.result.outcome, RunResult::Outcome::Stopped);
        auto last = readCheckpoint(folder.path().toStdString() + "/last.safetensors");
        QVERIFY(last.ok());
        RunOptions resumed;
        resumed.resumeFrom = std::move(last).value();
        auto both = stopped.recorder.all<TextSample>();
        for (const TextSample& each : written(on(4), resumed)) both.push_back(each);
        QVERIFY(both == one);
    }

    // Before its last byte a text ends where a stop is asked for; it is the beginning of what it would have been.
    void aStopEndsTheText() {
        TrialSpec spec = writingSpec("reference:2");
        const QString whole = QString::fromStdString(written(spec).front().text);
        spec.sampleLength = 100'000;
        RunControl* running = nullptr;
        std::atomic<int> stepsOfText = -1;
        RunOptions options;
        options.beforeStep = [&](int rank, std::int64_t, std::size_t programStep) {
            if (rank == 0 && programStep == 0 && stepsOfText >= 0 && ++stepsOfText == 7) running->stop();
        };
        const auto watch = [&](const TrainEvent& event, RunControl& control) {
            running = &control;
            if (std::holds_alternative<EvalDone>(event)) stepsOfText = 0;
        };
        const Run stopped = run({.spec = spec, .data = texts(), .options = options, .onEvent = watch});
        QCOMPARE(stopped.result.outcome, RunResult::Outcome::Stopped);
        const QString text = QString::fromStdString(stopped.recorder.all<TextSample>().front().text);
        const bool isItsBeginning = text.size() > 1 && text.size() <= 7 && whole.startsWith(text);
        QVERIFY2(isItsBeginning, qPrintable(text + " of " + whole));
    }

    // Ranks wait for one another no longer than for a byte.
    void aLongTextIsNoHangAndAHangIsSeen() {
        TrialSpec spec = writingSpec("reference:2");
        spec.epochs = 1;
        spec.timeout = 0.4;
        std::atomic<bool> writes = false;
        std::atomic<int> rest = 50;  // milliseconds at the beginning of a byte
        RunOptions options;
        options.beforeStep = [&](int rank, std::int64_t, std::size_t programStep) {
            if (rank == 0 && programStep == 0 && writes) std::this_thread::sleep_for(std::chrono::milliseconds(rest));
        };
        const auto watch = [&](const TrainEvent& event, RunControl&) {
            if (std::holds_alternative<EvalDone>(event)) writes = true;
            if (std::holds_alternative<TextSample>(event)) writes = false;
        };
        const auto outcome = [&] {
            writes = false;
            return run({.spec = spec, .data = texts(), .options = options, .onEvent = watch}).result;
        };
        QCOMPARE(outcome().outcome, RunResult::Outcome::Finished);  // 24 times 50 ms
        rest = 1500;
        const RunResult hung = outcome();
        QCOMPARE(hung.outcome, RunResult::Outcome::Failed);
        QCOMPARE(hung.failed.rank, 0);
        QVERIFY2(hung.failed.what.find("did not come") != std::string::npos, hung.failed.what.c_str());
    }

    void nobodyWritesUnlessAsked() {
        TrialSpec spec = writingSpec("reference:1");
        spec.sampleLength = 0;
        QVERIFY(written(spec).empty());
        const TrialSpec words = smallSpec("gpt", "reference:1");  // whose words are no bytes
        const Run run = lockstep::run({.spec = words, .data = dataFor("gpt", 16, 8), .options = {}, .onEvent = {}});
        QCOMPARE(run.result.outcome, RunResult::Outcome::Finished);
        QVERIFY(run.recorder.all<TextSample>().empty());
        QCOMPARE(run.recorder.all<RunStarted>().front().task, std::string("next-tokens"));
    }

    void othersRefuseAPrompt_data() {
        QTest::addColumn<QString>("field");
        for (const char* each : {"sample_length", "sample_prompt", "sample_temperature"}) QTest::newRow(each) << each;
    }
    void othersRefuseAPrompt() {
        QFETCH(QString, field);
        TrialSpec spec = smallSpec("mlp", "reference:1");
        spec.sampleLength = 0;  // that nothing is written is true of any model
        QVERIFY(validate(spec, testEnvironment()).empty());
        spec.sampleLength = field == "sample_length" ? 7 : TrialSpec().sampleLength;
        if (field == "sample_prompt") spec.samplePrompt = "Once";
        if (field == "sample_temperature") spec.sampleTemperature = 0.1;
        const auto problems = validate(spec, testEnvironment());
        QCOMPARE(problems.size(), std::size_t{1});
        QCOMPARE(problems[0].field, field.toStdString());
        QCOMPARE(problems[0].code, std::string("spec.writes-no-text"));
        QCOMPARE(problems[0].args[1], std::string("mlp"));
    }
};

QTEST_APPLESS_MAIN(TstTextWriter)
#include "tst_text_writer.moc"
