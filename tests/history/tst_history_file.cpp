#include <QtTest>
#include <barrier>
#include <fstream>
#include <iterator>
#include <mutex>
#include <random>
#include <set>
#include <span>
#include <thread>

#include "engine/history/database.h"
#include "tests/history/history_support.h"

using namespace lockstep;
using namespace lockstep::test;
namespace fs = std::filesystem;

// The file itself: versions, migrations, and whatever else may lie at its place.
class tst_HistoryFile : public QObject {
    Q_OBJECT
private slots:
    void migrationsAreNumberedWithoutGaps();
    void aFreshFileIsAHistory();
    void aFreshFileMayBeOpenedByAllAtOnce();
    void anOlderFileIsMigratedWithItsRows();
    void aHistoryOfTheFirstVersionIsReadAfterwards();
    void evaluationsOfBeforeTheirDatasetWasKept();
    void trialsOfBeforeTheirDataWereKnown();
    void aFailedMigrationChangesNothing();
    void processesMayMigrateAtOnce();
    void aNewerFileIsRefusedUntouched();
    void otherFilesAreRefusedUntouched();
    void aTruncatedFileIsAProblem();
    void flippedBytesNeverCrash();
    void damageInALargeFileIsFound();
    void absentAndImpossiblePlaces();
};

