#include <rapidcheck.h>

#include <QtTest>
#include <array>
#include <cmath>

#include "ui/trials/filter_hints.h"
#include "ui/trials/number_condition.h"
#include "ui/trials/trial_filter_words.h"

using namespace lockstep;
using namespace lockstep::ui;

namespace {

TrialRow rowOf(std::int64_t id) {
    TrialRow row;
    row.id = id;
    row.state = "finished";
    row.model = "mlp";
    row.dataset = "fashion-mnist";
    return row;
}

// Four trials: 1 and 2 of sweep 3, 3 of sweep 12, 4 of none.
struct Known {
    Known() {
        rows[0].bestAccuracy = 0.918312, rows[0].testLoss = 0.25, rows[0].seconds = 90, rows[0].epoch = 3;
        rows[1].bestAccuracy = 0.8, rows[1].testLoss = 0.5, rows[1].seconds = 3700, rows[1].epoch = 10;
        rows[2].bestAccuracy = 1.0, rows[2].model = "resnet18", rows[2].state = "failed";
        rows[3].title = "a<b of lr=0.1";
        auto &rate = settings["learning_rate"], &batch = settings["batch"], &optimizer = settings["optimizer"];
        rate[1] = 0.01, rate[2] = 0.1, rate[3] = 0.001;
        batch[1] = std::int64_t{64}, batch[2] = std::int64_t{128};
        optimizer[1] = std::string("sgd"), optimizer[2] = std::string("adamw");
    }

    QString found(const TrialFilterWords& words) const {
        QStringList trials;
        for (std::size_t i = 0; i < rows.size(); ++i) {
            const QString haystack = haystackOf(rows[i]);
            if (words.matches({rows[i], haystack, sweeps[i]}, settings)) trials << QString::number(rows[i].id);
        }
        return trials.join(' ');
    }
    QString found(const QString& words) const { return found(TrialFilterWords(words)); }

    std::array<TrialRow, 4> rows{rowOf(1), rowOf(2), rowOf(3), rowOf(4)};
    std::array<std::int64_t, 4> sweeps{3, 3, 12, 0};
    TrialFilterWords::Settings settings;
};

const QString kAll = "1 2 3 4";

}  // namespace

class TestFilterWords : public QObject {
    Q_OBJECT
private slots:
    void wordsAskFor_data();
    void wordsAskFor();
    void badWordsAreExplained_data();
    void badWordsAreExplained();
    void numbersAreReadAsPeopleWriteThem_data();
    void numbersAreReadAsPeopleWriteThem();
    void aComparisonIsThatOfNumbers();
    void whateverIsTypedIsTaken();
    void pathsAreThoseOfSettings();
};

void TestFilterWords::wordsAskFor_data() {
    QTest::addColumn<QString>("words");
    QTest::addColumn<QString>("expected");
    const auto row = [](const char* words, const QString& expected) { QTest::newRow(words) << words << expected; };
    row("sweep:3", "1 2");
    row("sweep=3", "1 2");
    row("SWEEP:12", "3");
    row("sweep:1", "");
    row("sweep>3", "3");
    row("sweep:none", "4");
    row("-sweep:none", "1 2 3");
    row("-sweep:3", "3 4");
    row("sweep:", kAll);
    row("sweep:3 batch>64", "2");
    row("learning_rate>0.01", "2");
    row("learning_rate>=0.01", "1 2");
    row("learning_rate<0.01", "3");
    row("learning_rate<=1e-2", "1 3");
    row("learning_rate=0.01", "1");
    row("learning_rate:0.01", "1");
    row("learning_rate:>0.01", "2");  // as it was written before
    row("-learning_rate>0.01", "1 3 4");
    row("learning_rate:default", "4");
    row("learning_rate>", kAll);
    row("optimizer=sgd", "1");
    row("optimizer:adam", "2");
    row("best>0.9", "1 3");
    row("best>90", "1 3");
    row("best>90%", "1 3");
    row("best:91.83", "1");  // as it is shown
    row("best=0.918", "1");
    row("best=100%", "3");
    row("best_accuracy<0.9", "2");
    row("-best>0.9", "2 4");
    row("loss<0.3", "1");
    row("test_loss<=0.5", "1 2");
    row("duration>1h", "2");
    row("duration<5min", "1");
    row("duration:90s", "1");
    row("epoch>=3", "1 2");
    row("trial<3", "1 2");
    row("trial=3", "3");
    row("model=resnet", "");  // equal is equal
    row("model=ResNet18", "3");
    row("model:resnet", "3");
    row("a<b", "4");  // a word as any other
    row("lr=0.1", "4");
    row("best>0.9 state:failed", "3");
}

