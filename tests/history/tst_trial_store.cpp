#include <rapidcheck.h>

#include <QtTest>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <limits>
#include <mutex>
#include <set>
#include <thread>

#include "engine/core/utc_time.h"
#include "engine/spec/trial_settings.h"
#include "tests/bench/made_history.h"
#include "tests/history/history_support.h"

using namespace lockstep;
using namespace lockstep::test;
namespace fs = std::filesystem;

class tst_TrialStore : public QObject {
    Q_OBJECT
private slots:
    void initTestCase() { qputenv("RC_PARAMS", "max_success=40 max_size=60"); }  // each state event is an fsync
    void aNewTrialIsQueued();
    void theRunDirectoryCarriesTheTrialsNumber();
    void identifiersAreNotUsedTwice();
    void aFolderThatIsThereIsNobodyElses();
    void historiesThatShareFoldersShareNone();
    void aRefusedTrialLeavesNoFolder();
    void eventsComeBackAsTheyWere();
    void eventsComeBackForEveryMixture();
    void stateEventsAreCommittedOnReturn();
    void manyStepsMakeFewChunks();
    void eventsShapeTheTrialsRow();
    void everyColumnIsOfTheRow();
    void aFailureIsKept();
    void aProblemIsKeptWhole();
    void whatAnAttemptSaidOfItself();
    void timesAreReadAsTheyAreWritten();
    void resumeCutsTheSeriesBack();
    void filterSearchesAndPages();
    void settingsAreReadByTheirPath();
    void theUnendedAreThoseThatMayGoOn();
    void trashAndPurge();
    void orderAmongTrialsIsKept();
    void theTitleMayChange();
    void theSpecIsTheOneThatIsRun();
    void dataVersionTellsOfOthersWrites();
    void tenThousandTrialsAreListedQuickly();
    void eventsOfAPurgedTrialDoNotStopTheOthers();
    void unknownTrialsAreNamed();
    void missingAndNonFiniteNumbersSurvive();
    void theLastTextThatStandsIsFound();
    void evaluationsAreKept();
    void evaluationsOfDataThatChangedAreBothKept();
    void whatIsKnownOfItsDataIsKept();
    void countsStandAsFarAsTheTrialDoes();
    void evaluationsAreToldApartByTheirSplit();
};

namespace {

TrialSpec specTitled(const std::string& title) {
    TrialSpec spec;
    spec.title = title;
    return spec;
}

std::vector<std::string> linesOf(const std::vector<NumberedEvent>& events) {
    std::vector<std::string> lines;
    for (const auto& each : events) lines.push_back(toJsonLine(each.event, each.number));
    return lines;
}

struct Attempt {
    explicit Attempt(TrialStore& store)
        : trial(store.createTrial({}, folder.runs())),
          number(store.beginAttempt(trial, 0)),
          sink(store.sinkFor(trial, number)) {}
    const Folder folder;
    std::int64_t trial, number;
    std::shared_ptr<EventSink> sink;
};

}  // namespace

void tst_TrialStore::aNewTrialIsQueued() {
    const Folder folder;
    const auto store = openStore(folder.file());
    TrialSpec spec = specTitled("a first try");
    spec.batch = 64;
    spec.model.params["width"] = std::int64_t{3};
    const auto trial = store->createTrial(spec, folder.path() / "runs");
    const auto query = openQuery(folder.file());
    const auto row = query->find(trial);
    QVERIFY(row.has_value());
    QCOMPARE(row->state, std::string("queued"));
    QCOMPARE(row->title, spec.title);
    QCOMPARE(row->batch, std::int64_t{64});
    QCOMPARE(row->attempts, std::int64_t{0});
    QVERIFY(row->finishedAt.empty());
    QVERIFY(row->createdAt.ends_with("Z") && row->createdAt.size() == 24);
    QVERIFY(query->spec(trial).value() == spec);
}

void tst_TrialStore::theRunDirectoryCarriesTheTrialsNumber() {
    const Folder folder;
    const auto store = openStore(folder.file());
    const auto trial = store->createTrial({}, folder.runs());
    QCOMPARE(openQuery(folder.file())->find(trial)->runDirectory, (folder.runs() / std::to_string(trial)).string());
    QVERIFY(fs::is_directory(folder.runs() / std::to_string(trial)));
}

void tst_TrialStore::identifiersAreNotUsedTwice() {
    const Folder folder;
    const auto store = openStore(folder.file());
    const auto first = store->createTrial({}, folder.runs());
    store->deleteTrial(first, true);
    QVERIFY(store->createTrial({}, folder.runs()) > first);
}

// A history that was moved away has left folders behind; those beyond its numbers as well.
void tst_TrialStore::aFolderThatIsThereIsNobodyElses() {
    const Folder folder;
    for (const char* name : {"1", "7", "011", "-9", "notes", "99999999999999999999"})
        fs::create_directories(folder.runs() / name);
    const auto store = openStore(folder.file());
    QCOMPARE(store->createTrial({}, folder.runs()), std::int64_t{8});
    fs::create_directory(folder.runs() / "9");
    QCOMPARE(store->createTrial({}, folder.runs()), std::int64_t{10});
}