namespace {

std::string bytesOf(const fs::path& file) {
    std::ifstream in(file, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
}

void put(const fs::path& file, const std::string& bytes) {
    std::ofstream(file, std::ios::binary | std::ios::trunc) << bytes;
}

std::size_t filesOf(const fs::path& folder) {
    return static_cast<std::size_t>(std::count_if(fs::directory_iterator(folder), fs::directory_iterator(),
                                                  [](const auto& each) { return each.is_regular_file(); }));
}

template <class T>
std::string codeOf(const Result<T>& result) {
    return result.ok() ? "" : result.problems().front().code;
}

void fillHistory(const fs::path& file) {
    const auto store = openStore(file);
    for (int i = 0; i < 3; ++i) {
        const auto trial = store->createTrial({}, file.parent_path() / "runs");
        const auto sink = store->sinkFor(trial, store->beginAttempt(trial, 0));
        for (int step = 1; step <= 700; ++step) sink->post(step, stepOf(step));
        sink->post(701, evalOf(700, 0.5));
    }
}

// Reads all that a window would; problems are fine, anything else is not.
void readEverything(const fs::path& file) {
    try {
        const auto query = openQuery(file);
        if (!query) return;
        for (const auto& row : query->list({})) {
            (void)query->spec(row.id);
            query->events(row.id, 1);
            for (const auto& metric : query->metrics(row.id)) {
                query->series(row.id, metric);
                query->decimatedSeries(row.id, metric, 100);
                query->evaluationSeries(std::span(&row.id, 1), metric);
            }
        }
    } catch (const ProblemError&) {
    }
}

std::vector<Migration> withSecond(const char* sql) {
    std::vector<Migration> steps(migrations().begin(), migrations().end());
    steps.push_back({static_cast<int>(steps.size()) + 1, sql});
    return steps;
}

}  // namespace

void tst_HistoryFile::migrationsAreNumberedWithoutGaps() {
    int expected = 0;
    for (const auto& each : migrations()) QCOMPARE(each.version, ++expected);
    QVERIFY(expected >= 1);
}

void tst_HistoryFile::aFreshFileIsAHistory() {
    const Folder folder;
    QVERIFY(openStore(folder.file()) != nullptr);
    QCOMPARE(ask(folder.file(), "PRAGMA application_id"), std::to_string(kHistoryApplicationId));
    QCOMPARE(ask(folder.file(), "PRAGMA user_version"), std::to_string(migrations().size()));
    QCOMPARE(ask(folder.file(), "PRAGMA journal_mode"), std::string("wal"));
    QCOMPARE(filesOf(folder.path()), std::size_t{1});
    put(folder.path() / "empty", "");
    QVERIFY(openStore(folder.path() / "empty") != nullptr);
}

// Whoever looks while another makes the history finds none yet, or all of it; never another program's file.
void tst_HistoryFile::aFreshFileMayBeOpenedByAllAtOnce() {
    constexpr int kRounds = 200;
    std::mutex mutex;
    std::multiset<std::string> codes;
    for (int round = 0; round < kRounds; ++round) {
        const Folder folder;
        std::barrier start(6);
        std::vector<std::jthread> threads;
        for (int i = 0; i < 6; ++i) {
            threads.emplace_back([&, i] {
                start.arrive_and_wait();
                std::this_thread::sleep_for(std::chrono::microseconds(round * 37 * i % 4000));
                const bool reads = i % 3 == 2;
                const std::string code =
                    reads ? codeOf(TrialQuery::open(folder.file())) : codeOf(TrialStore::open(folder.file()));
                const std::lock_guard lock(mutex);
                if (!code.empty() && !(reads && code == "history.absent")) codes.insert(code);
            });
        }
    }
    QVERIFY2(codes.empty(), codes.empty() ? "" : codes.begin()->c_str());
}

void tst_HistoryFile::anOlderFileIsMigratedWithItsRows() {
    const Folder folder;
    fillHistory(folder.file());
    const auto steps = withSecond("ALTER TABLE trial ADD COLUMN colour TEXT NOT NULL DEFAULT 'blue'");
    try {
        openForReading(folder.file(), steps);
        QFAIL("an older history must not be read as a newer one");
    } catch (const ProblemError& error) {
        QCOMPARE(error.problem().code, std::string("history.older"));
    }
    openForWriting(folder.file(), steps);
    QCOMPARE(ask(folder.file(), "SELECT group_concat(id || colour) FROM trial"), std::string("1blue,2blue,3blue"));
    QCOMPARE(ask(folder.file(), "PRAGMA user_version"), std::to_string(steps.size()));
    openForWriting(folder.file(), steps);  // once is enough
    QCOMPARE(codeOf(TrialStore::open(folder.file())), std::string("history.newer"));
}

void tst_HistoryFile::aHistoryOfTheFirstVersionIsReadAfterwards() {
    const Folder folder;
    openForWriting(folder.file(), migrations().first(1));
    ask(folder.file(),
        "INSERT INTO trial (title, state, spec_json, dataset, model, devices, batch, epochs, learning_rate, created_at,"
        " run_directory) VALUES ('old', 'finished', '{}', 'd', 'm', 'cpu:1', 1, 1, 0.1, '', '')");
    ask(folder.file(),
        "INSERT INTO attempt (trial, number, from_step, started_at) VALUES (1, 1, 0, ''), (1, 2, 15, '')");
    ask(folder.file(),
        "INSERT INTO event (trial, attempt, number, kind, step, json) VALUES"
        " (1, 1, 1, 'eval_done', 10, '{\"loss\":0.5}'), (1, 1, 2, 'eval_done', 20, '{\"loss\":0.25}'),"
        " (1, 2, 3, 'eval_done', 20, '{\"loss\":0.75}')");
    QCOMPARE(codeOf(TrialQuery::open(folder.file())), std::string("history.older"));
    const auto store = openStore(folder.file());
    const auto row = *openQuery(folder.file())->find(1);
    QCOMPARE(row.title, std::string("old"));
    QVERIFY(!row.star && !row.archived && row.tags.empty());
    QCOMPARE(*row.lowestTestLoss, 0.5);  // not what the second attempt took back
    store->setTags(1, {"kept"});
    QCOMPARE(openQuery(folder.file())->find(1)->tags.size(), std::size_t{1});
}

// As far as it can be told: by an id, or by the trial's own path.
void tst_HistoryFile::evaluationsOfBeforeTheirDatasetWasKept() {
    const Folder folder;
    openForWriting(folder.file(), migrations().first(4));
    const auto addTrial = [&](const std::string& spec) {
        ask(folder.file(),
            "INSERT INTO trial (title, state, spec_json, dataset, model, devices, batch, epochs, learning_rate,"
            " created_at, run_directory) VALUES ('old', 'finished', '" +
                spec + "', 'image-folder', 'm', 'cpu:1', 1, 1, 0.1, '', '')");
    };
    addTrial("{\"dataset\":{\"id\":\"image-folder\",\"path\":\"/own\"}}");
    addTrial("no json");
    const auto addEvaluation = [&](const char* trial, const std::string& data) {
        QCOMPARE(ask(folder.file(), std::string("INSERT INTO evaluation (trial, created_at, checkpoint, step, epoch,"
                                                " data, split, devices, samples, seconds, counts_json, answers)"
                                                " VALUES (") +
                                        trial + ", '', 'best', 1, 1, '" + data + "', 'test', 'cpu:1', 1, 1, '', x'')"),
                 std::string());
    };
    for (const char* data : {"/own", "/other", "fashion-mnist"}) addEvaluation("1", data);
    addEvaluation("2", "/own");
    QVERIFY(openStore(folder.file()) != nullptr);
    const auto query = openQuery(folder.file());
    const auto datasetOf = [&](std::int64_t evaluation) { return query->evaluation(evaluation)->dataset; };
    QCOMPARE(datasetOf(1), std::string("image-folder"));
    QCOMPARE(datasetOf(2), std::string());
    QCOMPARE(datasetOf(3), std::string("fashion-mnist"));
    QCOMPARE(datasetOf(4), std::string());
}

// Nothing is known of them, and nothing of them is lost.
void tst_HistoryFile::trialsOfBeforeTheirDataWereKnown() {
    const Folder folder;
    openForWriting(folder.file(), migrations().first(8));
    ask(folder.file(),
        "INSERT INTO trial (title, state, spec_json, dataset, model, devices, batch, epochs, learning_rate, created_at,"
        " run_directory) VALUES ('old', 'finished', '{}', 'd', 'm', 'cpu:1', 1, 1, 0.1, '', '')");
    ask(folder.file(),
        "INSERT INTO evaluation (trial, created_at, checkpoint, step, epoch, data, split, devices, samples, seconds,"
        " counts_json, answers, dataset) VALUES (1, '', 'best', 1, 1, '/own', 'test', 'cpu:1', 1, 1, '', x'', 'idx')");
    const auto store = openStore(folder.file());
    const auto query = openQuery(folder.file());
    QVERIFY(query->known(1) == DataKnown{});
    auto evaluation = query->evaluation(1);
    QVERIFY(evaluation && !evaluation->fingerprint && evaluation->dataset == "idx");
    evaluation->fingerprint = DataFingerprint{{1, 1}, {1, 1}};
    store->addEvaluation(*evaluation);
    QCOMPARE(query->evaluations(1).size(), std::size_t{2});
}

void tst_HistoryFile::aFailedMigrationChangesNothing() {
    const Folder folder;
    fillHistory(folder.file());
    const auto steps = withSecond("ALTER TABLE trial ADD COLUMN colour TEXT; INSERT INTO no_such_table VALUES (1)");
    QVERIFY_EXCEPTION_THROWN(openForWriting(folder.file(), steps), ProblemError);
    QCOMPARE(ask(folder.file(), "SELECT count(*) FROM pragma_table_info('trial') WHERE name = 'colour'"),
             std::string("0"));
    QCOMPARE(openQuery(folder.file())->list({}).size(), std::size_t{3});
}

void tst_HistoryFile::processesMayMigrateAtOnce() {
    const auto steps = withSecond("ALTER TABLE trial ADD COLUMN colour TEXT");
    for (int round = 0; round < 5; ++round) {
        const Folder folder;
        std::atomic<int> opened{0};
        std::vector<std::jthread> threads;
        for (int i = 0; i < 4; ++i) {
            threads.emplace_back([&] {
                try {
                    openForWriting(folder.file(), steps);
                    ++opened;
                } catch (const ProblemError& error) {
                    qWarning("%s %s", error.problem().code.c_str(),
                             error.problem().args.empty() ? "" : error.problem().args[0].c_str());
                }
            });
        }
        threads.clear();
        QCOMPARE(opened.load(), 4);
    }
}

void tst_HistoryFile::aNewerFileIsRefusedUntouched() {
    const Folder folder;
    fillHistory(folder.file());
    ask(folder.file(), "PRAGMA user_version = 99");
    const auto before = bytesOf(folder.file());
    QCOMPARE(filesOf(folder.path()), std::size_t{1});
    const auto store = TrialStore::open(folder.file());
    QCOMPARE(codeOf(store), std::string("history.newer"));
    QVERIFY((store.problems().front().args == std::vector<std::string>{"99", std::to_string(migrations().size())}));
    QCOMPARE(codeOf(TrialQuery::open(folder.file())), std::string("history.newer"));
    QVERIFY(bytesOf(folder.file()) == before);
    QCOMPARE(filesOf(folder.path()), std::size_t{1});
}

void tst_HistoryFile::otherFilesAreRefusedUntouched() {
    const Folder folder;
    ask(folder.file(), "CREATE TABLE shopping (item TEXT)");
    const auto before = bytesOf(folder.file());
    QCOMPARE(codeOf(TrialStore::open(folder.file())), std::string("history.not-a-history"));
    QCOMPARE(codeOf(TrialQuery::open(folder.file())), std::string("history.not-a-history"));
    QVERIFY(bytesOf(folder.file()) == before);
    const std::string letter = "Dear reader, this is a letter and no database at all. " + std::string(5000, '.');
    put(folder.path() / "letter", letter);
    QCOMPARE(codeOf(TrialStore::open(folder.path() / "letter")), std::string("history.not-a-history"));
    QVERIFY(bytesOf(folder.path() / "letter") == letter);
}

void tst_HistoryFile::aTruncatedFileIsAProblem() {
    const Folder folder;
    fillHistory(folder.file());
    const auto whole = bytesOf(folder.file());
    QVERIFY(whole.size() > 20'000);
    const fs::path cut = folder.path() / "cut";
    for (const std::size_t size : {std::size_t{1}, std::size_t{16}, std::size_t{99}, std::size_t{100},
                                   std::size_t{4095}, std::size_t{4096}, whole.size() / 2, whole.size() - 4096}) {
        put(cut, whole.substr(0, size));
        const auto store = codeOf(TrialStore::open(cut));
        QVERIFY2(store == "history.corrupt" || store == "history.not-a-history",
                 (std::to_string(size) + store).c_str());
        const auto query = codeOf(TrialQuery::open(cut));
        QVERIFY2(query == "history.corrupt" || query == "history.not-a-history",
                 (std::to_string(size) + query).c_str());
        QCOMPARE(fs::file_size(cut), size);
    }
}

void tst_HistoryFile::flippedBytesNeverCrash() {
    const Folder folder;
    fillHistory(folder.file());
    const auto whole = bytesOf(folder.file());
    const fs::path damaged = folder.path() / "damaged";
    std::mt19937 random(11);
    for (int round = 0; round < 60; ++round) {
        auto bytes = whole;
        for (int i = 0; i < 4; ++i) bytes[16 + random() % (bytes.size() - 16)] = static_cast<char>(random());
        put(damaged, bytes);
        readEverything(damaged);
        if (auto store = TrialStore::open(damaged); store.ok()) {
            try {
                const auto trial = store.value()->createTrial({}, folder.runs());
                store.value()->beginAttempt(trial, 0);
                store.value()->beginAttempt(1, 300);
            } catch (const ProblemError&) {
            }
        }
        for (const char* companion : {"-wal", "-shm"}) fs::remove(damaged.string() + companion);
    }
}

// Larger than what is read through at each opening.
void tst_HistoryFile::damageInALargeFileIsFound() {
    const Folder folder;
    fillHistory(folder.file());
    ask(folder.file(),
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 30000)"
        " INSERT INTO event SELECT 1, 1, 10000 + i, 'message', 0, hex(randomblob(400)) FROM n");
    QVERIFY(!openQuery(folder.file())->damage());
    auto bytes = bytesOf(folder.file());
    QVERIFY(bytes.size() > (20u << 20));
    std::mt19937 random(3);
    for (int i = 0; i < 2000; ++i) bytes[(1u << 20) + random() % (bytes.size() - (1u << 20))] ^= 4;
    put(folder.file(), bytes);
    const auto query = TrialQuery::open(folder.file());
    QVERIFY2(query.ok(), "opening does not read it through");
    QCOMPARE(query.value()->damage()->code, std::string("history.corrupt"));
}

void tst_HistoryFile::absentAndImpossiblePlaces() {
    const Folder folder;
    QCOMPARE(codeOf(TrialQuery::open(folder.file())), std::string("history.absent"));
    QVERIFY(!fs::exists(folder.file()));
    QCOMPARE(codeOf(TrialStore::open(folder.path() / "no" / "such" / "folder.sqlite")),
             std::string("history.unwritable"));
    QCOMPARE(codeOf(TrialStore::open(folder.path())), std::string("history.unwritable"));
    const fs::path strange = folder.path() / "100% of ä?#.sqlite";
    QVERIFY(openStore(strange)->createTrial({}, folder.runs()) == 1);
    QCOMPARE(openQuery(strange)->list({}).size(), std::size_t{1});
}

QTEST_APPLESS_MAIN(tst_HistoryFile)
#include "tst_history_file.moc"
