#include <QRegularExpression>
#include <QSvgRenderer>
#include <QtTest>
#include <cmath>

#include "engine/core/printable.h"
#include "engine/report/sweep_axis.h"
#include "engine/report/sweep_chart.h"
#include "engine/report/sweep_sections.h"
#include "engine/spec/metric_text.h"
#include "tests/report/hostile_text.h"
#include "tests/report/made_sweep.h"

using namespace lockstep;
using namespace lockstep::report;
using test::madeSweep;

namespace {

QString htmlText(const SweepFacts& facts) { return QString::fromStdString(htmlOf(sweepReport(facts))); }

bool has(const SweepFacts& facts, const char* words) { return htmlText(facts).contains(words); }

// The texts of a report's dense table, by row.
QVector<QStringList> cellRows(const QString& html) {
    static const QRegularExpression table("<table class=\"d\">(.*?)</table>",
                                          QRegularExpression::DotMatchesEverythingOption);
    QVector<QStringList> rows;
    for (auto each = table.globalMatch(html); each.hasNext();) {
        for (const QString& row : each.next().captured(1).split("<tr>").mid(2)) {
            rows.append(QStringList());
            static const QRegularExpression cell("<td[^>]*>(.*?)</td>");
            for (auto it = cell.globalMatch(row); it.hasNext();) rows.back() << it.next().captured(1);
        }
    }
    return rows;
}

std::vector<std::string> picturesOf(const SweepFacts& facts) {
    std::vector<std::string> all;
    for (const Figure& each : figuresOf(sweepReport(facts))) all.push_back(each.svg);
    return all;
}

std::string pictureNamed(const SweepFacts& facts, const std::string& name) {
    for (const Figure& each : figuresOf(sweepReport(facts)))
        if (each.name == name) return each.svg;
    return {};
}

ReportedCell cellOf(std::vector<ReportedTrial> trials) {
    ReportedCell cell{.number = 0, .trials = std::move(trials)};
    cell.mean = std::nan("");
    return cell;
}

ReportedTrial trialOf(RunState state, std::optional<double> value) {
    ReportedTrial trial{.trial = 1, .state = state};
    trial.value = value;
    return trial;
}

const Metric& accuracy() { return *findMetric("validation_accuracy"); }
const Metric& loss() { return *findMetric("validation_loss"); }

int times(const std::string& text, const char* part) {
    return static_cast<int>(QString::fromStdString(text).count(part));
}

// Four cells at two rungs of one and three epochs: by hand, with losses that accuracies stand for.
SweepFacts climbed() {
    SweepFacts facts = madeSweep(4, 2, 1);
    facts.spec.scheduler = "asha", facts.spec.trial.epochs = 3, facts.spec.reduction = 3;
    facts.climbers = {
        {0, {-0.5, -0.6}, {0, 4}, 1}, {1, {-0.7, -0.9}, {1, 5}, 1}, {2, {-0.6, -0.7}, {2, 6}, 1}, {3, {-0.1}, {3}, 0}};
    return facts;
}

}  // namespace

// What the report of a sweep says, and that it is the facts.
class TestSweepReport : public QObject {
    Q_OBJECT
private slots:
    void everyCellHasItsRow() {
        const SweepFacts facts = madeSweep(100, 4);
        const auto rows = cellRows(htmlText(facts));
        QCOMPARE(rows.size(), 100);
        for (std::size_t rank = 0; rank < facts.ranking.size(); ++rank) {
            const ReportedCell& cell = facts.cells[facts.ranking[rank]];
            const QStringList& row = rows[static_cast<int>(rank)];
            QCOMPARE(row[1], QString::number(cell.number));
            QCOMPARE(row[2], QString::fromStdString(text(cell.settings[0].value)));
            QCOMPARE(row[5] == "–", cell.settings.size() < 4);  // adamw has no momentum
            const QString value = QString::fromStdString(metricText(accuracy(), cell.mean));
            if (cell.count > 0) {
                QCOMPARE(row[0], QString::number(rank + 1));
                QCOMPARE(row[6], value);
                QCOMPARE(row[7], QString("0.40"));
                QCOMPARE(row[8], QString("3"));
            } else {
                QVERIFY(row[0] == "–" && row[8] == "0");
                QCOMPARE(row[6].startsWith('('), cell.trials[0].value.has_value());
            }
        }
        QVERIFY(has(facts, "The other 40 cells"));
    }