void TestFilterWords::wordsAskFor() {
    QFETCH(QString, words);
    QFETCH(QString, expected);
    QCOMPARE(Known().found(words), expected);
}

void TestFilterWords::badWordsAreExplained_data() {
    QTest::addColumn<QString>("words");
    QTest::addColumn<QString>("said");      // in the one hint; empty: none
    QTest::addColumn<QString>("expected");  // trials that are found all the same
    const auto row = [](const char* words, const char* said, const QString& expected) {
        QTest::newRow(words) << words << said << expected;
    };
    row("best>good", "“good” is no number that best", kAll);
    row("best>5min", "“5min” is no number that best", kAll);
    row("loss:low", "“low” is no number", kAll);
    row("learning_rate>small", "“small” is no number that learning_rate", kAll);
    row("learning_rate>0,01", "“0,01” is no number", kAll);
    row("optimizer>sgd", "write optimizer:word", kAll);
    row("state>failed", "write state:word", kAll);
    row("tag<thesis", "write tag:word", kAll);
    row("sweep:wide", "“wide” is no sweep's number", kAll);
    row("lerning_rate>0.01", "did you mean learning_rate?", "");
    row("lerning_rate:0.01", "did you mean learning_rate?", "");
    row("optimiser.momentum>0.9", "did you mean optimizer.momentum?", "");
    row("swep:3", "did you mean sweep?", "");
    row("lr=0.1", "no column or setting “lr”", "4");
    row("cuda:0", "", "");
    row("learning_rate:small", "", "");  // a text might be meant
    row("best>", "", kAll);
    row("wide nets", "", "");
}

void TestFilterWords::badWordsAreExplained() {
    QFETCH(QString, words);
    QFETCH(QString, said);
    QFETCH(QString, expected);
    const TrialFilterWords filter(words);
    const QString hints = filter.hints().join('|');
    QCOMPARE(filter.hints().size(), said.isEmpty() ? 0 : 1);
    QVERIFY2(hints.contains(said), qPrintable(hints));
    QCOMPARE(Known().found(filter), expected);
}

void TestFilterWords::numbersAreReadAsPeopleWriteThem_data() {
    QTest::addColumn<QString>("asked");
    QTest::addColumn<int>("kind");
    QTest::addColumn<double>("value");  // not a number: it is none
    const auto row = [](const char* asked, NumberKind kind, double value) {
        QTest::addRow("%s of %d", asked, static_cast<int>(kind)) << asked << static_cast<int>(kind) << value;
    };
    const double none = std::nan("");
    row("0.5", NumberKind::Plain, 0.5);
    row(".5", NumberKind::Plain, 0.5);
    row("-1e-3", NumberKind::Plain, -0.001);
    row("5%", NumberKind::Plain, none);
    row("5s", NumberKind::Plain, none);
    row("", NumberKind::Plain, none);
    row("1e", NumberKind::Plain, none);
    row("0x10", NumberKind::Plain, none);
    row("inf", NumberKind::Plain, none);
    row("0.5", NumberKind::Share, 0.5);
    row("1", NumberKind::Share, 1);
    row("1%", NumberKind::Share, 0.01);
    row("50", NumberKind::Share, 0.5);
    row("50 %", NumberKind::Share, 0.5);
    row("5min", NumberKind::Share, none);
    row("90", NumberKind::Seconds, 90);
    row("1.5MIN", NumberKind::Seconds, 90);
    row("2h", NumberKind::Seconds, 7200);
    row("2d", NumberKind::Seconds, none);
}

