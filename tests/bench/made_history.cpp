#include "tests/bench/made_history.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <random>
#include <string>

#include "engine/history/database.h"
#include "engine/history/event_writer.h"
#include "engine/spec/trial_spec.h"

namespace lockstep::test {

namespace {

using SQLite::Database;
using SQLite::Statement;

constexpr int kSeeds = 3;
constexpr std::int64_t kEpochs = 5;

template <class T, std::size_t N>
const T& pick(const std::array<T, N>& from, std::mt19937& random) {
    return from[random() % N];
}

TrialSpec settingOf(std::mt19937& random) {
    TrialSpec spec;
    spec.dataset.id = pick(std::array{"fashion-mnist", "cifar10", "mnist", "synthetic"}, random);
    spec.model.id = pick(std::array{"fashion-cnn", "lenet5", "mlp", "resnet18-cifar"}, random);
    spec.devices = pick(std::array{"cpu:1", "cpu:2", "cpu:4", "cuda:0", "cuda:0,1"}, random);
    spec.batch = 32 << random() % 5;
    spec.epochs = kEpochs;
    spec.learningRate = pick(std::array{0.01, 0.03, 0.1, 0.3, 0.001}, random);
    spec.optimizer = {pick(std::array{"sgd", "adamw"}, random), {}};
    if (spec.optimizer.id == "sgd") spec.optimizer.params["momentum"] = pick(std::array{0.0, 0.9, 0.95}, random);
    spec.title = spec.model.id + ", rate " + std::to_string(spec.learningRate).substr(0, 5);
    return spec;
}

std::int64_t insertTrial(Database& database, const TrialSpec& spec, int back, std::mt19937& random) {
    Statement row(database,
                  "INSERT INTO trial (title, state, spec_json, dataset, model, devices, batch, epochs, learning_rate,"
                  " created_at, run_directory, attempts, note, star, archived, deleted)"
                  " VALUES (?, 'queued', ?, ?, ?, ?, ?, ?, ?, ?, '', 1, ?, ?, ?, ?)");
    row.bind(1, spec.title), row.bind(2, toJson(spec)), row.bind(3, spec.dataset.id), row.bind(4, spec.model.id);
    row.bind(5, spec.devices), row.bind(6, spec.batch), row.bind(7, spec.epochs), row.bind(8, spec.learningRate);
    row.bind(9, utcText(std::chrono::system_clock::now() - std::chrono::minutes(47) * back));
    row.bind(10, random() % 5 == 0 ? "looks promising, try a longer warm-up" : "");
    row.bind(11, random() % 12 == 0 ? 1 : 0), row.bind(12, random() % 20 == 0 ? 1 : 0);
    row.bind(13, random() % 50 == 0 ? 1 : 0);
    row.exec();
    return database.getLastInsertRowid();
}

void tag(Database& database, std::int64_t trial, std::mt19937& random) {
    for (const char* name : {"baseline", "thesis", "augmented"}) {
        if (random() % 6 != 0) continue;
        Statement row(database, "INSERT INTO trial_tag (trial, tag) VALUES (?, ?)");
        row.bind(1, trial), row.bind(2, name);
        row.exec();
    }
}

class Curve {
public:
    Curve(const TrialSpec& spec, std::mt19937& random)
        : m_random(random),
          m_final(0.1 + 0.2 * static_cast<double>(spec.model.id.size() % 4)),
          m_speed(20'000.0 / static_cast<double>(spec.model.id.size())) {}

    StepDone step(int number, int steps) {
        StepDone e;
        e.step = number;
        e.epoch = 1 + kEpochs * (number - 1) / steps;
        e.samples = 128;
        e.loss = lossAt(number) + noise(0.05);
        e.accuracy = std::clamp(1 - 0.4 * e.loss + noise(0.02), 0.0, 1.0);
        e.learningRate = 0.1;
        e.gradientNorm = 1 + noise(0.2);
        e.seconds = 0.05 * number;
        e.samplesPerSecond = m_speed * (1 + noise(0.05));
        return e;
    }

    EvalDone evaluation(int number, std::int64_t epoch) {
        EvalDone e;
        e.step = number;
        e.epoch = epoch;
        e.samples = 10'000;
        e.loss = lossAt(number) + noise(0.02);
        e.accuracy = std::clamp(1 - 0.35 * e.loss, 0.0, 1.0);
        e.trainLoss = e.loss, e.trainAccuracy = e.accuracy;
        e.seconds = 0.05 * number;
        e.samplesPerSecond = m_speed;
        return e;
    }

private:
    double lossAt(int number) const { return m_final + 2.2 / (1 + 0.08 * number); }
    double noise(double size) { return std::normal_distribution<double>(0, size)(m_random); }

    std::mt19937& m_random;
    double m_final, m_speed;
};

TrainEvent endOf(const EvalDone& last, std::int64_t trial, std::mt19937& random) {
    const auto kind = random() % 12;
    if (kind == 0)
        return RunFailed{"out-of-memory", "conv2d block2/conv1", "3.1 GiB wanted, 2.4 GiB free", 0, last.step};
    if (kind == 1) return StateChanged{"crashed", last.step};
    return RunFinished{kind == 2 ? "stopped" : "finished",
                       trial,
                       last.step,
                       last.epoch,
                       last.accuracy,
                       last.loss,
                       last.accuracy,
                       last.samplesPerSecond,
                       last.seconds};
}

void addEvents(Database& database, std::int64_t trial, const TrialSpec& spec, int steps, std::mt19937& random) {
    Statement attempt(database, "INSERT INTO attempt (trial, number, from_step, started_at) VALUES (?, 1, 0, ?)");
    attempt.bind(1, trial), attempt.bind(2, utcNow());
    attempt.exec();
    Curve curve(spec, random);
    std::vector<PostedEvent> events;
    const auto post = [&](TrainEvent event) {
        events.push_back({trial, 1, static_cast<std::int64_t>(events.size()) + 1, std::move(event)});
    };
    EvalDone last = curve.evaluation(std::max(steps, 1), kEpochs);
    for (int number = 1; number <= steps; ++number) {
        post(curve.step(number, steps));
        if (number * kEpochs % steps < kEpochs) post(last = curve.evaluation(number, number * kEpochs / steps));
    }
    if (steps == 0) post(last);
    post(endOf(last, trial, random));
    writeEvents(database, events, {});
}

}  // namespace

void makeHistory(const std::filesystem::path& file, const MadeHistory& wanted) {
    const auto database = openForWriting(file, migrations());
    translated(file, [&] {
        std::mt19937 random(wanted.seed);
        SQLite::Transaction transaction(*database, SQLite::TransactionBehavior::IMMEDIATE);
        TrialSpec spec;
        for (int i = 0; i < wanted.trials; ++i) {
            if (i % kSeeds == 0) spec = settingOf(random);
            spec.seed = 1 + static_cast<std::uint64_t>(i % kSeeds);
            const auto trial = insertTrial(*database, spec, wanted.trials - i, random);
            tag(*database, trial, random);
            addEvents(*database, trial, spec, wanted.steps, random);
        }
        transaction.commit();
    });
}

}  // namespace lockstep::test
