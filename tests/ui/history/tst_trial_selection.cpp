#include <QSignalSpy>
#include <QtTest>

#include "ui/history/trial_selection.h"

using namespace lockstep::ui;

class TestTrialSelection : public QObject {
    Q_OBJECT
private slots:
    void eachChangeIsSaidOnce() {
        TrialSelection selection;
        const QSignalSpy filter(&selection, &TrialSelection::filterChanged),
            pinned(&selection, &TrialSelection::pinnedChanged), hovered(&selection, &TrialSelection::hoveredChanged);
        for (int i = 0; i < 2; ++i) {
            selection.setFilter("resnet");
            selection.setPinned({3, 1});
            selection.setHovered(7);
        }
        QCOMPARE(filter.count() + 10 * pinned.count() + 100 * hovered.count(), 111);
        QCOMPARE(selection.filter(), QString("resnet"));
        QCOMPARE(selection.pinned(), std::vector<std::int64_t>({3, 1}));
        QCOMPARE(selection.hovered(), std::optional<std::int64_t>(7));
        selection.setHovered(std::nullopt);
        QCOMPARE(hovered.count(), 2);
    }

    // A page that says what it has just heard does not go round in circles.
    void aPageMayAnswerWithWhatItHeard() {
        TrialSelection selection;
        int heard = 0;
        connect(&selection, &TrialSelection::pinnedChanged, this, [&] {
            ++heard;
            selection.setPinned(selection.pinned());
        });
        selection.setPinned({5});
        QCOMPARE(heard, 1);
    }
};

QTEST_APPLESS_MAIN(TestTrialSelection)
#include "tst_trial_selection.moc"
