#include <QtTest>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <sstream>

#include "engine/report/model_card.h"
#include "tests/report/hostile_text.h"

using namespace lockstep;
using namespace lockstep::report;

namespace {

const std::string kGolden = LOCKSTEP_SOURCE_DIR "/tests/report/golden/card.md";

TrialSeries seriesNamed(const char* key, std::vector<SeriesPoint> points) {
    return {key, findMetric(std::string(key).substr(0, std::string(key).find('.'))), std::move(points)};
}

EvalCounts countsOf(std::int64_t step, std::int64_t epoch, std::vector<std::int64_t> cells) {
    EvalCounts counts;
    counts.step = step, counts.epoch = epoch, counts.classes = 3, counts.cells = std::move(cells);
    counts.binSamples = {0, 10, 90}, counts.binCorrect = {0, 4, 81}, counts.binConfidence = {0, 5, 85.5};
    return counts;
}

// A trial of three classes, two epochs of three updates on two devices, finished.
CardFacts smallTrial() {
    CardFacts facts;
    facts.row.id = 7, facts.row.title = "Ants & bees", facts.row.state = "finished", facts.row.dataset = "image-folder";
    facts.row.model = "mlp", facts.row.devices = "cpu:2x1", facts.row.createdAt = "2026-11-20T12:49:57.471Z";
    facts.row.finishedAt = "2026-11-20T12:51:07.471Z", facts.row.attempts = 1, facts.row.step = 6;
    facts.row.epoch = facts.row.epochs = 2, facts.row.seconds = 70, facts.row.samplesPerSecond = 512;
    facts.spec.title = facts.row.title, facts.spec.dataset = {"image-folder", {}},
    facts.spec.dataPath = "/data/my insects";
    facts.spec.model = {"mlp", {{"width", std::int64_t{32}}}}, facts.spec.devices = "cpu:2x1", facts.spec.epochs = 2;
    facts.modelMeaning = "A perceptron.", facts.task = "image-classes";
    RunStarted started;
    started.deviceText = "cpu:2x1", started.devices = {"cpu:0", "cpu:1"}, started.parameters = 12'345;
    started.stepsPerEpoch = 3, started.epochs = 2, started.trainSamples = 300, started.testSamples = 100;
    started.bytesPerDevice = 1 << 20, started.software = "Lockstep 0.1.0, oneDNN 2.6.3";
    started.hardware = {"A processor, 2 cores"}, started.threads = {1, 1};
    facts.started = started;
    facts.series = {seriesNamed("loss", {{1, 1, 1.1}, {2, 2, 0.9}, {3, 3, 0.8}, {4, 4, 0.6}, {5, 5, 0.5}, {6, 6, 0.4}}),
                    seriesNamed("compute.0", {{1, 1, 0.01}, {2, 2, 0.02}}),
                    seriesNamed("compute.1", {{1, 1, 0.03}, {2, 2, 0.04}}),
                    seriesNamed("test_accuracy", {{3, 3, 0.85}, {6, 6, 0.8}}),
                    seriesNamed("test_accuracy5", {{3, 3, -1}, {6, 6, -1}}),
                    seriesNamed("test_loss", {{3, 3, 0.7}, {6, 6, 0.65}}),
                    seriesNamed("train_accuracy", {{3, 3, 0.6}, {6, 6, 0.9}})};
    facts.counts = {countsOf(3, 1, {0, 0, 45, 0, 1, 5, 1, 1, 40, 1, 0, 8, 1, 2, 2}),
                    countsOf(6, 2, {0, 0, 50, 1, 0, 50})};
    facts.checkpoints = {{"best", "/runs/7/best.safetensors", 3}, {"last", "/runs/7/last.safetensors", 6}};
    facts.data =
        CardData{{"ant", "bee", "cicada"},           3, 28, 32, 0, {0.5f, 0.25f, 0.125f}, {0.25f, 0.25f, 0.25f},
                 DataFingerprint{{300, 1}, {100, 2}}};
    facts.program = "Lockstep 0.1.0", facts.writtenAt = "2026-11-21T08:00:00Z";
    return facts;
}

std::string textOf(const CardFacts& facts) { return markdownOf(modelCard(facts), "card-files"); }

bool says(const CardFacts& facts, const char* words) {
    const std::string text = textOf(facts);
    return text.find(words) != text.npos;
}

}  // namespace

