#pragma once
#include <QTemporaryDir>
#include <QtTest>
#include <memory>

#include "tests/ui/queue/made_queue.h"
#include "ui/compare/compare_list.h"
#include "ui/compare/compare_page.h"

namespace lockstep::test {

using namespace lockstep::ui;

// A home with a made sweep, number 1, of five cells with two trials each, of which the last two failed: accuracies .50
// .51, .60 .61, .70 .71, .80 .81; and the page over it.
class CompareDesktop {
public:
    explicit CompareDesktop(bool hasTrials = true) {
        const std::filesystem::path base = folder.path().toStdString();
        places = {base, base / "cache", base / "sockets", base / "config"};
        if (!preparePlaces(places).ok()) qFatal("no home");
        made = std::make_unique<MadeQueue>(places);
        made->keep();
        if (!hasTrials) return;
        const std::int64_t sweep = made->sweep("made", 5);
        for (std::int64_t cell = 0; cell < 4; ++cell)
            for (std::int64_t repeat = 0; repeat < 2; ++repeat)
                made->finish(specOf(cell, repeat), accuracyOf(cell, repeat), GroupPlace{sweep, cell, repeat});
        for (std::int64_t repeat = 0; repeat < 2; ++repeat) made->fail("", GroupPlace{sweep, 4, repeat});
    }

    static double accuracyOf(std::int64_t cell, std::int64_t repeat) {
        return 0.5 + 0.1 * static_cast<double>(cell) + 0.01 * static_cast<double>(repeat);
    }
    // As the sweep's cells have it.
    static TrialSpec specOf(std::int64_t cell, std::int64_t repeat) {
        TrialSpec spec = MadeQueue::specOf("");
        spec.batch = std::int64_t{32} << cell;
        spec.learningRate = 0.01;
        spec.seed = static_cast<std::uint64_t>(repeat + 1);
        return spec;
    }

    void open(std::int64_t scope = 1) {
        page.reset();
        selection = std::make_unique<TrialSelection>();
        selection->setScope(scope);
        history = std::make_unique<HistoryService>(places);
        page = std::make_unique<ComparePage>(history.get(), selection.get(), [](const Problem& problem) {
            return Explanation{QString::fromStdString(problem.code), "do this"};
        });
        page->resize(1280, 800);
        page->show();
        page->activateWindow();
        (void)QTest::qWaitForWindowActive(page.get());
    }
    CompareList& list() const { return *page->findChild<CompareList*>(); }
    int rows() const { return list().model()->rowCount(); }
    QString cell(int row, int column) const { return list().model()->index(row, column).data().toString(); }

    QTemporaryDir folder;
    Places places;
    std::unique_ptr<MadeQueue> made;
    std::unique_ptr<HistoryService> history;
    std::unique_ptr<TrialSelection> selection;
    std::unique_ptr<ComparePage> page;
};

}  // namespace lockstep::test