void tst_TrialStore::historiesThatShareFoldersShareNone() {
    const Folder folder;
    std::mutex mutex;
    std::multiset<std::int64_t> numbers;
    {
        std::vector<std::jthread> threads;
        for (int i = 0; i < 4; ++i) {
            threads.emplace_back([&, i] {
                const auto store = openStore(folder.path() / std::to_string(i % 2));
                for (int each = 0; each < 20; ++each) {
                    const auto trial = store->createTrial({}, folder.runs());
                    const std::lock_guard lock(mutex);
                    numbers.insert(trial);
                }
            });
        }
    }
    QCOMPARE(numbers.size(), std::size_t{80});
    QCOMPARE(std::set(numbers.begin(), numbers.end()).size(), std::size_t{80});
}

void tst_TrialStore::aRefusedTrialLeavesNoFolder() {
    const Folder folder;
    const auto store = openStore(folder.file());
    ask(folder.file(), "CREATE TRIGGER no BEFORE INSERT ON trial BEGIN SELECT raise(ABORT, 'no'); END");
    QVERIFY_EXCEPTION_THROWN(store->createTrial({}, folder.runs()), ProblemError);
    QVERIFY(fs::is_empty(folder.runs()));
    ask(folder.file(), "DROP TRIGGER no");
    std::ofstream(folder.path() / "file");
    try {
        store->createTrial({}, folder.path() / "file");
        QFAIL("a file is no place for folders");
    } catch (const ProblemError& error) {
        QCOMPARE(error.problem().code, std::string("home.unwritable"));
    }
}