class TestModelCard : public QObject {
    Q_OBJECT
private slots:
    // After an intended change: LOCKSTEP_UPDATE_GOLDEN=1 tests_report tst_model_card, then read the diff.
    void aSmallCardIsWhatItWas() {
        const std::string text = textOf(smallTrial());
        if (std::getenv("LOCKSTEP_UPDATE_GOLDEN")) std::ofstream(kGolden) << text;
        std::stringstream golden;
        golden << std::ifstream(kGolden).rdbuf();
        QCOMPARE(QString::fromStdString(text), QString::fromStdString(golden.str()));
    }

    // The best evaluation by the metric that decides, and what it took for what.
    void figuresAreThoseOfTheBestEvaluation() {
        QVERIFY(says(smallTrial(), "|  | Best: epoch 1, update 3 | Last: epoch 2, update 6 |"));
        QVERIFY(says(smallTrial(), "| Test accuracy | 85.00 % | 80.00 % |"));
        QVERIFY(!says(smallTrial(), "five guesses"));
        QVERIFY(says(smallTrial(), "| ant | 50 | 0.849 | 0.900 | 0.874 |"));  // 45/53, 45/50, 90/103
        QVERIFY(says(smallTrial(), "| bee | ant | 8 | 16.00 % |"));
        QVERIFY(says(smallTrial(), "| cicada | 0 | 0.000 | – | 0.000 |"));
        QVERIFY(says(smallTrial(), "| mean over classes | 100 |"));
    }

    // 85 of 100: Wilson's interval is 76.72 to 90.69 %, by hand.
    void limitsFollowFromTheFacts() {
        QVERIFY(says(smallTrial(), "between 76.72 % and 90.69 %"));
        QVERIFY(says(smallTrial(), "Nobody knows how it does on “cicada”"));
        QVERIFY(says(smallTrial(), "It knows its training data better than others: 90.00 % beside 80.00 %"));
        QVERIFY(says(smallTrial(), "No data was held out"));
        CardFacts facts = smallTrial();
        Evaluation held;
        held.id = 4, held.checkpoint = "best", held.data = "/data/other", held.split = "all", held.samples = 50,
        held.step = 3;
        held.counts = countsOf(3, 1, {0, 0, 10, 1, 0, 40});
        facts.evaluations = {held};
        QVERIFY(!says(facts, "No data was held out") && says(facts, "The same on /data/other (all)"));
        facts.evaluations.front().dataset = "image-folder";
        QVERIFY(says(facts, "The same on image-folder /data/other (all)"));
        facts.counts.front().cells = {0, 0, 20, 0, 1, 31, 1, 1, 51};
        QVERIFY(says(facts, "It misses more than half of “ant”"));
        QVERIFY(!says(facts, "are rough"));
        facts.counts.front().cells = {0, 0, 20, 1, 1, 51};
        QVERIFY(says(facts, "With fewer than 50 samples each, the figures of “ant” are rough"));
    }

    // As far as the fingerprints of its evaluations tell.
    void dataThatChangedAreSaid() {
        CardFacts facts = smallTrial();
        Evaluation now;
        now.id = 5, now.checkpoint = "best", now.data = "/data/my insects", now.dataset = "image-folder";
        now.split = "test", now.samples = 100, now.step = 3, now.counts = countsOf(3, 1, {0, 0, 10, 1, 0, 90});
        now.fingerprint = DataFingerprint{{300, 1}, {100, 2}};
        Evaluation later = now;
        later.id = 6, later.fingerprint->test.content = 3;
        facts.evaluations = {now};
        QVERIFY(!says(facts, "changed since") && !says(facts, "**Since then**") && !says(facts, "The same on"));
        facts.evaluations = {later, now};
        QVERIFY(says(facts, "| 5 | best (update 3) | image-folder /data/my insects, changed since | test |"));
        QVERIFY(says(facts, "| 6 | best (update 3) | image-folder /data/my insects | test |"));
        QVERIFY(says(facts, "| **Since then** | evaluation 6 was asked about other test samples |"));
        QVERIFY(says(facts, "- Its data have changed since the training: evaluation 6 was asked about other test "));
        QVERIFY(says(facts, "(test), whose samples are others than in training"));
        facts.data->fingerprint.reset();  // of an old trial
        QVERIFY(!says(facts, "since the training") && says(facts, ", changed since | test |"));
    }