    void theHeadSaysWhatCameOut() {
        const SweepFacts facts = madeSweep(60, 4);
        const QString html = htmlText(facts);
        const QString best = QString::fromStdString(resultText(facts.best(), accuracy()));
        QVERIFY(best.contains(" ± 0.40 (n 3)"));
        QVERIFY(html.contains("Its best cell came to " + best + " validation accuracy."));
        QVERIFY(html.contains("<strong>" + best + "</strong> validation accuracy: cell " +
                              QString::number(facts.best().number)));
        QVERIFY(html.contains("the highest validation accuracy") && html.contains("<code>lockstep show "));
        QVERIFY(html.contains("0.0001 to 1, logarithmic") && html.contains("0.5 to 0.99, where optimizer is sgd"));
        const QString tested = QString::fromStdString(metricText(accuracy(), facts.best().mean - 0.01));
        QVERIFY(html.contains("On the test samples, which chose nothing: " + tested + " (test accuracy, mean of 3)."));
        SweepFacts flattering = facts;
        flattering.objective = findMetric("test_accuracy"), flattering.tested = nullptr;
        QVERIFY(has(flattering, "what they say of it is too good"));
    }

    // By hand: 9 cells of 3 seeds, of which one was cut short; rungs at 1, 3 and 9 leave 9, 3 and 1 of 9 cells.
    void theBudgetIsCounted() {
        SweepFacts facts = madeSweep(9, 2);
        SweepBudget budget = budgetOf(facts);
        QCOMPARE(budget.spent, 8 * 3 * 9 + 3 * 3);
        QVERIFY(budget.planned == 243 && !budget.scheduled);
        facts.planned = 30;
        QCOMPARE(*budgetOf(facts).planned, 243 + 3 * 9);
        facts.planned = 27, facts.spec.scheduler = "asha", facts.spec.reduction = 3;
        QCOMPARE(*budgetOf(facts).scheduled, 3 * (9 * 1 + 3 * 2 + 1 * 6));
        facts.cells[0].settings.push_back({"epochs", std::int64_t{2}});
        QCOMPARE(*budgetOf(facts).planned, 243 - 3 * 7);
        facts.planned = 0;
        QVERIFY(!budgetOf(facts).planned);
    }

    void whatBecameOfACell() {
        const auto of = [](std::vector<ReportedTrial> trials) { return outcomeOf(cellOf(std::move(trials))); };
        ReportedCell finished = cellOf({trialOf(RunState::Finished, 0.5), trialOf(RunState::Failed, {})});
        finished.count = 1, finished.mean = 0.5;
        QVERIFY(outcomeOf(finished).outcome == Outcome::Finished && outcomeOf(finished).value == 0.5);
        const auto cut = of({trialOf(RunState::Stopped, 0.25), trialOf(RunState::Stopped, 0.75)});
        QVERIFY(cut.outcome == Outcome::CutShort && cut.value == 0.5);
        const auto half = of({trialOf(RunState::Stopped, 0.25), trialOf(RunState::Failed, 0.75)});
        QVERIFY(half.outcome == Outcome::CutShort && half.value == 0.25);
        QVERIFY(of({trialOf(RunState::Failed, 0.5)}).outcome == Outcome::Failed);
        ReportedTrial diverged = trialOf(RunState::Failed, {});
        diverged.hasDiverged = true;
        QVERIFY(of({diverged}).outcome == Outcome::Diverged);
        QVERIFY(of({trialOf(RunState::Queued, {})}).outcome == Outcome::None);
    }

    // Median 0.86 and best 0.9: beyond 0.78 is far behind.
    void anOutlierDoesNotOwnTheAxis() {
        const std::vector<double> values{0.9, 0.89, 0.88, 0.87, 0.86, 0.85, 0.84, 0.83, 0.1};
        const auto range = objectiveRange(values, accuracy());
        QVERIFY(range && range->isClipped && std::abs(range->low - 0.78) < 1e-12 && range->high == 0.9);
        QVERIFY(range->goodness(0.9) == 1 && range->goodness(0.1) == 0 && range->clipped(0.1) == range->low);
        QVERIFY(std::abs(range->goodness(0.84) - 0.5) < 1e-9);
        const auto few = objectiveRange({0.9, 0.1}, accuracy());
        QVERIFY(few && !few->isClipped && few->low == 0.1);
        const auto losses = objectiveRange({0.1, 0.11, 0.12, 0.13, 0.14, 0.15, 0.16, 0.17, 9}, loss());
        QVERIFY(losses && losses->isClipped && losses->low == 0.1 && std::abs(losses->high - 0.22) < 1e-12);
        QVERIFY(losses->goodness(0.1) == 1 && losses->goodness(9) == 0);
        QVERIFY(!objectiveRange({std::nan("")}, loss()));
    }

