#include <QtTest>
#include <cmath>

#include "engine/search/constraint.h"
#include "engine/search/dimension.h"

using namespace lockstep;

namespace {

QString valuesOf(const Dimension& dimension) {
    QStringList all;
    for (std::int64_t i = 0; i < dimension.count().value_or(0); ++i)
        all << QString::fromStdString(text(dimension.value(i)));
    return all.join(' ');
}

std::string codeOf(const Dimension& dimension) {
    const auto problem = check(dimension);
    return problem ? problem->code : "";
}

double number(const ParamValue& value) {
    const auto* whole = std::get_if<std::int64_t>(&value);
    return whole ? static_cast<double>(*whole) : std::get<double>(value);
}

}  // namespace

class TestDimension : public QObject {
    Q_OBJECT
private slots:
    void valuesComeInOrder_data() {
        QTest::addColumn<Dimension>("dimension");
        QTest::addColumn<QString>("values");
        const auto row = [](const char* name, auto values, const char* all) {
            QTest::newRow(name) << Dimension{"x", values, {}} << QString(all);
        };
        row("choices", ChoiceOfValues{std::int64_t{64}, std::string("auto"), true}, "64 auto true");
        row("whole", NumberRange{2, 5, false, true, 0, 0}, "2 3 4 5");
        row("step", NumberRange{0.1, 0.9, false, false, 0.2, 0}, "0.1 0.3 0.5 0.7 0.9");
        row("step that ends before", NumberRange{1, 8, false, true, 3, 0}, "1 4 7");
        row("points", NumberRange{0, 1, false, false, 0, 3}, "0 0.5 1");
        row("points of a log", NumberRange{1e-3, 1, true, false, 0, 4}, "0.001 0.01 0.1 1");
        row("whole points of a log", NumberRange{16, 256, true, true, 0, 5}, "16 32 64 128 256");
        row("one", NumberRange{3, 3, false, false, 0, 0}, "3");
        row("endless", NumberRange{0, 1, false, false, 0, 0}, "");
    }
    void valuesComeInOrder() {
        QFETCH(Dimension, dimension);
        QTEST(valuesOf(dimension), "values");
        QVERIFY(!check(dimension));
    }

    // The part of the unit interval that means a value, and no other value.
    void sharesAreTheInverse_data() {
        QTest::addColumn<Dimension>("dimension");
        const auto row = [](const char* name, auto values) { QTest::newRow(name) << Dimension{"x", values, {}}; };
        row("choices", ChoiceOfValues{std::int64_t{64}, std::string("auto"), true});
        row("whole", NumberRange{2, 9, false, true, 0, 0});
        row("whole of a log", NumberRange{1, 300, true, true, 0, 0});
        row("step", NumberRange{0.1, 0.9, false, false, 0.2, 0});
        row("points of a log", NumberRange{1e-3, 1, true, false, 0, 4});
        row("whole points of a log", NumberRange{16, 256, true, true, 0, 5});
        row("endless", NumberRange{0, 0.3, false, false, 0, 0});
        row("endless log", NumberRange{1e-5, 1, true, false, 0, 0});
        row("one", NumberRange{3, 3, false, false, 0, 0});
    }
    void sharesAreTheInverse() {
        QFETCH(Dimension, dimension);
        for (int i = 0; i < 100; ++i) {
            const double u = (i + 0.5) / 100;
            const auto share = dimension.shareOf(dimension.valueAt(u));
            QVERIFY(share && share->low <= share->middle && share->middle <= share->high);
            const bool isPoint = share->low == share->high;
            QVERIFY(isPoint ? std::abs(share->middle - u) < 1e-3 || dimension.count() == 1
                            : share->low <= u && u <= share->high);
            if (dimension.count() != 1)
                QCOMPARE(dimension.valueAt(std::min(share->middle, 1 - 1e-9)), dimension.valueAt(u));
        }
        QVERIFY(!dimension.shareOf(std::string("nothing of it")));
        QVERIFY(!dimension.shareOf(1e6));
    }

    void numbersThatGoUpOrDownHaveAnOrder() {
        const auto isOrdered = [](const ChoiceOfValues& values) { return Dimension{"x", values, {}}.isOrdered(); };
        QVERIFY(isOrdered({std::int64_t{1}, 2.5, std::int64_t{4}}));
        QVERIFY(isOrdered({4.0, 2.0, 1.0}));
        QVERIFY(!isOrdered({1.0, 3.0, 2.0}));
        QVERIFY(!isOrdered({std::string("a"), std::string("b")}));
        QVERIFY(!isOrdered({true, false}));
    }

