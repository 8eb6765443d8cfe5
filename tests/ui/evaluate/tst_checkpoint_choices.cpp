#include <QtTest>

#include "ui/evaluate/checkpoint_choices.h"
#include "ui/history/command_text.h"

using namespace lockstep;
using namespace lockstep::ui;

namespace {

using Kept = std::vector<CheckpointFile>;
const CheckpointFile kNewest{"last", 0}, kItsBest{"best", 0}, kThird{"epoch-3", 3}, kSeventh{"epoch-7", 7};

Evaluation evaluationOf(const std::string& checkpoint) {
    Evaluation evaluation;
    evaluation.checkpoint = checkpoint;
    return evaluation;
}

}  // namespace

class TestCheckpointChoices : public QObject {
    Q_OBJECT
private slots:
    void theBestCanBeAskedForWhereAnyIsKept() {
        QCOMPARE(checkpointChoices({}), Kept());
        QCOMPARE(checkpointChoices({kNewest}), Kept{kNewest});
        QCOMPARE(checkpointChoices({kNewest, kItsBest}), (Kept{kItsBest, kNewest}));
        QCOMPARE(checkpointChoices({kNewest, kThird, kSeventh}), (Kept{kItsBest, kNewest, kThird, kSeventh}));
        QCOMPARE(checkpointChoices({kThird}), (Kept{kItsBest, kThird}));
    }

    void whatIsLookedAtIsMeantWhereItIsKept() {
        const Kept choices{kItsBest, kNewest, kThird};
        const Evaluation ofLast = evaluationOf("last"), ofThird = evaluationOf("epoch-3"),
                         ofGone = evaluationOf("epoch-5");
        EvalCounts third, fourth;
        third.epoch = 3;
        fourth.epoch = 4;
        QCOMPARE(checkpointShown(choices, &ofLast, &third), std::string("last"));
        QCOMPARE(checkpointShown(choices, &ofThird, nullptr), std::string("epoch-3"));
        QCOMPARE(checkpointShown(choices, &ofGone, nullptr), std::string("best"));
        QCOMPARE(checkpointShown(choices, nullptr, &third), std::string("epoch-3"));
        QCOMPARE(checkpointShown(choices, nullptr, &fourth), std::string("best"));
        QCOMPARE(checkpointShown(choices, nullptr, nullptr), std::string("best"));
        QCOMPARE(checkpointShown({kNewest}, nullptr, &fourth), std::string("last"));
        QCOMPARE(checkpointShown({}, &ofLast, nullptr), std::string());
    }

    void aRoleIsAskedForInTheCommandsWords() {
        QCOMPARE(checkpointArguments("last"), (QStringList{"--checkpoint", "last"}));
        QCOMPARE(checkpointArguments("epoch-7"), (QStringList{"--checkpoint", "7"}));
    }
};

QTEST_APPLESS_MAIN(TestCheckpointChoices)
#include "tst_checkpoint_choices.moc"
