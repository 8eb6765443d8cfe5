#include "tests/bench/made_sweep.h"

#include <algorithm>
#include <cmath>
#include <random>
#include <string>

#include "engine/history/database.h"
#include "engine/history/event_writer.h"
#include "engine/history/trial_rows.h"
#include "engine/queue/sweep_progress.h"

namespace lockstep::test {

namespace {

using SQLite::Database;
using SQLite::Statement;

constexpr double kBest = 0.935;

ParamValue word(const char* text) { return std::string(text); }

SweepSpec specOf(const MadeSweep& wanted) {
    SweepSpec sweep;
    sweep.title = "made up";
    sweep.trial.devices = "cpu:1x1";
    sweep.trial.epochs = wanted.epochs;
    sweep.trials = wanted.trials;
    sweep.objective = "test_accuracy";
    const auto log = [](double low, double high) { return NumberRange{.low = low, .high = high, .isLog = true}; };
    NumberRange padding{.low = 0, .high = 4}, passes{.low = 1, .high = 4};
    padding.isWhole = passes.isWhole = true;
    sweep.vary = {{"learning_rate", log(1e-4, 1)},
                  {"optimizer", ChoiceOfValues{word("sgd"), word("adamw"), word("muon")}},
                  {"optimizer.momentum", NumberRange{.low = 0.5, .high = 0.99}, {{"optimizer", {word("sgd")}}}},
                  {"optimizer.weight_decay", log(1e-6, 1e-1)},
                  {"batch", ChoiceOfValues{32, 64, 128, 256, 512, 1024}},
                  {"schedule", ChoiceOfValues{word("constant"), word("cosine"), word("one-cycle")}},
                  {"model", ChoiceOfValues{word("fashion-cnn"), word("lenet5"), word("mlp")}},
                  {"label_smoothing", NumberRange{.low = 0, .high = 0.3}},
                  {"average_decay", NumberRange{.low = 0, .high = 0.999}},
                  {"precision", ChoiceOfValues{word("fp32"), word("bf16")}},
                  {"accumulation", passes},
                  {"augmentation.crop_padding", padding}};
    return sweep;
}

double numberAt(const Cell& cell, const std::string& path, double otherwise) {
    const auto found = std::ranges::find(cell, path, &Setting::path);
    return found == cell.end() ? otherwise : numberOf(found->value).value_or(otherwise);
}

std::string wordAt(const Cell& cell, const std::string& path) {
    const auto found = std::ranges::find(cell, path, &Setting::path);
    const auto* text = found == cell.end() ? nullptr : std::get_if<std::string>(&found->value);
    return text ? *text : "";
}

// How far the rate is above the best one of its optimizer, in decades.
double rateAbove(const Cell& cell) {
    const std::string optimizer = wordAt(cell, "optimizer");
    const double best = optimizer == "sgd" ? -1.0 : optimizer == "adamw" ? -2.6 : -3.3;
    return std::log10(numberAt(cell, "learning_rate", 0.1)) - best;
}

// What the cell would come to, but for noise.
double truth(const Cell& cell) {
    const double rate = rateAbove(cell), momentum = numberAt(cell, "optimizer.momentum", 0.9) - 0.9;
    const double smoothing = numberAt(cell, "label_smoothing", 0) - 0.08;
    const std::string model = wordAt(cell, "model");
    double value = kBest - 0.055 * rate * rate - 0.25 * momentum * momentum - 0.8 * smoothing * smoothing;
    value -= model == "mlp" ? 0.06 : model == "lenet5" ? 0.02 : 0;
    value -= wordAt(cell, "schedule") == "constant" ? 0.015 : 0;
    value -= 0.008 * std::abs(std::log2(numberAt(cell, "batch", 128) / 128));
    return std::clamp(value, 0.1, 0.99);
}

enum class Fate { Finished, Diverged, Failed, CutShort };

Fate fateOf(const Cell& cell, std::mt19937& random) {
    const auto chance = [&](double share) { return std::uniform_real_distribution<double>()(random) < share; };
    if (rateAbove(cell) > 1.2 && chance(0.6)) return Fate::Diverged;
    if (chance(0.02)) return Fate::Failed;
    return truth(cell) < 0.86 && chance(0.4) ? Fate::CutShort : Fate::Finished;
}

class TrialStory {
public:
    TrialStory(std::int64_t trial, const Cell& cell, std::int64_t epochs, std::mt19937& random)
        : m_trial(trial), m_cell(cell), m_epochs(epochs), m_random(random), m_value(truth(cell) + noise(0.006)) {}

