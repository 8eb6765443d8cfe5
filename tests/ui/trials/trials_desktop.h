#pragma once
#include <QAction>
#include <QLabel>
#include <QPushButton>
#include <QTemporaryDir>
#include <QtTest>
#include <memory>
#include <optional>

#include "engine/history/trial_store.h"
#include "engine/session/lease.h"
#include "tests/bench/made_history.h"
#include "ui/plot/plot_view.h"
#include "ui/trials/trials_page.h"
#include "ui/trials/trials_table.h"

namespace lockstep::test {

using namespace lockstep::ui;

inline Explanation explain(const Problem& problem) { return {QString::fromStdString(problem.code), "do this"}; }

// A home of its own, and the page on it.
struct Desktop {
    explicit Desktop(const MadeHistory& made = {}) {
        for (const auto& folder : {places.data, places.config, places.runs()})
            std::filesystem::create_directories(folder);
        if (made.trials > 0) makeHistory(places.history(), made);
    }

    void open() {
        page.reset();  // the one before remembers its look first
        history = std::make_unique<HistoryService>(places);
        page = std::make_unique<TrialsPage>(history.get(), &selection, places, explain);
        page->resize(1280, 800);
        page->show();
        page->activateWindow();  // a bare X server has no window manager to do it
        (void)QTest::qWaitForWindowActive(page.get());
    }
    TrialsTable& table() const { return *page->findChild<TrialsTable*>(); }
    int rows() const { return table().model()->rowCount(); }
    QString cell(int row, int column) const { return table().model()->index(row, column).data().toString(); }
    void select(int row) const { table().selectOnly(row); }
    QAction& action(const QString& text) const {
        for (auto* each : table().actions())
            if (each->iconText() == text) return *each;
        qFatal("no action %s", qPrintable(text));
    }
    bool says(const QString& words) const {
        for (const auto* label : page->findChildren<QLabel*>())
            if (label->isVisible() && label->text().contains(words)) return true;
        return false;
    }
    QPushButton* button(const QString& text) const {
        for (auto* each : page->findChildren<QPushButton*>())
            if (each->isVisible() && each->text() == text) return each;
        return nullptr;
    }
    PlotView& plot() const { return *page->findChild<PlotView*>(); }
    QTableView& settings() const {
        for (auto* each : page->findChildren<QTableView*>())
            if (each->accessibleName() == "Settings of the selected trials") return *each;
        qFatal("no settings");
    }

    QTemporaryDir home;
    Places places{home.path().toStdString() + "/data", home.path().toStdString() + "/cache",
                  home.path().toStdString() + "/run", home.path().toStdString() + "/config"};
    std::unique_ptr<HistoryService> history;
    TrialSelection selection;
    std::unique_ptr<TrialsPage> page;
};

struct RunningTrial {
    RunningTrial(const Places& places, TrialStore& store) : trial(store.createTrial({}, places.runs())) {
        std::filesystem::create_directories(places.run(trial));
        lease = Lease::tryAcquire(places.lease(trial));
        store.setState(trial, RunState::Running);
    }
    std::int64_t trial;
    std::optional<Lease> lease;
};

}  // namespace lockstep::test