    void axesHaveTheScaleOfTheSpace() {
        const auto vary = test::madeSpace(4);
        const SweepAxis rate(vary[0]), batch(vary[1]), momentum(vary[3]);
        const auto at = [](const char* path, ParamValue value) { return Cell{{path, std::move(value)}}; };
        QVERIFY(std::abs(*rate.placeOf(at("learning_rate", 0.01)) - 0.5) < 1e-9);
        QCOMPARE(rate.parts(), SweepAxis::kMostParts);
        QCOMPARE(*rate.partOf(at("learning_rate", 1.0)), SweepAxis::kMostParts - 1);
        QCOMPARE(batch.parts(), std::size_t{3});
        QCOMPARE(batch.part(0) + batch.part(1) + batch.part(2), std::string("3264128"));
        QCOMPARE(*batch.partOf(at("batch", std::int64_t{128})), std::size_t{2});
        QVERIFY(std::abs(*batch.placeOf(at("batch", std::int64_t{64})) - 0.5) < 1e-12);
        QVERIFY(!momentum.placeOf(at("batch", std::int64_t{64})));
        const Dimension few{"epochs", NumberRange{2, 6, false, true, 2}};
        const SweepAxis epochs(few);
        QCOMPARE(epochs.parts(), std::size_t{3});
        QCOMPARE(*epochs.partOf(at("epochs", std::int64_t{4})), std::size_t{1});
        QCOMPARE(batch.ticks(5).size(), std::size_t{3});
        QCOMPARE(rate.ticks(5)[1].text, std::string("0.001"));
    }

    // Two settings of two values: four fields, of which one is empty; the mean of two cells by hand.
    void theHeatMapHasMeans() {
        SweepFacts facts = madeSweep(0, 0);
        facts.spec.vary = {{"batch", ChoiceOfValues{std::int64_t{1}, std::int64_t{2}}},
                           {"optimizer", ChoiceOfValues{std::string("sgd"), std::string("adamw")}}};
        const auto add = [&](std::int64_t batch, const char* optimizer, double value) {
            ReportedCell cell = cellOf({trialOf(RunState::Finished, value)});
            cell.number = std::ssize(facts.cells);
            cell.settings = {{"batch", batch}, {"optimizer", std::string(optimizer)}};
            cell.count = 1, cell.mean = value;
            facts.tried.push_back({cell.settings, -value});
            facts.ranking.push_back(facts.cells.size());
            facts.cells.push_back(std::move(cell));
        };
        add(1, "sgd", 0.5), add(1, "sgd", 0.7), add(2, "sgd", 0.8), add(2, "adamw", 0.2);
        const std::string svg = pictureNamed(facts, "heat-map");
        QVERIFY2(svg.find(">60.0<") != svg.npos && svg.find(">80.0<") != svg.npos && svg.find(">20.0<") != svg.npos,
                 svg.c_str());
        QCOMPARE(times(svg, "class=\"lk-none\""), 1);
        QVERIFY(svg.find("batch 1, optimizer sgd: 60.00 %, the mean of 2 cells") != svg.npos);
        QVERIFY(has(facts, "Two settings together"));  // four cells are too few to say which matter
    }

    // A step for the first and for each that was better.
    void theBestSoFarIsAStair() {
        SweepFacts facts = madeSweep(5, 2, 1);
        const double values[] = {0.5, 0.4, 0.6, 0.6, 0.7};
        for (std::size_t i = 0; i < 5; ++i) facts.cells[i].trials[0].value = values[i];
        const std::string svg = pictureNamed(facts, "progress");
        static const QRegularExpression line("lk-good\" points=\"([^\"]*)\"");
        const auto points = line.match(QString::fromStdString(svg)).captured(1).split(' ');
        QCOMPARE(points.size(), 1 + 2 + 2 + 1);
        QCOMPARE(times(svg, "<circle class=\"lk-pt lk-s0\""), 5 + 1);  // and one in the key
        QVERIFY(has(facts, "The best trial is 5, with 70.00 %; 0 later ones that finished were no better."));
    }