void TestFilterWords::numbersAreReadAsPeopleWriteThem() {
    QFETCH(QString, asked);
    QFETCH(int, kind);
    QFETCH(double, value);
    const auto condition = NumberCondition::from(">=", asked, static_cast<NumberKind>(kind));
    QCOMPARE(condition.has_value(), !std::isnan(value));
    if (!condition) return;
    QVERIFY(condition->holds(value + 1e-9) && !condition->holds(value - 1e-9) && !condition->holds(std::nullopt));
}

void TestFilterWords::aComparisonIsThatOfNumbers() {
    QVERIFY(rc::check([] {
        const auto steps = [] { return *rc::gen::inRange(-400, 400) / 16.0; };  // exact in few digits
        const double value = steps(), than = steps();
        const QString number = QString::number(than, 'f', 4);
        TrialRow row = rowOf(7);
        row.testLoss = value;
        const QString haystack = haystackOf(row);
        TrialFilterWords::Settings settings;
        settings["learning_rate"][7] = value;
        const auto holds = [&](const QString& word) {
            return TrialFilterWords(word).matches({row, haystack, 0}, settings);
        };
        for (const QString& name : {QString("loss"), QString("learning_rate")}) {
            RC_ASSERT(holds(name + '<' + number) == (value < than));
            RC_ASSERT(holds(name + "<=" + number) == (value <= than));
            RC_ASSERT(holds(name + '>' + number) == (value > than));
            RC_ASSERT(holds(name + ">=" + number) == (value >= than));
            RC_ASSERT(holds(name + '=' + number) == (value == than));
            RC_ASSERT(holds(name + ":>" + number) == holds(name + '>' + number));
            RC_ASSERT(holds('-' + name + '>' + number) == !holds(name + '>' + number));
        }
    }));
}

// Nothing that is typed breaks it; a word finds as much with a minus as it leaves out without, unless it asks nothing.
void TestFilterWords::whateverIsTypedIsTaken() {
    const Known known;
    QVERIFY(rc::check([&] {
        static const QStringList parts{
            "best", "sweep", "learning_rate", "tag", "state", "lerning_rate", "a", "3", "0.5", "%", ".", ":", "=", "<",
            ">",    "-"};
        QString word;
        for (int count = *rc::gen::inRange(1, 7); count > 0; --count)
            word += parts[*rc::gen::inRange<qsizetype>(0, parts.size())];
        while (word.startsWith('-')) word.remove(0, 1);
        if (word.isEmpty()) return;
        const TrialFilterWords plain(word), turned('-' + word);
        RC_ASSERT(plain.hints() == turned.hints());
        RC_ASSERT(plain.empty() == turned.empty());
        if (plain.empty()) {
            RC_ASSERT(known.found(plain) == kAll);
            return;
        }
        auto both = (known.found(plain) + ' ' + known.found(turned)).split(' ', Qt::SkipEmptyParts);
        both.sort();
        RC_ASSERT(both.join(' ') == kAll);
    }));
}

void TestFilterWords::pathsAreThoseOfSettings() {
    const TrialFilterWords words("sweep:3 best>0.9 learning_rate>0.01 -optimizer.momentum=0.9 batch> wide");
    QCOMPARE(words.paths(), (std::vector<std::string>{"learning_rate", "optimizer.momentum"}));
    QCOMPARE(filter_hint::meantBy("learning_rate"), QString());
    QCOMPARE(filter_hint::meantBy("x"), QString());
}

QTEST_GUILESS_MAIN(TestFilterWords)
#include "tst_filter_words.moc"
