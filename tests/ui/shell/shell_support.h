#pragma once
#include <QApplication>
#include <QLabel>
#include <QMessageBox>
#include <QPushButton>
#include <QtTest>
#include <memory>

#include "engine/session/lease.h"
#include "tests/ui/run_home.h"
#include "ui/run/open_runs.h"
#include "ui/shell/main_window.h"
#include "ui/style/theme.h"

namespace lockstep::ui {

constexpr int kPatience = 60'000;

inline Explanation plainWords(const Problem& problem) {
    return {QString::fromStdString(problem.field + ": " + problem.code), QString()};
}

// What a person sees of a window: buttons and texts by their words.
inline QPushButton* buttonWith(const QWidget& window, const QString& text) {
    for (QPushButton* button : window.findChildren<QPushButton*>()) {
        if (button->text().contains(text) && button->isVisible()) return button;
    }
    return nullptr;
}

inline QString textWith(const QWidget& window, const QString& part) {
    for (const QLabel* label : window.findChildren<QLabel*>()) {
        if (label->isVisible() && label->text().contains(part)) return label->text();
    }
    return {};
}

// Presses the button of the message box that is about to open.
inline void answerWith(const QString& text) {
    QTimer::singleShot(200, qApp, [text] {
        auto* box = qobject_cast<QMessageBox*>(QApplication::activeModalWidget());
        if (!box) return;
        for (QAbstractButton* button : box->buttons()) {
            if (button->text().remove('&') == text) return button->click();
        }
        box->reject();
    });
}

// A home with windows.
class Home : public RunHome {
public:
    explicit Home(const QString& folder = {}) : RunHome(folder) { places = preparePlaces(places).value(); }
    std::unique_ptr<MainWindow> open(const Explain& explain = plainWords) const {
        auto window = std::make_unique<MainWindow>(LOCKSTEP_PROGRAM, places, explain);
        window->show();
        window->activateWindow();  // a bare X server has no window manager to do it
        return window;
    }
};

}  // namespace lockstep::ui