    void parallelLinesAreCells() {
        const std::string svg = pictureNamed(madeSweep(60, 4), "parallel");
        QCOMPARE(times(svg, "<polyline class=\"lk-ln lk-v") + times(svg, "<polyline class=\"lk-ln lk-thin lk-bad"), 60);
        QCOMPARE(times(svg, "<polyline class=\"lk-ln lk-thin lk-bad"), 9);
        QCOMPARE(times(svg, "stroke-dasharray=\"5 3\" points"), 8);
        for (const char* slot : {">not set<", ">failed<", ">diverged<", ">learning_rate<", ">momentum<"})
            QVERIFY2(svg.find(slot) != svg.npos, slot);
        const std::string many = pictureNamed(madeSweep(1000, 12, 1), "parallel");
        QCOMPARE(times(many, "<polyline class=\"lk-ln lk-v"), 60);
        QCOMPARE(times(many, "lk-faint lk-rest\" points"), 940);
    }

    void tooFewTrialsAreSaidSo() {
        const SweepFacts few = madeSweep(6, 4);
        QVERIFY(htmlText(few).count("too few trials to say") >= 2);
        QVERIFY(pictureNamed(few, "importance").empty());
        const SweepFacts many = madeSweep(100, 4);
        const std::string svg = pictureNamed(many, "importance");
        const SweepAnswers answers = answersOf(many);
        QVERIFY(isKnown(answers) && answers.settings.front() == 0);
        const auto& share = *answers.explains.shares[0];
        const QString said =
            QString("%1 % ± %2").arg(100 * share.mean, 0, 'f', 1).arg(100 * share.deviation, 0, 'f', 1);
        QVERIFY2(QString::fromStdString(svg).contains(said), qPrintable(said));
        QVERIFY(share.mean > 0.5 && svg.find(">learning_rate<") < svg.find(">optimizer<"));
        SweepFacts early = many;
        early.triedAt = 3;
        QVERIFY(has(early, "by what they had come to at epoch 3"));
    }

    void rungsAreTold() {
        const SweepFacts facts = climbed();
        QVERIFY(
            has(facts, "After 1 epoch: 4 cells, of which 3 went on. The rank correlation with the next rung is +1.00"));
        QVERIFY(has(facts, "After 3 epochs: 3 cells."));
        const std::string svg = pictureNamed(facts, "rungs");
        QCOMPARE(times(svg, "<circle"), 7);
        QCOMPARE(times(svg, "<polyline"), 3);
        SweepFacts early = facts;
        for (ReportedCell& each : early.cells) each.count = 0;
        early.bestAtRung = BestAtRung{1, 3, 0.9};
        QVERIFY(has(early, "highest rung is cell 1, with 90.00 % validation accuracy by epoch 3."));
        QVERIFY(has(early, "<th>Best</th>") && !has(early, "<h2>The best cell"));
        SweepFacts none = facts;
        none.climbers.clear();
        QVERIFY(has(none, "No cell has come to its first rung"));
        QVERIFY(!has(madeSweep(4, 2), "<h2>Rungs"));
    }

    // Three seeds 0.004 apart: the mean is the middle one, the band ± 0.4 points.
    void curvesAreMeansOverSeeds() {
        const std::string svg = pictureNamed(madeSweep(30, 4), "curves");
        QCOMPARE(times(svg, "<polygon"), 10);
        QCOMPARE(times(svg, "<title>learning_rate="), 10);
        const SweepFacts alone = madeSweep(12, 4, 1);
        QCOMPARE(times(pictureNamed(alone, "curves"), "<polygon"), 0);
        QVERIFY(times(pictureNamed(alone, "curves"), "lk-rest\" points") >= 1);
    }

    void whatIsNotThereIsSaid() {
        SweepFacts none = madeSweep(0, 4);
        QVERIFY(has(none, "It has no trial") && has(none, "No cell was suggested.") && has(none, "No trial was made."));
        QVERIFY(picturesOf(none).empty());
        none.objective = nullptr, none.machines.clear();
        QVERIFY(has(none, "No trial has begun; asked for: "));

        SweepFacts failed = madeSweep(3, 4);
        failed.ranking = {0, 1, 2}, failed.tried.clear(), failed.finished = 0, failed.failed = 9;
        for (ReportedCell& cell : failed.cells) {
            cell.count = 0;
            for (ReportedTrial& trial : cell.trials) {
                trial = trialOf(RunState::Failed, {});
                trial.failure = CardMessage{"out-of-memory", "3 GiB were wanted.", "Take a smaller batch."};
            }
        }
        failed.failure = CardMessage{"failure", "All failed.", "Look at the first."};
        QVERIFY(has(failed, "None of its trials came to a result; what failed and why is told below."));
        QVERIFY(has(failed, "<strong>Failure:</strong> All failed. Look at the first."));
        QVERIFY(has(failed, "<td>9</td><td>3 GiB were wanted.</td><td>Take a smaller batch.</td>"));
        QVERIFY(has(failed, "No trial was evaluated.") && picturesOf(failed).empty());
        QCOMPARE(cellRows(htmlText(failed)).size(), 3);
    }

