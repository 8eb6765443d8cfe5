#include <QtTest>
#include <filesystem>
#include <fstream>
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
    void aNewTrialIsQueued();
    void theRunDirectoryCarriesTheTrialsNumber();
    void identifiersAreNotUsedTwice();
    void aFolderThatIsThereIsNobodyElses();
    void historiesThatShareFoldersShareNone();
    void aRefusedTrialLeavesNoFolder();
    void everyColumnIsOfTheRow();
    void filterSearchesAndPages();
    void settingsAreReadByTheirPath();
    void theUnendedAreThoseThatMayGoOn();
    void trashAndPurge();
    void timesAreReadAsTheyAreWritten();
    void orderAmongTrialsIsKept();
    void theTitleMayChange();
    void theSpecIsTheOneThatIsRun();
    void dataVersionTellsOfOthersWrites();
    void tenThousandTrialsAreListedQuickly();
    void unknownTrialsAreNamed();
};

namespace {

TrialSpec specTitled(const std::string& title) {
    TrialSpec spec;
    spec.title = title;
    return spec;
}

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
        FirstAttempt attempt(*store);
        attempt.sink->post(1, StateChanged{std::string(text(state)), 0});
        const auto unended = query->list({.unended = true});
        const bool listed = !unended.empty() && unended.front().id == attempt.trial;
        QVERIFY2(listed == !isFinal(state), std::string(text(state)).c_str());
    }
}

void tst_TrialStore::trashAndPurge() {
    const Folder folder;
    const auto store = openStore(folder.file());
    FirstAttempt attempt(*store);
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

void tst_TrialStore::timesAreReadAsTheyAreWritten() {
    using namespace std::chrono;
    const auto when = system_clock::time_point(seconds(1'795'178'997) + milliseconds(471));
    QCOMPARE(utcText(when), std::string("2026-11-20T12:49:57.471Z"));
    QCOMPARE(*utcSeconds(utcText(when)), std::time_t{1'795'178'997});
    QCOMPARE(*utcSeconds("1970-01-02T00:00:00Z"), std::time_t{86'400});
    for (const char* none : {"", "yesterday", "2026-11-20"}) QVERIFY2(!utcSeconds(none), none);
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

QTEST_APPLESS_MAIN(tst_TrialStore)
#include "tst_trial_store.moc"
