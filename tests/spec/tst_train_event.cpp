#include <rapidcheck.h>

#include <QtTest>
#include <cmath>
#include <limits>

#include "engine/spec/train_event.h"

using namespace lockstep;

namespace {

double anyDouble() {
    return *rc::gen::oneOf(rc::gen::arbitrary<double>(),
                           rc::gen::map(rc::gen::arbitrary<int>(), [](int i) { return i / 8.0; }));
}
std::int64_t anyWhole() { return *rc::gen::arbitrary<std::int64_t>(); }
std::string anyAscii() { return *rc::gen::container<std::string>(rc::gen::inRange<char>(1, 127)); }
std::vector<float> anyFloats() { return *rc::gen::arbitrary<std::vector<float>>(); }

TrainEvent anyEvent() {
    switch (*rc::gen::inRange(0, 10)) {
        case 0:
            return RunStarted{anyWhole(),  anyWhole(), anyAscii(),  {anyAscii(), anyAscii()},
                              true,        anyWhole(), anyWhole(),  anyWhole(),
                              anyWhole(),  anyWhole(), anyWhole(),  *rc::gen::arbitrary<std::uint64_t>(),
                              {},          anyAscii(), anyDouble(), anyDouble(),
                              anyDouble(), anyAscii(), anyAscii(),  {anyAscii()},
                              {anyWhole()}};
        case 1:
            return StepDone{anyWhole(),  anyWhole(),  anyWhole(),  anyDouble(), anyDouble(), anyDouble(),
                            anyDouble(), anyDouble(), anyDouble(), anyFloats(), anyFloats(), anyFloats()};
        case 2:
            return EvalDone{anyWhole(),  anyWhole(),  anyWhole(),  anyDouble(), anyDouble(), anyDouble(),
                            anyDouble(), anyDouble(), anyDouble(), anyDouble(), true,        Split::Validation};
        case 3: return CheckpointWritten{anyWhole(), anyWhole(), anyAscii(), anyAscii()};
        case 4: return StateChanged{anyAscii(), anyWhole()};
        case 5: return Message{anyAscii(), {anyAscii(), anyAscii(), {anyAscii()}}};
        case 6:
            return RunFinished{anyAscii(),  anyWhole(),  anyWhole(),  anyWhole(),  anyDouble(),
                               anyDouble(), anyDouble(), anyDouble(), anyDouble(), {anyDouble(), anyDouble()}};
        case 7: return TextSample{anyWhole(), anyWhole(), anyAscii(), anyAscii()};
        case 8: return DataProgress{anyWhole(), anyWhole(), anyDouble()};
        default:
            return RunFailed{
                anyAscii(), anyAscii(), anyAscii(), *rc::gen::arbitrary<int>(), anyWhole(), {anyAscii(), anyAscii()}};
    }
}

}  // namespace

class TestTrainEvent : public QObject {
    Q_OBJECT
private slots:
    // The line of what a line was read as is the same line: every field of every event comes back.
    void roundTrip() {
        QVERIFY(rc::check("an event's line reads back to the same event", [] {
            const auto event = anyEvent();
            const auto number = anyWhole();
            const auto line = toJsonLine(event, number);
            RC_ASSERT(line.find('\n') == line.npos);
            const auto back = eventFromJsonLine(line);
            RC_ASSERT(back.ok());
            RC_ASSERT(back.value().number == number);
            RC_ASSERT(back.value().event.index() == event.index());
            RC_ASSERT(toJsonLine(back.value().event, number) == line);
        }));
    }

    void fieldsHaveStableNames() {
        RunFinished finished{"finished", 7, 100, 5, 0.5, 0.25, 0.75, 1000, 2};
        QCOMPARE(toJsonLine(finished, 12),
                 std::string(R"({"n":12,"event":"run_finished","outcome":"finished","trial":7,"step":100,"epoch":5,)"
                             R"("test_accuracy":0.5,"test_loss":0.25,"best_accuracy":0.75,)"
                             R"("train_samples_per_second":1000,"seconds":2,"held_up":[]})"));
    }