    void itSaysHowToRepeatIt() {
        SweepFacts facts = madeSweep(30, 4);
        facts.spec.trial.dataPath = "/data/my </pre> shirts";
        const auto html = test::parsedXml(htmlOf(sweepReport(facts)));
        QVERIFY(html.texts.contains("lockstep sweep sweep-3.json\n"));
        const auto json = std::ranges::find_if(html.texts, [](const QString& each) { return each.startsWith("{\n"); });
        QVERIFY(json != html.texts.end());
        const auto read = sweepFromJson(json->toStdString(), "sweep-3.json");
        QVERIFY2(read.ok(), read.ok() ? "" : read.problems()[0].code.c_str());
        SweepSpec again = read.value();
        for (SweepSpec* each : {&again, &facts.spec}) std::ranges::sort(each->vary, {}, &Dimension::path);
        QVERIFY(again == facts.spec);
        const auto train =
            std::ranges::find_if(html.texts, [](const QString& each) { return each.startsWith("lockstep train"); });
        QVERIFY(train != html.texts.end() && train->contains("lenet5"));
        QVERIFY(html.texts.contains("Lockstep 0.1.0, oneDNN 2.6.3") && html.texts.contains("A processor, 2 cores"));
    }

    void hostileNamesAreNames() {
        for (const std::string& name : test::kHostileNames) {
            SweepFacts facts = madeSweep(20, 4);
            facts.group.title = facts.spec.title = name, facts.methodReason = name, facts.spec.trial.model.id = name;
            facts.spec.vary[2].values = ChoiceOfValues{name, std::string("adamw")};
            facts.failure = CardMessage{name, name, name}, facts.machines[0].started.hardware = {name};
            for (ReportedCell& cell : facts.cells) {
                cell.state = name;
                cell.settings[2].value = name;
                for (ReportedTrial& trial : cell.trials)
                    if (trial.failure) trial.failure = CardMessage{name, name, name};
            }
            facts.tried.clear();
            const std::string text = htmlOf(sweepReport(facts));
            const auto html = test::parsedXml(text);
            QVERIFY2(html.error.isEmpty(), qPrintable(html.error));
            for (const char* element : {"script", "img", "a", "link", "iframe", "object"})
                QVERIFY(!html.elements.contains(element));
            QString told = QString::fromStdString(printable(name));
            QVERIFY2(html.texts.contains(told.replace(QChar(0xffff), QChar(0xfffd))), qPrintable(told));
            QVERIFY(text.find('\x1b') == text.npos && text.find('\x07') == text.npos);
        }
    }

    // It refers to nothing, and its charts are pictures by themselves.
    void nothingIsLoadedFromAnywhere() {
        for (const SweepFacts& facts : {madeSweep(60, 4), climbed(), madeSweep(1000, 12, 1)}) {
            const std::string text = htmlOf(sweepReport(facts));
            for (const char* part : {"href", "src=", "url(", "@import", "javascript", "onload"})
                QVERIFY2(text.find(part) == text.npos, part);
            static const QRegularExpression address("https?://(?!www\\.w3\\.org/2000/svg)");
            QVERIFY(!QString::fromStdString(text).contains(address));
            QVERIFY(picturesOf(facts).size() >= 3);
            for (const std::string& svg : picturesOf(facts)) {
                const auto parsed = test::parsedXml(svg);
                QVERIFY2(parsed.error.isEmpty() && parsed.elements.count("svg") == 1, qPrintable(parsed.error));
                QVERIFY2(svg.find("nan") == svg.npos && svg.find("inf") == svg.npos, svg.c_str());
                QSvgRenderer renderer;
                QVERIFY(renderer.load(QByteArray::fromStdString(svg)));
            }
        }
    }

    void aThousandCellsStaySmall() {
        const auto size = htmlOf(sweepReport(madeSweep(1000, 12, 1))).size();
        QVERIFY2(size < 1'500'000, qPrintable(QString::number(size)));
    }
};

QTEST_MAIN(TestSweepReport)
#include "tst_sweep_report.moc"