    void whatPrecisionCameToIsSaid() {
        CardFacts facts = smallTrial();
        facts.spec.precision = "auto";
        QVERIFY(says(facts, "| **Precision** | auto |"));  // of an old trial
        facts.started->precision = "bf16";
        QVERIFY(says(facts, "| **Precision** | bf16, chosen by precision=auto |"));
        QVERIFY(says(facts, "--precision bf16") &&
                says(facts, "It was asked for `--precision auto`: what was fastest"));
        facts.spec.mode = "reproducible";  // which measures nothing
        QVERIFY(says(facts, "--precision bf16") && !says(facts, "what was fastest"));
        facts.spec.mode = "fast";
        facts.spec.precision = "bf16";
        QVERIFY(says(facts, "| **Precision** | bf16 |") && !says(facts, "It was asked for"));
    }

    void whatIsMissingIsSaid() {
        CardFacts facts = smallTrial();
        facts.row.state = "queued", facts.row.step = facts.row.epoch = 0, facts.row.finishedAt.clear();
        facts.started.reset(), facts.data.reset();
        facts.series.clear(), facts.counts.clear(), facts.checkpoints.clear();
        QVERIFY(says(facts, "It has not begun to train.") && says(facts, "There is no checkpoint"));
        QVERIFY(says(facts, "No update was recorded.") && says(facts, "Not counted yet."));
        QVERIFY(says(facts, "nothing says them of this one"));
        QVERIFY(!says(facts, "How to use it") && says(facts, "How to repeat it"));
        facts.row.state = "failed";
        facts.failure = CardMessage{"failure", "The disk is full.", "Make room."};
        QVERIFY(says(facts, "**Failure:** The disk is full. Make room.") && says(facts, "`lockstep resume 7`"));
        facts = smallTrial();
        facts.row.state = "running";
        QVERIFY(says(facts, "It is still being trained (running): epoch 2 of 2, 6 updates.") &&
                says(facts, "no final figures"));
        facts.counts.clear();
        QVERIFY(says(facts, "Not counted; `lockstep evaluate 7` does."));
        facts.started->software.clear(), facts.started->hardware.clear();
        QVERIFY(says(facts, "did not note its number"));
    }

    // Nothing is advised that would be refused.
    void whatWasFreedIsSaid() {
        CardFacts facts = smallTrial();
        facts.row.state = "stopped", facts.freedAt = "2026-11-22T09:30:00.000Z";
        QVERIFY(says(facts, "Others were freed on 2026-11-22 09:30 UTC.") && says(facts, "`lockstep resume 7`"));
        facts.checkpoints.clear();
        QVERIFY(says(facts, "Its checkpoints were freed on 2026-11-22 09:30 UTC") &&
                says(facts, "No data was held out"));
        const auto advisesNoModel = [&] {
            for (const char* command : {"lockstep resume", "lockstep evaluate", "lockstep predict", "lockstep export"})
                QVERIFY2(!says(facts, command), command);
        };
        advisesNoModel();
        facts.freedAt.reset(), facts.wroteCheckpoint = true;  // deleted by hand
        QVERIFY(says(facts, "Its checkpoints are gone, so there is no model to use"));
        advisesNoModel();
        facts.series.clear(), facts.counts.clear();
        QVERIFY(says(facts, "Not counted while there was a model.") && says(facts, "no epoch came to its end."));
        QVERIFY(!says(facts, "lockstep resume"));
    }

