#pragma once
#include <sqlite3.h>

#include <QTemporaryDir>
#include <filesystem>
#include <memory>
#include <string>

#include "engine/history/trial_query.h"
#include "engine/history/trial_store.h"

namespace lockstep::test {

// A step event whose every field follows from its number.
inline StepDone stepOf(std::int64_t step, int ranks = 2) {
    StepDone e;
    e.step = step;
    e.epoch = 1 + step / 100;
    e.samples = 128 - step % 3;
    e.loss = 2.0 / static_cast<double>(step);
    e.accuracy = 1.0 - 1.0 / static_cast<double>(step + 1);
    e.learningRate = 0.1;
    e.gradientNorm = static_cast<double>(step % 7) + 0.5;
    e.seconds = 0.01 * static_cast<double>(step);
    e.samplesPerSecond = 12800;
    for (int rank = 0; rank < ranks; ++rank) {
        e.compute.push_back(0.001f * static_cast<float>(rank + 1));
        e.reduce.push_back(0.0001f * static_cast<float>(step));
        e.wait.push_back(0.00001f);
    }
    return e;
}

inline EvalDone evalOf(std::int64_t step, double accuracy, double loss = 0.3) {
    EvalDone e;
    e.step = step;
    e.epoch = step / 100;
    e.samples = 10'000;
    e.loss = loss;
    e.accuracy = accuracy;
    e.seconds = 0.01 * static_cast<double>(step);
    return e;
}

class Folder {
public:
    std::filesystem::path path() const { return m_folder.path().toStdString(); }
    std::filesystem::path file() const { return path() / "history.sqlite"; }
    std::filesystem::path runs() const { return path() / "runs"; }

private:
    QTemporaryDir m_folder;
};

inline std::unique_ptr<TrialStore> openStore(const std::filesystem::path& file) {
    auto store = TrialStore::open(file);
    return store.ok() ? std::move(store).value() : nullptr;
}

inline std::unique_ptr<TrialQuery> openQuery(const std::filesystem::path& file) {
    auto query = TrialQuery::open(file);
    return query.ok() ? std::move(query).value() : nullptr;
}

// A trial's first, and where its events go.
struct FirstAttempt {
    explicit FirstAttempt(TrialStore& store)
        : trial(store.createTrial({}, folder.runs())),
          number(store.beginAttempt(trial, 0)),
          sink(store.sinkFor(trial, number)) {}
    const Folder folder;
    std::int64_t trial, number;
    std::shared_ptr<EventSink> sink;
};

// The first row and column of what `sql` yields, by a connection of its own.
inline std::string ask(const std::filesystem::path& file, const std::string& sql) {
    sqlite3* database = nullptr;
    std::string answer;
    sqlite3_open(file.c_str(), &database);
    sqlite3_busy_timeout(database, 5000);
    const auto take = [](void* out, int, char** values, char**) {
        *static_cast<std::string*>(out) = values[0] ? values[0] : "";
        return 0;
    };
    char* error = nullptr;
    if (sqlite3_exec(database, sql.c_str(), take, &answer, &error) != SQLITE_OK) answer = error ? error : "?";
    sqlite3_free(error);
    sqlite3_close(database);
    return answer;
}

}  // namespace lockstep::test