    void notANumberIsNull() {
        StepDone step;
        step.step = 3;
        step.loss = std::numeric_limits<double>::quiet_NaN();
        step.gradientNorm = std::numeric_limits<double>::infinity();
        step.compute = {1.5f, std::numeric_limits<float>::quiet_NaN()};
        const auto line = toJsonLine(step, 1);
        QVERIFY(line.find("\"loss\":null") != line.npos);
        QVERIFY(line.find("\"gradient_norm\":null") != line.npos);
        QVERIFY(line.find("\"compute\":[1.5,null]") != line.npos);
        const auto back = std::get<StepDone>(eventFromJsonLine(line).value().event);
        QCOMPARE(back.step, std::int64_t(3));
        QVERIFY(std::isnan(back.loss) && std::isnan(back.gradientNorm) && std::isnan(back.compute[1]));
    }

    void awkwardTextSurvives() {
        const Message message{"warning", {"a\"b\\c\n\x01.idx", "idx.truncated", {"ä€", ""}}};
        const auto back = std::get<Message>(eventFromJsonLine(toJsonLine(message, 1)).value().event);
        QVERIFY(back.text == message.text);
    }

    void aProblemThatFailedARunComesBack() {
        for (const Problem& problem :
             {Problem{"batch", "spec.batch-too-large", {"8", "a, b", ""}}, Problem{"", "spec.unknown-model", {}}}) {
            const auto line = toJsonLine(failureFrom(problem), 1);
            QVERIFY(problemIn(std::get<RunFailed>(eventFromJsonLine(line).value().event)) == problem);
        }
        QVERIFY(!problemIn({"out-of-memory", "dense head", "no 3 GiB", 1, 17}));
    }

    // Before there was a list, its arguments came joined.
    void failuresWithoutAListAreStillRead() {
        const auto old =
            eventFromJsonLine(R"({"n":2,"event":"run_failed","kind":"spec.batch-too-large","where":"batch",)"
                              R"("what":"512, synthetic, 100","rank":-1,"step":0})");
        const Problem expected{"batch", "spec.batch-too-large", {"512", "synthetic", "100"}};
        QVERIFY(problemIn(std::get<RunFailed>(old.value().event)) == expected);
    }

    // Before there was a validation split.
    void evaluationsWithoutASplitAreOfTheTest() {
        const auto old = eventFromJsonLine("{\"n\":2,\"event\":\"eval_done\",\"step\":7,\"loss\":0.5}");
        QVERIFY(std::get<EvalDone>(old.value().event).split == Split::Test);
        const auto line = toJsonLine(EvalDone{.step = 7, .split = Split::Validation}, 2);
        QVERIFY(QByteArray::fromStdString(line).contains("\"split\":\"validation\""));
        QVERIFY(!eventFromJsonLine("{\"n\":2,\"event\":\"eval_done\",\"split\":\"guess\"}").ok());
    }

    void cutLinesAreProblems() {
        const auto line = toJsonLine(RunStarted{1, 1, "cpu:2", {"cpu:0", "cpu:1"}, false, 5, 6, 7, 8, 9, 10, 11}, 4);
        for (std::size_t bytes = 0; bytes < line.size(); ++bytes)
            QVERIFY(!eventFromJsonLine(line.substr(0, bytes)).ok());
    }

    void strangeLinesAreProblems_data() {
        QTest::addColumn<QString>("line");
        QTest::addColumn<QString>("code");
        QTest::newRow("not an object") << "[1,2]"
                                       << "event.malformed";
        QTest::newRow("unknown") << R"({"n":1,"event":"coffee"})"
                                 << "event.unknown";
        QTest::newRow("wrong type") << R"({"n":1,"event":"step_done","step":"three"})"
                                    << "event.bad-field";
        QTest::newRow("too large") << R"({"n":1,"event":"run_failed","rank":99999999999})"
                                   << "event.bad-field";
        QTest::newRow("not whole") << R"({"n":1.5,"event":"step_done"})"
                                   << "event.bad-field";
        QTest::newRow("array of wrong") << R"({"n":1,"event":"step_done","wait":[true]})"
                                        << "event.bad-field";
    }
    void strangeLinesAreProblems() {
        QFETCH(QString, line);
        QFETCH(QString, code);
        const auto result = eventFromJsonLine(line.toStdString());
        QVERIFY(!result.ok());
        QCOMPARE(QString::fromStdString(result.problems().front().code), code);
    }

    void onlyStepsMayBeDropped() {
        QVERIFY(isStepEvent(StepDone{}));
        QVERIFY(!isStepEvent(EvalDone{}) && !isStepEvent(RunFinished{}) && !isStepEvent(StateChanged{}));
    }
};

QTEST_APPLESS_MAIN(TestTrainEvent)
#include "tst_train_event.moc"