    void aLanguageModelIsToldByItsPerplexity() {
        CardFacts facts = smallTrial();
        facts.task = "next-tokens", facts.row.model = "gpt", facts.counts.clear();
        facts.data = CardData{std::vector<std::string>(256), 0, 0, 0, 64, {}, {}, {}};
        facts.series = {seriesNamed("test_loss", {{3, 3, std::log(8.0)}, {6, 6, std::log(4.0)}}),
                        seriesNamed("test_perplexity", {{3, 3, 8}, {6, 6, 4}}),
                        seriesNamed("test_bits_per_byte", {{3, 3, 3}, {6, 6, 2}})};
        facts.text = TextSample{6, 2, "to be", " or not\n```\nto be"};
        QVERIFY(says(facts, "| Test perplexity | 4.000 |") &&
                says(facts, "| Test bits per byte | 2.000 bits per byte |"));
        QVERIFY(says(facts, "What it writes") && says(facts, "````text\nto be or not\n```\nto be\n````"));
        QVERIFY(says(facts, "lockstep predict 7 --prompt") && !says(facts, "Results per class") &&
                !says(facts, "accuracy is known"));
        QVERIFY(says(facts, "lowest “Test loss”"));
        Evaluation none;
        none.id = 1, none.checkpoint = "last", none.data = "/data", none.split = "test", none.samples = 9;
        none.loss = none.accuracy = std::nan("");
        facts.evaluations = {none};
        QVERIFY(says(facts, "| 9 | – | – | – |"));
    }

    // Of many classes the worst come first, and no more than two hundred; pairs stand for the picture.
    void manyClassesAreSortedAndCut() {
        CardFacts facts = smallTrial();
        EvalCounts& counts = facts.counts.front();
        counts.classes = 300, counts.cells.clear(), facts.data->classes.clear();
        for (std::int64_t id = 0; id < 300; ++id) {
            facts.data->classes.push_back("kind" + std::to_string(id));
            counts.cells.insert(counts.cells.end(), {id, id, id + 1, id, (id + 1) % 300, 300 - id});
        }
        const std::string text = textOf(facts);
        const auto at = [&](const char* words) { return text.find(words); };
        QVERIFY(at("| kind0 | 301 |") < at("| kind1 | 301 |") && at("| kind199 | 301 |") != text.npos);
        QVERIFY(at("| kind299 | 301 |") == text.npos);
        QVERIFY(at("The 200 worst of 300 classes; `lockstep evaluate 7 --csv classes` has all.") != text.npos);
        QVERIFY(at("confusion.svg") == text.npos && at("| kind0 | kind1 | 300 | 99.67 % |") != text.npos);
    }

    void hostileNamesStayNames() {
        CardFacts facts = smallTrial();
        for (const std::string& name : test::kHostileNames) {
            facts.row.title = facts.spec.title = facts.row.note = name;
            facts.row.tags = {name};
            facts.data->classes = {name, name, name};
            facts.messages = {{"warning", name, name}};
            facts.failure = facts.messages.front();
            const auto html = test::parsedXml(htmlOf(modelCard(facts)));
            QVERIFY2(html.error.isEmpty(), qPrintable(html.error));
            QVERIFY(!html.elements.contains("script") && !html.elements.contains("img") &&
                    !html.elements.contains("a"));
        }
    }

    void aCardLoadsNothingAndStaysSmall() {
        CardFacts facts = smallTrial();
        std::vector<SeriesPoint> points;
        for (int i = 1; i <= 200'000; ++i) points.push_back({i, 0.1 * i, 1 + 0.5 * std::sin(i * 12.9898)});
        for (const char* key : {"loss", "accuracy", "gradient_norm", "samples_per_second", "compute.0", "compute.1",
                                "reduce.0", "wait.0"})
            facts.series.push_back(seriesNamed(key, points));
        const std::string html = htmlOf(modelCard(facts));
        QVERIFY2(html.size() < 250'000, qPrintable(QString::number(html.size())));
        for (const char* word : {"<script", "src=", "href=", "url(", "@import", "http-equiv=\"refresh"})
            QVERIFY2(html.find(word) == html.npos, word);
    }
};

QTEST_APPLESS_MAIN(TestModelCard)
#include "tst_model_card.moc"