    // Equal lengths of the unit interval are equally likely values, and its ends are those of the range.
    void theUnitIntervalIsShared() {
        const Dimension whole{"x", NumberRange{2, 5, false, true, 0, 0}, {}};
        for (int i = 0; i < 8; ++i) QCOMPARE(number(whole.valueAt(i / 8.0)), 2 + i / 2);
        const Dimension choices{"x", ChoiceOfValues{1.0, 2.0, 3.0}, {}};
        QCOMPARE(number(choices.valueAt(0.34)), 2.0);
        QCOMPARE(number(choices.valueAt(1 - 0x1p-32)), 3.0);
        const Dimension log{"x", NumberRange{1e-3, 1, true, false, 0, 0}, {}};
        QCOMPARE(number(log.valueAt(0)), 1e-3);
        QVERIFY(std::abs(number(log.valueAt(1.0 / 3)) - 1e-2) < 1e-5);
        const Dimension wholeLog{"x", NumberRange{1, 1024, true, true, 0, 0}, {}};
        QCOMPARE(number(wholeLog.valueAt(0)), 1.0);
        QCOMPARE(number(wholeLog.valueAt(1 - 0x1p-32)), 1024.0);
        int ones = 0;
        for (int i = 0; i < 1000; ++i) ones += number(wholeLog.valueAt(i / 1000.0)) == 1.0 ? 1 : 0;
        QVERIFY2(std::abs(ones - 1000 * std::log(3) / std::log(2049)) < 2, qPrintable(QString::number(ones)));
    }

    void numbersAreAsLongAsTheyMean() {
        const Dimension linear{"x", NumberRange{0.8, 0.99, false, false, 0, 0}, {}};
        const std::string said = text(linear.valueAt(0.123456789));
        QVERIFY2(said.size() <= 8, said.c_str());
        const Dimension narrow{"x", NumberRange{0.999, 0.9999, false, false, 0, 0}, {}};
        QVERIFY(narrow.valueAt(0.5) != narrow.valueAt(0.501));
        const Dimension log{"x", NumberRange{1e-9, 1, true, false, 0, 0}, {}};
        QVERIFY(log.valueAt(0.01) != log.valueAt(0.0101));
    }

    void whatIsWrongIsNamed() {
        const auto range = [](NumberRange values) { return Dimension{"x", values, {}}; };
        QCOMPARE(codeOf({"x", ChoiceOfValues{}, {}}), "search.no-values");
        QCOMPARE(codeOf({"x", ChoiceOfValues{1.0, 1.0}, {}}), "search.twice");
        QCOMPARE(codeOf(range({2, 1, false, {}, 0, 0})), "search.inverted");
        QCOMPARE(codeOf(range({0, 1, true, {}, 0, 0})), "search.log-of-nothing");
        QCOMPARE(codeOf(range({-1, 1, true, {}, 0, 0})), "search.log-of-nothing");
        QCOMPARE(codeOf(range({0, 1, false, {}, -0.1, 0})), "search.step");
        QCOMPARE(codeOf(range({0, 1, false, {}, 0.1, 3})), "search.step-and-points");
        QCOMPARE(codeOf(range({1, 2, true, {}, 0.1, 0})), "search.step-of-a-log");
        QCOMPARE(codeOf(range({0.5, 2, false, true, 0, 0})), "search.not-whole");
        QCOMPARE(codeOf(range({0, 1e300, false, {}, 1e-9, 0})), "search.too-many-values");
        QCOMPARE(codeOf(range({0, std::nan(""), false, {}, 0, 0})), "search.not-a-number");
    }

    void constraintsAreArithmetic_data() {
        QTest::addColumn<QString>("words");
        QTest::addColumn<bool>("holds");
        QTest::newRow("product") << "batch / devices >= 16" << true;
        QTest::newRow("precedence") << "2 + 3 * 4 == 14" << true;
        QTest::newRow("from the left") << "8 - 4 - 2 == 2" << true;
        QTest::newRow("parentheses") << "(2+3)*4 != 20" << false;
        QTest::newRow("less") << "batch<64" << false;
        QTest::newRow("not set") << "model.depth > 3" << true;
        QTest::newRow("negative") << "-1 < 0" << true;
    }
    void constraintsAreArithmetic() {
        QFETCH(QString, words);
        const auto constraint = Constraint::parse(words.toStdString(), "constraints[0]");
        QVERIFY(constraint.ok());
        const auto value = [](const std::string& path) {
            return path == "batch" ? 64.0 : path == "devices" ? 4.0 : std::nan("");
        };
        QTEST(constraint.value().holds(value), "holds");
    }

    void whatIsNoConstraintIsNamed() {
        for (const char* words : {"", "batch", "batch >", "batch > 1 > 2", "(batch > 1", "batch ~ 2", "1e999 > 2"}) {
            const auto constraint = Constraint::parse(words, "constraints[0]");
            QVERIFY2(!constraint.ok() && constraint.problems().front().code == "search.constraint", words);
        }
        QVERIFY(!Constraint::parse(std::string(100'000, '(') + "1 > 2", "c").ok());
        QCOMPARE(Constraint::parse("batch >= devices * batch", "c").value().paths(),
                 (std::vector<std::string>{"batch", "devices"}));
    }
};

QTEST_GUILESS_MAIN(TestDimension)
#include "tst_dimension.moc"
