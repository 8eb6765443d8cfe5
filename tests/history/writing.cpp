#include "tests/history/writing.h"

#include <cstring>
#include <sstream>

#include "tests/history/history_support.h"

namespace lockstep::test {

namespace fs = std::filesystem;

namespace {

bool same(const Checkpoint& a, const Checkpoint& b) {
    if (a.trial != b.trial || a.step != b.step || a.tensors.size() != b.tensors.size()) return false;
    for (const auto& [name, tensor] : a.tensors) {
        const auto other = b.tensors.find(name);
        if (other == b.tensors.end() || !(tensor.type() == other->second.type())) return false;
        if (std::memcmp(tensor.data(), other->second.data(), tensor.bytes()) != 0) return false;
    }
    return true;
}

using Events = std::vector<NumberedEvent>;

QString lossOfEvents(const Events& events, std::int64_t last) {
    if (static_cast<std::int64_t>(events.size()) < last) return QString("%1 events of %2").arg(events.size()).arg(last);
    for (std::size_t i = 0; i < events.size(); ++i) {
        if (events[i].number != static_cast<std::int64_t>(i) + 1) return QString("a gap at event %1").arg(i + 1);
        const auto* step = std::get_if<StepDone>(&events[i].event);
        if (step && toJsonLine(*step, 1) != toJsonLine(stepOf(step->step), 1))
            return QString("event %1 differs").arg(i + 1);
    }
    return {};
}

QString lossOfCheckpoint(const Events& events, std::int64_t trial, std::int64_t last) {
    CheckpointWritten listed;
    for (const auto& each : events) {
        if (const auto* written = std::get_if<CheckpointWritten>(&each.event)) listed = *written;
    }
    if (listed.step < last) return QString("the checkpoint of step %1 is not listed").arg(last);
    if (listed.step == 0) return {};
    const auto read = readCheckpoint(listed.file);
    if (!read.ok()) return QString("its newest checkpoint: %1").arg(QString::fromStdString(read.problems()[0].code));
    if (read.value().step < listed.step) return QString("its checkpoint is of step %1").arg(read.value().step);
    return same(read.value(), checkpointOf(trial, read.value().step)) ? "" : "its checkpoint differs";
}

}  // namespace

Checkpoint checkpointOf(std::int64_t trial, std::int64_t step) {
    Checkpoint checkpoint;
    checkpoint.trial = trial;
    checkpoint.step = step;
    for (const char* name : {"bias", "weight"}) {
        HostTensor tensor({Shape{40, name[0] == 'b' ? 1 : 32}, DType::F32});
        float value = static_cast<float>(1000 * trial + step);
        for (float& each : tensor.as<float>()) each = value += 0.5f;
        checkpoint.tensors.emplace(name, std::move(tensor));
    }
    return checkpoint;
}

fs::path checkpointFile(const fs::path& history, std::int64_t trial) {
    return history.parent_path() / "runs" / std::to_string(trial) / "last.safetensors";
}

Said parse(const QByteArray& output) {
    Said said;
    std::istringstream lines(output.left(output.lastIndexOf('\n') + 1).toStdString());
    for (std::string line; std::getline(lines, line);) {
        std::istringstream words(line);
        std::string kind;
        std::int64_t trial = 0, number = 0;
        words >> kind >> trial >> number;
        if (kind == "trial") said.trials.try_emplace(trial);
        if (kind == "event") said.trials[trial].event = number;
        if (kind == "checkpoint") said.trials[trial].checkpoint = number;
    }
    return said;
}

QString loss(const fs::path& history, const Said& said) {
    if (const auto verdict = ask(history, "PRAGMA integrity_check"); verdict != "ok")
        return QString::fromStdString(verdict);
    const auto store = openStore(history);  // what the next process does first
    const auto query = openQuery(history);
    if (!store || !query) return "it cannot be opened";
    for (const auto& [trial, last] : said.trials) {
        if (!query->find(trial)) return QString("trial %1 is gone").arg(trial);
    }
    for (const auto& row : query->list({})) {
        const auto found = said.trials.find(row.id);
        const Said::Trial last = found == said.trials.end() ? Said::Trial{} : found->second;
        const Events events = query->events(row.id, 1);
        QString lost = lossOfEvents(events, last.event);
        if (lost.isEmpty()) lost = lossOfCheckpoint(events, row.id, last.checkpoint);
        if (!lost.isEmpty()) return QString("trial %1: %2").arg(row.id).arg(lost);
    }
    return {};
}

QStringList writing(const fs::path& history, int trials, int steps) {
    return {"write", QString::fromStdString(history), QString::number(trials), QString::number(steps)};
}

}  // namespace lockstep::test