void tst_TrialStore::eventsComeBackAsTheyWere() {
    const Folder folder;
    std::vector<std::string> posted;
    std::int64_t trial = 0;
    {
        const auto store = openStore(folder.file());
        Attempt attempt(*store);
        trial = attempt.trial;
        std::int64_t number = 0;
        const auto post = [&](const TrainEvent& event) {
            posted.push_back(toJsonLine(event, ++number));
            attempt.sink->post(number, event);
        };
        RunStarted started;
        started.trial = trial;
        started.deviceText = "cpu:2";
        started.devices = {"cpu:0", "cpu:1"};
        post(started);
        post(StateChanged{"running", 0});
        for (int step = 1; step <= 1300; ++step) {
            post(stepOf(step));
            if (step % 100 == 0) post(evalOf(step, 0.5 + step / 10'000.0));
        }
        post(CheckpointWritten{1300, 13, "last.safetensors", "last"});
        post(Message{"warning", {"batch", "some.code", {"1", "ü \" \\"}}});
        post(RunFinished{"finished", trial, 1300, 13, 0.9, 0.3, 0.91, 1000, 13});
    }
    const auto query = openQuery(folder.file());
    QVERIFY(linesOf(query->events(trial, 1)) == posted);
    QCOMPARE(query->lastEvent(trial), static_cast<std::int64_t>(posted.size()));
    for (const std::int64_t first : {2, 3, 50, 513, 1000, 1318}) {
        const std::vector<std::string> expected(posted.begin() + (first - 1), posted.end());
        QVERIFY(linesOf(query->events(trial, first)) == expected);
    }
    QVERIFY(query->events(trial, static_cast<std::int64_t>(posted.size()) + 1).empty());
}

// Whatever the order of step and state events, the flushes between them and the number of ranks.
void tst_TrialStore::eventsComeBackForEveryMixture() {
    const Folder folder;
    const auto store = openStore(folder.file());
    const auto query = openQuery(folder.file());
    const bool held = rc::check([&](const std::vector<std::uint8_t>& choices) {
        Attempt attempt(*store);
        std::vector<std::string> posted;
        std::int64_t number = 0;
        for (const std::uint8_t choice : choices) {
            if (choice % 8 == 0) store->flush();
            const TrainEvent event = choice % 5 == 0 ? TrainEvent(evalOf(number, 0.5))
                                                     : TrainEvent(stepOf(number + 1, choice % 16 < 12 ? 2 : 3));
            posted.push_back(toJsonLine(event, ++number));
            attempt.sink->post(number, event);
        }
        store->flush();
        RC_ASSERT(store->committedEvent(attempt.trial) == number);
        RC_ASSERT(linesOf(query->events(attempt.trial, 1)) == posted);
    });
    QVERIFY(held);
}

void tst_TrialStore::stateEventsAreCommittedOnReturn() {
    const Folder folder;
    const auto store = openStore(folder.file());
    Attempt attempt(*store);
    attempt.sink->post(1, stepOf(1));
    attempt.sink->post(2, StateChanged{"paused", 1});
    QCOMPARE(store->committedEvent(attempt.trial), std::int64_t{2});
    const auto query = openQuery(folder.file());
    QCOMPARE(query->events(attempt.trial, 1).size(), std::size_t{2});
    QCOMPARE(query->find(attempt.trial)->state, std::string("paused"));
}

void tst_TrialStore::manyStepsMakeFewChunks() {
    const Folder folder;
    const auto store = openStore(folder.file());
    Attempt attempt(*store);
    for (int step = 1; step <= 5000; ++step) {
        attempt.sink->post(step, stepOf(step));
        if (step % 37 == 0) store->flush();  // commits far more often than chunks fill up
    }
    store->flush();
    QCOMPARE(ask(folder.file(), "SELECT count(*) FROM series_chunk"), std::to_string((5000 + 511) / 512));
    const auto series = openQuery(folder.file())->series(attempt.trial, "loss");
    QCOMPARE(series.size(), std::size_t{5000});
    for (std::size_t i = 0; i < series.size(); ++i) {
        const auto expected = stepOf(static_cast<std::int64_t>(i) + 1);
        QVERIFY(series[i].step == expected.step && series[i].value == expected.loss &&
                series[i].seconds == expected.seconds);
    }
}

void tst_TrialStore::eventsShapeTheTrialsRow() {
    const Folder folder;
    const auto store = openStore(folder.file());
    Attempt attempt(*store);
    const auto query = openQuery(folder.file());
    attempt.sink->post(1, stepOf(250));
    attempt.sink->post(2, evalOf(250, 0.8, 0.2));
    attempt.sink->post(3, evalOf(300, 0.7, 0.3));
    auto row = *query->find(attempt.trial);
    QCOMPARE(row.step, std::int64_t{300});
    QCOMPARE(*row.bestAccuracy, 0.8);
    QCOMPARE(*row.testAccuracy, 0.7);
    QCOMPARE(*row.lowestTestLoss, 0.2);
    QCOMPARE(*row.testLoss, 0.3);
    attempt.sink->post(4, RunFinished{"stopped", attempt.trial, 310, 4, 0.75, 0.4, 0.8, 999, 3.5});
    row = *query->find(attempt.trial);
    QCOMPARE(row.state, std::string("stopped"));
    QVERIFY(!row.finishedAt.empty());
    QCOMPARE(*row.samplesPerSecond, 999.0);
    QCOMPARE(*row.testAccuracy, 0.75);
    QCOMPARE(query->series(attempt.trial, "test_accuracy").size(), std::size_t{2});
    const auto metrics = query->metrics(attempt.trial);
    for (const char* name : {"loss", "compute.0", "wait.1", "test_accuracy", "test_loss"}) {
        QVERIFY2(std::find(metrics.begin(), metrics.end(), name) != metrics.end(), name);
    }
    QVERIFY(std::find(metrics.begin(), metrics.end(), "test_accuracy5") == metrics.end());
}

// A column that rows do not read, or a field that no column keeps, is named; failures, specs and what is known of the
// data have their own readers.
void tst_TrialStore::everyColumnIsOfTheRow() {
    const Folder folder;
    QVERIFY(openStore(folder.file()));
    std::set<std::string> read, keys;
    for (const RowColumn& each : rowColumns()) {
        QVERIFY2(read.emplace(each.name).second, each.name.data());
        QVERIFY2(keys.emplace(each.key).second, each.key.data());
    }
    for (const char* name : {"spec_json", "started_at", "failure_kind", "failure_where", "failure_what", "failure_rank",
                             "trained_on", "fingerprint"})
        QVERIFY2(read.emplace(name).second, name);
    std::string names;
    for (const std::string& each : read) names += each + ' ';
    QCOMPARE(
        ask(folder.file(),
            "SELECT group_concat(name || ' ', '') FROM (SELECT name FROM pragma_table_info('trial') ORDER BY name)"),
        names);
}

void tst_TrialStore::aFailureIsKept() {
    const Folder folder;
    const auto store = openStore(folder.file());
    Attempt attempt(*store);
    attempt.sink->post(1, RunFailed{"out-of-memory", "conv2d block3/conv1 on cpu:1", "no 3 GiB", 1, 17});
    const auto row = *openQuery(folder.file())->find(attempt.trial);
    QCOMPARE(row.state, std::string("failed"));
    QCOMPARE(row.failure, std::string("out-of-memory in conv2d block3/conv1 on cpu:1 (rank 1): no 3 GiB"));
    QCOMPARE(openQuery(folder.file())->failure(attempt.trial)->step, std::int64_t{17});
}

void tst_TrialStore::aProblemIsKeptWhole() {
    const Folder folder;
    const auto store = openStore(folder.file());
    Attempt attempt(*store);
    const Problem problem{"batch", "spec.batch-too-large", {"512", "mine, and yours", "100"}};
    attempt.sink->post(1, failureFrom(problem));
    const auto query = openQuery(folder.file());
    QVERIFY(problemIn(*query->failure(attempt.trial)) == problem);
    QVERIFY(!query->failure(attempt.trial + 1));
    store->beginAttempt(attempt.trial, 0);
    QVERIFY(!query->failure(attempt.trial));
}

// Of the latest attempt, the last world of it.
void tst_TrialStore::whatAnAttemptSaidOfItself() {
    const Folder folder;
    const auto store = openStore(folder.file());
    Attempt attempt(*store);
    const auto query = openQuery(folder.file());
    QVERIFY(!query->started(attempt.trial));
    RunStarted started;
    for (const std::int64_t samples : {100, 200}) {
        started.trainSamples = samples;
        attempt.sink->post(samples, started);
    }
    QCOMPARE(query->started(attempt.trial)->trainSamples, std::int64_t{200});
    QVERIFY(!query->started(attempt.trial + 1));
    store->beginAttempt(attempt.trial, 0);
    QVERIFY(!query->started(attempt.trial));
}

void tst_TrialStore::timesAreReadAsTheyAreWritten() {
    using namespace std::chrono;
    const auto when = system_clock::time_point(seconds(1'795'178'997) + milliseconds(471));
    QCOMPARE(utcText(when), std::string("2026-11-20T12:49:57.471Z"));
    QCOMPARE(*utcSeconds(utcText(when)), std::time_t{1'795'178'997});
    QCOMPARE(*utcSeconds("1970-01-02T00:00:00Z"), std::time_t{86'400});
    for (const char* none : {"", "yesterday", "2026-11-20"}) QVERIFY2(!utcSeconds(none), none);
}

void tst_TrialStore::resumeCutsTheSeriesBack() {
    const Folder folder;
    const auto store = openStore(folder.file());
    Attempt first(*store);
    std::int64_t number = 0;
    for (int step = 1; step <= 1000; ++step) {
        first.sink->post(++number, stepOf(step));
        if (step % 200 == 0) first.sink->post(++number, evalOf(step, step / 1000.0, 1 - step / 1000.0));
    }
    first.sink->post(++number, RunFailed{"io", "", "", -1, 1000});
    QCOMPARE(store->beginAttempt(first.trial, 650), std::int64_t{2});
    const auto query = openQuery(folder.file());
    QCOMPARE(query->series(first.trial, "accuracy").size(), std::size_t{650});
    QCOMPARE(query->series(first.trial, "accuracy").back().step, std::int64_t{650});
    QCOMPARE(query->series(first.trial, "test_accuracy").size(), std::size_t{3});
    auto row = *query->find(first.trial);
    QCOMPARE(row.attempts, std::int64_t{2});
    QCOMPARE(row.step, std::int64_t{650});
    QCOMPARE(*row.bestAccuracy, 0.6);
    QCOMPARE(*row.lowestTestLoss, 0.4);
    QVERIFY(row.failure.empty() && row.finishedAt.empty());
    QVERIFY(query->events(first.trial, 1).empty());  // the new attempt has said nothing yet
    QCOMPARE(query->lastEvent(first.trial), number);

    const auto second = store->sinkFor(first.trial, 2);
    for (int step = 651; step <= 800; ++step) second->post(++number, stepOf(step));
    second->post(++number, evalOf(800, 0.7, 0.3));
    const auto series = query->series(first.trial, "loss");
    QCOMPARE(series.size(), std::size_t{800});
    for (std::size_t i = 0; i < series.size(); ++i) QCOMPARE(series[i].step, static_cast<std::int64_t>(i) + 1);
    QCOMPARE(query->series(first.trial, "test_accuracy").size(), std::size_t{4});
    QCOMPARE(query->events(first.trial, 1).size(), std::size_t{151});
    QCOMPARE(store->beginAttempt(first.trial, 850), std::int64_t{3});
    QCOMPARE(*query->find(first.trial)->bestAccuracy, 0.7);  // not the 0.8 that the second attempt took back
    QCOMPARE(*query->find(first.trial)->lowestTestLoss, 0.3);
    QCOMPARE(store->beginAttempt(first.trial, 0), std::int64_t{4});
    QVERIFY(query->series(first.trial, "loss").empty());
}

void tst_TrialStore::filterSearchesAndPages() {
    const Folder folder;
    const auto store = openStore(folder.file());
    store->createTrial(specTitled("half_baked 50%"), folder.runs());
    store->createTrial(specTitled("Something else"), folder.runs());
    const auto last = store->createTrial(specTitled("halfxbaked 50"), folder.runs());
    store->setNote(last, "the lucky one");
    const auto query = openQuery(folder.file());
    QCOMPARE(query->list({}).size(), std::size_t{3});
    QCOMPARE(query->list({}).front().id, last);
    QCOMPARE(query->list({"", false, 2}).size(), std::size_t{2});
    QCOMPARE(query->list({"half_b", false, 0}).size(), std::size_t{1});
    QCOMPARE(query->list({"50%", false, 0}).size(), std::size_t{1});
    QCOMPARE(query->list({"something", false, 0}).size(), std::size_t{1});
    QCOMPARE(query->list({"lucky", false, 0}).size(), std::size_t{1});
    QCOMPARE(query->list({"fashion", false, 0}).size(), std::size_t{3});
    QCOMPARE(query->list({"'; DROP TABLE trial; --", false, 0}).size(), std::size_t{0});
}

void tst_TrialStore::settingsAreReadByTheirPath() {
    const Folder folder;
    const auto store = openStore(folder.file());
    TrialSpec spec;
    spec.optimizer.params = {{"momentum", 0.5}, {"nesterov", true}};
    spec.batch = 48;
    const auto first = store->createTrial(spec, folder.runs()), plain = store->createTrial({}, folder.runs());
    const auto query = openQuery(folder.file());
    using Values = std::unordered_map<std::int64_t, ParamValue>;
    const std::vector<std::string> paths = {"optimizer.momentum", "optimizer.nesterov", "optimizer", "batch",
                                            "dataset.path"};
    for (const auto& path : paths) {
        Values expected;
        for (const auto trial : {first, plain}) {
            if (const auto value = readSetting(query->spec(trial).value(), path)) expected.emplace(trial, *value);
        }
        QVERIFY2(query->settings(path) == expected, path.c_str());
    }
    QCOMPARE(query->settings("optimizer.momentum"), (Values{{first, 0.5}}));
    for (const char* none : {"", "augmentation", "nobody.has", "optimizer.\"", "optimizer.momentum.0"})
        QVERIFY2(query->settings(none).empty(), none);
}

void tst_TrialStore::theUnendedAreThoseThatMayGoOn() {
    const Folder folder;
    const auto store = openStore(folder.file());
    const auto query = openQuery(folder.file());
    for (int value = 0; value <= static_cast<int>(RunState::Crashed); ++value) {
        const auto state = static_cast<RunState>(value);
        Attempt attempt(*store);
        attempt.sink->post(1, StateChanged{std::string(text(state)), 0});
        const auto unended = query->list({.unended = true});
        const bool listed = !unended.empty() && unended.front().id == attempt.trial;
        QVERIFY2(listed == !isFinal(state), std::string(text(state)).c_str());
    }
}

void tst_TrialStore::trashAndPurge() {
    const Folder folder;
    const auto store = openStore(folder.file());
    Attempt attempt(*store);
    attempt.sink->post(1, stepOf(1));
    attempt.sink->post(2, evalOf(1, 0.5));
    const auto query = openQuery(folder.file());
    store->deleteTrial(attempt.trial, false);
    QVERIFY(query->list({}).empty());
    QCOMPARE(query->list({"", true, 0}).size(), std::size_t{1});
    store->restoreTrial(attempt.trial);
    QCOMPARE(query->list({}).size(), std::size_t{1});
    store->deleteTrial(attempt.trial, true);
    QVERIFY(!query->find(attempt.trial).has_value());
    for (const char* table : {"attempt", "event", "series_chunk", "series_value"}) {
        QCOMPARE(ask(folder.file(), std::string("SELECT count(*) FROM ") + table), std::string("0"));
    }
}

void tst_TrialStore::orderAmongTrialsIsKept() {
    const Folder folder;
    const auto store = openStore(folder.file());
    const auto plain = store->createTrial({}, folder.runs()), marked = store->createTrial({}, folder.runs());
    store->setStar(marked, true);
    store->setArchived(marked, true);
    store->setTags(marked, {"thesis", "", "baseline", "thesis"});
    const auto query = openQuery(folder.file());
    const auto row = *query->find(marked);
    QVERIFY(row.star && row.archived);
    QVERIFY((row.tags == std::vector<std::string>{"baseline", "thesis"}));
    QVERIFY(!query->find(plain)->star && query->find(plain)->tags.empty());
    const auto rows = query->list({});
    QCOMPARE(rows.size(), std::size_t{2});
    QVERIFY(rows.front() == row && rows.back().tags.empty());
    QCOMPARE(query->list({.archived = true}).size(), std::size_t{1});
    QCOMPARE(query->list({.archived = false}).front().id, plain);
    store->setTags(marked, {"thesis"});
    QCOMPARE(query->find(marked)->tags.size(), std::size_t{1});
    store->deleteTrial(marked, true);
    QCOMPARE(ask(folder.file(), "SELECT count(*) FROM trial_tag"), std::string("0"));
}

void tst_TrialStore::theTitleMayChange() {
    const Folder folder;
    const auto store = openStore(folder.file());
    const auto trial = store->createTrial(specTitled("first"), folder.runs());
    store->setTitle(trial, "second");
    const auto query = openQuery(folder.file());
    QCOMPARE(query->find(trial)->title, std::string("second"));
    QCOMPARE(query->spec(trial).value().title, std::string("second"));
}

// Devices named "auto" when the trial was made are what they were found to be.
void tst_TrialStore::theSpecIsTheOneThatIsRun() {
    const Folder folder;
    const auto store = openStore(folder.file());
    auto spec = specTitled("as accepted");
    spec.devices = "auto";
    const auto trial = store->createTrial(spec, "/runs");
    store->setTitle(trial, "renamed");
    spec.devices = "cpu:1";
    store->setSpec(trial, spec);
    const auto query = openQuery(folder.file());
    QCOMPARE(query->find(trial)->devices, std::string("cpu:1"));
    QCOMPARE(query->spec(trial).value().devices, std::string("cpu:1"));
    QCOMPARE(query->find(trial)->title, std::string("renamed"));
}

void tst_TrialStore::dataVersionTellsOfOthersWrites() {
    const Folder folder;
    const auto store = openStore(folder.file());
    const auto trial = store->createTrial({}, folder.runs());
    const auto query = openQuery(folder.file());
    const auto before = query->dataVersion();
    (void)query->list({});
    QCOMPARE(query->dataVersion(), before);
    store->setNote(trial, "x");
    QVERIFY(query->dataVersion() != before);
}

void tst_TrialStore::tenThousandTrialsAreListedQuickly() {
    const Folder folder;
    makeHistory(folder.file(), {10'000, 0, 1});
    const auto query = openQuery(folder.file());
    QElapsedTimer timer;
    timer.start();
    const auto rows = query->list({});
    qInfo("%zu rows in %lld ms", rows.size(), static_cast<long long>(timer.elapsed()));
    QVERIFY(rows.size() > 9'000);
    timer.restart();
    QCOMPARE(query->settings("learning_rate").size(), rows.size() + query->list({.deleted = true}).size());
    qInfo("a setting of each in %lld ms", static_cast<long long>(timer.elapsed()));
    QVERIFY(std::any_of(rows.begin(), rows.end(), [](const TrialRow& row) { return !row.tags.empty(); }));
}

void tst_TrialStore::eventsOfAPurgedTrialDoNotStopTheOthers() {
    const Folder folder;
    const auto store = openStore(folder.file());
    std::vector<std::string> troubles;
    store->onTrouble([&](const Problem& problem) { troubles.push_back(problem.code); });
    Attempt gone(*store), stays(*store);
    gone.sink->post(1, stepOf(1));
    store->flush();
    store->deleteTrial(gone.trial, true);
    for (int step = 2; step <= 20; ++step) {
        gone.sink->post(step, stepOf(step));
        stays.sink->post(step - 1, stepOf(step - 1));
    }
    gone.sink->post(21, StateChanged{"running", 20});
    stays.sink->post(20, StateChanged{"running", 19});
    QCOMPARE(openQuery(folder.file())->events(stays.trial, 1).size(), std::size_t{20});
    QVERIFY(troubles == std::vector<std::string>{"history.refused"});
}

void tst_TrialStore::unknownTrialsAreNamed() {
    const Folder folder;
    const auto store = openStore(folder.file());
    const auto codeOf = [](auto&& work) -> std::string {
        try {
            work();
        } catch (const ProblemError& error) {
            return error.problem().code + " " + error.problem().args.front();
        }
        return "";
    };
    const std::string expected = "history.no-such-trial 42";
    QCOMPARE(codeOf([&] { store->setNote(42, "x"); }), expected);
    QCOMPARE(codeOf([&] { store->setTitle(42, "x"); }), expected);
    QCOMPARE(codeOf([&] { store->setTags(42, {"x"}); }), expected);
    QCOMPARE(codeOf([&] { store->setStar(42, true); }), expected);
    QCOMPARE(codeOf([&] { store->setArchived(42, true); }), expected);
    QCOMPARE(codeOf([&] { store->setState(42, RunState::Running); }), expected);
    QCOMPARE(codeOf([&] { store->beginAttempt(42, 0); }), expected);
    QCOMPARE(codeOf([&] { store->deleteTrial(42, true); }), expected);
    const auto query = openQuery(folder.file());
    QCOMPARE(query->spec(42).problems().front().code, std::string("history.no-such-trial"));
    QVERIFY(query->events(42, 1).empty() && query->series(42, "loss").empty() && query->metrics(42).empty());
}

void tst_TrialStore::missingAndNonFiniteNumbersSurvive() {
    const Folder folder;
    const auto store = openStore(folder.file());
    Attempt attempt(*store);
    StepDone step = stepOf(1, 0);
    step.loss = std::numeric_limits<double>::quiet_NaN();
    step.gradientNorm = std::numeric_limits<double>::infinity();
    step.samplesPerSecond = step.loss;
    attempt.sink->post(1, step);
    EvalDone evaluation = evalOf(1, 0.25);
    evaluation.loss = step.loss;
    attempt.sink->post(2, evaluation);
    const auto query = openQuery(folder.file());
    const auto events = query->events(attempt.trial, 1);
    QCOMPARE(events.size(), std::size_t{2});
    const auto& back = std::get<StepDone>(events[0].event);
    QVERIFY(std::isnan(back.loss) && std::isinf(back.gradientNorm) && back.compute.empty());
    const auto row = *query->find(attempt.trial);
    QVERIFY(!row.testLoss.has_value() && !row.samplesPerSecond.has_value());
    QCOMPARE(*row.bestAccuracy, 0.25);
}

void tst_TrialStore::theLastTextThatStandsIsFound() {
    const Folder folder;
    const auto store = openStore(folder.file());
    Attempt attempt(*store);
    const auto query = openQuery(folder.file());
    const auto text = [&] { return query->text(attempt.trial); };
    QVERIFY(!text() && !query->text(42));
    const TextSample first{100, 1, "To be", " or\n\uFFFD"}, second{200, 2, "To be", " not"}, third{200, 2, "To be", ""};
    attempt.sink->post(1, first);
    QVERIFY(text() == first);
    attempt.sink->post(2, second);
    QVERIFY(text() == second);
    const auto resumed = store->sinkFor(attempt.trial, store->beginAttempt(attempt.trial, 150));
    QVERIFY(text() == first);  // the second was taken back
    resumed->post(3, third);
    QVERIFY(text() == third);
    store->beginAttempt(attempt.trial, 200);
    QVERIFY(text() == third);
}

void tst_TrialStore::evaluationsAreKept() {
    const Folder folder;
    auto store = openStore(folder.file());
    const auto trial = store->createTrial({}, folder.runs());
    Evaluation given;
    given.trial = trial, given.step = 40, given.epoch = 2, given.samples = 3;
    given.checkpoint = "best", given.data = "/data", given.dataset = "idx", given.split = "all",
    given.devices = "cpu:2";
    given.seconds = 0.5, given.loss = 0.25, given.accuracy = 2.0 / 3;
    given.counts = {.step = 40, .epoch = 2, .classes = 2, .cells = {0, 0, 2, 1, 0, 1}};
    given.answers = {{0, {{0, 1, -1, -1, -1}, {0.75f, 0.25f}}}, {1, {}}, {-1, {}}};
    const auto first = store->addEvaluation(given);
    Evaluation bare;
    bare.trial = trial, bare.checkpoint = "last", bare.loss = std::numeric_limits<double>::quiet_NaN();
    QVERIFY(store->addEvaluation(bare) > first);

    const auto query = openQuery(folder.file());
    const auto all = query->evaluations(trial);
    QCOMPARE(all.size(), std::size_t{2});
    QVERIFY(std::isnan(all[0].loss) && all[0].accuracy5 < 0 && all[0].counts.classes == 0);
    QVERIFY(all[1].answers.empty() && all[1].counts == given.counts && !all[1].createdAt.empty());
    const auto whole = *query->evaluation(first);
    QVERIFY(whole.answers == given.answers);
    QVERIFY(whole.trial == trial && whole.checkpoint == "best" && whole.step == 40 && whole.epoch == 2);
    QVERIFY(all[0].dataset.empty() && all[1].dataset == "idx");
    QVERIFY(whole.data == "/data" && whole.dataset == "idx" && whole.split == "all" && whole.devices == "cpu:2" &&
            whole.samples == 3);
    QVERIFY(whole.seconds == 0.5 && whole.loss == 0.25 && whole.accuracy == 2.0 / 3);
    QVERIFY(!query->evaluation(first + 9));

    given.accuracy = 1;
    const auto again = store->addEvaluation(given);
    QVERIFY(!query->evaluation(first) && query->evaluation(again)->accuracy == 1);
    const auto isApart = [&](Evaluation other) {
        const auto before = query->evaluations(trial).size();
        store->addEvaluation(other);
        return query->evaluations(trial).size() == before + 1;
    };
    for (const auto& [field, other] :
         {std::pair{&Evaluation::checkpoint, "last"}, {&Evaluation::data, "/more"}, {&Evaluation::split, "test"}}) {
        Evaluation changed = given;
        changed.*field = other;
        QVERIFY2(isApart(changed), other);
    }
    for (const auto& [field, other] : {std::pair{&Evaluation::data, "/data/"}, {&Evaluation::devices, "cpu:1"}}) {
        Evaluation changed = given;
        changed.*field = other;
        QVERIFY2(!isApart(changed), other);
        QCOMPARE(query->evaluations(trial).front().data, std::string("/data"));
    }
    for (const auto field : {&Evaluation::step, &Evaluation::epoch, &Evaluation::samples}) {
        Evaluation changed = given;
        changed.*field = 99;
        QVERIFY(isApart(changed));
    }

    given.trial = trial + 1;
    QVERIFY_EXCEPTION_THROWN(store->addEvaluation(given), ProblemError);
    store->deleteTrial(trial, true);
    QVERIFY(query->evaluations(trial).empty());
}

// One gives way where it was asked about the same samples alone; of which one nobody knows, it stays.
void tst_TrialStore::evaluationsOfDataThatChangedAreBothKept() {
    const Folder folder;
    auto store = openStore(folder.file());
    Evaluation given;
    given.trial = store->createTrial({}, folder.runs());
    given.checkpoint = "best", given.data = "/data", given.split = "test", given.samples = 10;
    const auto query = openQuery(folder.file());
    const auto kept = [&](const std::optional<DataFingerprint>& fingerprint) {
        given.fingerprint = fingerprint;
        store->addEvaluation(given);
        std::vector<std::optional<DataFingerprint>> all;
        for (const auto& each : query->evaluations(given.trial)) all.push_back(each.fingerprint);
        return all;
    };
    using All = std::vector<std::optional<DataFingerprint>>;
    const DataFingerprint then{{60, 1}, {10, 2}}, now{{60, 1}, {10, 9}}, otherTraining{{60, 7}, {10, 9}};
    QVERIFY(kept(std::nullopt) == All{std::nullopt});
    QVERIFY(kept(std::nullopt) == All{std::nullopt});
    QVERIFY(kept(then) == (All{then, std::nullopt}));
    QVERIFY(kept(now) == (All{now, then, std::nullopt}));
    QVERIFY(kept(then) == (All{then, now, std::nullopt}));
    QVERIFY(kept(otherTraining) == (All{otherTraining, then, std::nullopt}));  // the same test samples
    const auto newest = query->evaluations(given.trial).front();
    QVERIFY(query->evaluation(newest.id)->fingerprint == otherTraining);
}

void tst_TrialStore::whatIsKnownOfItsDataIsKept() {
    const Folder folder;
    auto store = openStore(folder.file());
    const auto trial = store->createTrial({}, folder.runs()), older = store->createTrial({}, folder.runs());
    const auto query = openQuery(folder.file());
    const DataKnown known{R"({"classes":["cat","dog"]})", DataFingerprint{{60, 1}, {10, 2}}};
    const DataKnown others{R"({"classes":["ant"]})", std::nullopt};
    QVERIFY(query->known(trial) == DataKnown{} && query->known(99) == DataKnown{});
    store->setKnown(trial, known);
    QVERIFY(query->known(trial) == known && query->known(older) == DataKnown{});
    Evaluation evaluation;
    evaluation.trial = trial;
    store->addEvaluation(evaluation, others);
    QVERIFY(query->known(trial) == known);  // an evaluation knows it no better than the run did
    store->setKnown(trial, others);         // a resume with other data
    QVERIFY(query->known(trial) == others);

    evaluation.trial = older;
    store->addEvaluation(evaluation);
    QVERIFY(query->known(older) == DataKnown{});
    store->addEvaluation(evaluation, known);
    QVERIFY(query->known(older) == known);
    QVERIFY_EXCEPTION_THROWN(store->setKnown(99, known), ProblemError);

    AdoptedTrial adopted;
    adopted.id = 7, adopted.known = known;
    store->adoptTrial(adopted, folder.runs() / "7");
    QVERIFY(query->known(7) == known);
}

void tst_TrialStore::countsStandAsFarAsTheTrialDoes() {
    const Folder folder;
    auto store = openStore(folder.file());
    const auto trial = store->createTrial({}, folder.runs());
    const auto write = [&](std::int64_t fromStep, std::vector<std::int64_t> steps) {
        const auto sink = store->sinkFor(trial, store->beginAttempt(trial, fromStep));
        std::int64_t number = 1;
        for (const auto step : steps) sink->post(number++, EvalCounts{.step = step, .epoch = step / 10, .classes = 2});
    };
    write(0, {10, 20, 30});
    write(20, {30, 40});
    store->flush();
    std::vector<std::int64_t> steps;
    for (const auto& each : openQuery(folder.file())->counts(trial)) steps.push_back(each.step);
    QCOMPARE(steps, (std::vector<std::int64_t>{10, 20, 30, 40}));
}

// Of a trial that holds samples out, those choose; the test comes once, at the step of the model that it judges.
void tst_TrialStore::evaluationsAreToldApartByTheirSplit() {
    const Folder folder;
    auto store = openStore(folder.file());
    const auto trial = store->createTrial({}, folder.runs());
    const auto sink = store->sinkFor(trial, store->beginAttempt(trial, 0));
    const auto evaluated = [](std::int64_t epoch, Split split, double accuracy, double loss) {
        EvalDone done;
        done.step = 10 * epoch, done.epoch = epoch, done.split = split, done.accuracy = accuracy, done.loss = loss;
        done.trainLoss = split == Split::Test ? std::numeric_limits<double>::quiet_NaN() : 0.5;
        return done;
    };
    RunStarted started;
    started.task = "image-classes", started.validationSamples = 5;
    sink->post(1, started);
    sink->post(2, evaluated(1, Split::Validation, 0.5, 2));
    sink->post(3, evaluated(2, Split::Validation, 0.75, 1));
    sink->post(4, evaluated(3, Split::Validation, 0.625, 1.5));
    store->flush();
    const auto query = openQuery(folder.file());
    QCOMPARE(query->find(trial)->bestAccuracy, std::optional(0.75));
    QVERIFY(!query->find(trial)->testAccuracy);
    sink->post(5, evaluated(2, Split::Test, 0.8125, 1.25));
    RunFinished finished{"finished", trial, 30, 3};
    finished.testAccuracy = 0.8125, finished.testLoss = 1.25, finished.bestAccuracy = 0.75;
    sink->post(6, finished);
    store->flush();

    const auto row = *query->find(trial);
    QVERIFY(row.step == 30 && row.epoch == 3 && row.chooses() == Split::Validation);
    QCOMPARE(row.validationAccuracy, std::optional(0.625));
    QCOMPARE(row.testAccuracy, std::optional(0.8125));
    QCOMPARE(best(row, *findMetric("validation_accuracy")), std::optional(0.75));
    QCOMPARE(best(row, *findMetric("test_accuracy")), std::optional(0.8125));
    QCOMPARE(best(row, *findMetric("validation_perplexity")), std::optional(std::exp(1.0)));
    QCOMPARE(newest(row, *findMetric("validation_loss")), std::optional(1.5));
    QCOMPARE(query->series(trial, "validation_accuracy").size(), std::size_t{3});
    QCOMPARE(query->series(trial, "train_loss").size(), std::size_t{3});
    const auto tests = query->series(trial, "test_accuracy");
    QVERIFY(tests.size() == 1 && tests[0].step == 20 && tests[0].value == 0.8125);
    QCOMPARE(query->bestEpochs(trial), (std::vector<std::int64_t>{2, 3, 1}));
    const auto metrics = query->metrics(trial);
    QVERIFY(std::ranges::count(metrics, "validation_loss") == 1 && std::ranges::count(metrics, "test_loss") == 1);

    // Taken back to the first epoch, its best is that epoch's.
    store->beginAttempt(trial, 10);
    QCOMPARE(query->find(trial)->bestAccuracy, std::optional(0.5));
}

QTEST_APPLESS_MAIN(tst_TrialStore)
#include "tst_trial_store.moc"
