#include <QtTest>
#include <algorithm>
#include <cmath>
#include <limits>

#include "tests/history/history_support.h"

using namespace lockstep;
using namespace lockstep::test;

class tst_KeptEvaluations : public QObject {
    Q_OBJECT
private slots:
    void evaluationsAreKept();
    void evaluationsOfDataThatChangedAreBothKept();
    void whatIsKnownOfItsDataIsKept();
    void countsStandAsFarAsTheTrialDoes();
    void evaluationsAreToldApartByTheirSplit();
};

void tst_KeptEvaluations::evaluationsAreKept() {
    const Folder folder;
    auto store = openStore(folder.file());
    const auto trial = store->createTrial({}, folder.runs());
    Evaluation given;
    given.trial = trial, given.step = 40, given.epoch = 2, given.samples = 3;
    given.checkpoint = "best", given.data = "/data", given.dataset = "idx", given.split = "all",
    given.devices = "cpu:2", given.precision = "bf16";
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
    QVERIFY(all[0].precision.empty() && all[1].precision == "bf16" && whole.precision == "bf16");
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
    for (const auto& [field, other] : {std::pair{&Evaluation::checkpoint, "last"},
                                       {&Evaluation::data, "/more"},
                                       {&Evaluation::split, "test"},
                                       {&Evaluation::precision, "fp32"}}) {
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
void tst_KeptEvaluations::evaluationsOfDataThatChangedAreBothKept() {
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

void tst_KeptEvaluations::whatIsKnownOfItsDataIsKept() {
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

void tst_KeptEvaluations::countsStandAsFarAsTheTrialDoes() {
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
void tst_KeptEvaluations::evaluationsAreToldApartByTheirSplit() {
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

QTEST_APPLESS_MAIN(tst_KeptEvaluations)
#include "tst_kept_evaluations.moc"