    std::vector<PostedEvent> events() {
        const Fate fate = fateOf(m_cell, m_random);
        RunStarted started;
        started.trial = m_trial;
        started.devices = {"cpu:0"};
        started.stepsPerEpoch = kSteps, started.epochs = m_epochs;
        started.task = "image-classes";
        post(started);
        post(StateChanged{"running", 0});
        const std::int64_t last = fate == Fate::Finished   ? m_epochs
                                  : fate == Fate::CutShort ? std::max<std::int64_t>(1, m_epochs / 3)
                                                           : std::int64_t(m_random() % 3);
        for (std::int64_t epoch = 1; epoch <= last; ++epoch) post(m_last = evaluation(epoch));
        end(fate);
        return std::move(m_events);
    }

private:
    static constexpr std::int64_t kSteps = 100;

    void post(TrainEvent event) { m_events.push_back({m_trial, 1, std::ssize(m_events) + 1, std::move(event)}); }
    double noise(double size) { return std::normal_distribution<double>(0, size)(m_random); }

    EvalDone evaluation(std::int64_t epoch) {
        const double left = std::exp(-3.0 * static_cast<double>(epoch) / static_cast<double>(m_epochs));
        EvalDone e;
        e.epoch = epoch;
        e.step = kSteps * epoch;
        e.samples = 10'000;
        e.accuracy = std::clamp(m_value - 0.35 * left + noise(0.003), 0.05, 0.999);
        e.loss = -1.4 * std::log(e.accuracy);
        e.trainAccuracy = std::min(0.999, e.accuracy + 0.01), e.trainLoss = 0.95 * e.loss;
        e.seconds = static_cast<double>(epoch) * (6 + 900 / numberAt(m_cell, "batch", 128));
        e.samplesPerSecond = 60'000.0 * static_cast<double>(epoch) / e.seconds;
        return e;
    }

    void end(Fate fate) {
        if (fate == Fate::Diverged) return post(RunFailed{"non-finite", "loss", "it is nan", 0, m_last.step + 7});
        if (fate == Fate::Failed)
            return post(RunFailed{"out-of-memory", "conv2d block2/conv1", "3.1 GiB wanted, 2.4 GiB free", 0, 7});
        RunFinished finished;
        finished.outcome = fate == Fate::Finished ? "finished" : "stopped";
        finished.trial = m_trial;
        finished.step = m_last.step, finished.epoch = m_last.epoch;
        finished.testAccuracy = finished.bestAccuracy = m_last.accuracy;
        finished.testLoss = m_last.loss;
        finished.trainSamplesPerSecond = m_last.samplesPerSecond;
        finished.seconds = m_last.seconds;
        post(finished);
    }

    std::int64_t m_trial;
    const Cell& m_cell;
    std::int64_t m_epochs;
    std::mt19937& m_random;
    double m_value;
    EvalDone m_last;
    std::vector<PostedEvent> m_events;
};

std::int64_t insertGroup(Database& database, const SweepSpec& sweep) {
    Statement row(database,
                  "INSERT INTO trial_group (kind, title, spec_json, state, created_at, finished_at)"
                  " VALUES ('sweep', ?1, ?2, 'finished', ?3, ?3)");
    row.bind(1, sweep.title), row.bind(2, sweepJson(sweep)), row.bind(3, utcNow());
    row.exec();
    return database.getLastInsertRowid();
}

void insertPlace(Database& database, std::int64_t group, std::int64_t number, const Cell& cell, std::int64_t trial) {
    Statement settings(database, "INSERT INTO group_cell (member_of, number, settings) VALUES (?, ?, ?)");
    settings.bind(1, group), settings.bind(2, number), settings.bind(3, cellText(cell));
    settings.exec();
    Statement place(database,
                    "INSERT INTO group_trial (member_of, cell, repeat, trial, adopted) VALUES (?, ?, 0, ?, 0)");
    place.bind(1, group), place.bind(2, number), place.bind(3, trial);
    place.exec();
}

Cell drawn(const SearchSpace& space, std::mt19937& random) {
    std::vector<double> point(space.dimensions().size());
    for (double& each : point) each = std::uniform_real_distribution<double>()(random);
    return *space.cellAt(point);
}

}  // namespace

std::int64_t makeSweep(const std::filesystem::path& file, const MadeSweep& wanted) {
    const SweepSpec sweep = specOf(wanted);
    const auto space = spaceOf(sweep);
    if (!space.ok()) throw ProblemError(space.problems().front());
    const auto database = openForWriting(file, migrations());
    std::int64_t group = 0;
    translated(file, [&] {
        std::mt19937 random(wanted.seed);
        SQLite::Transaction transaction(*database, SQLite::TransactionBehavior::IMMEDIATE);
        group = insertGroup(*database, sweep);
        for (std::int64_t number = 0; number < wanted.trials; ++number) {
            const Cell cell = drawn(space.value(), random);
            const std::int64_t trial = nextTrial(*database);
            insertTrial(*database, trial, trialAt(sweep, cell, 0), file.parent_path() / "runs" / std::to_string(trial));
            insertAttempt(*database, trial, 0);
            insertPlace(*database, group, number, cell, trial);
            writeEvents(*database, TrialStory(trial, cell, wanted.epochs, random).events(), {});
        }
        transaction.commit();
    });
    return group;
}

}  // namespace lockstep::test
