#pragma once
#include <QIcon>
#include <QList>
#include <QString>
#include <QVector>
#include <QWidget>
#include <optional>

class QAction;
class QSettings;
class QUndoStack;

namespace lockstep::ui {

// What stands where there is nothing to show yet: words, and commands that lead on; the first is the one to take.
struct EmptyState {
    struct Way {
        QString command, words;  // its id; what the button says
    };
    QString title, text;
    QVector<Way> ways;
};

// What the window shows of a page, whether it is made or not.
struct PageFace {
    QString id;                 // "trials", which never changes; the command that shows the page is "page.trials"
    QString title;              // with the letter for its menu: "Tr&ials"
    QIcon (*icon)() = nullptr;  // in the colours of the theme as it is now
};

// A page of the window, as the shell knows it; the shell owns and shows it and knows nothing else of it. Pages do not
// know each other: one asks for another's command by its id. A command is a QAction whose objectName is its id,
// "trials.star", which never changes. Each has a `static PageFace face()`. GUI thread.
class Page : public QWidget {
    Q_OBJECT
public:
    using QWidget::QWidget;

    // What can be done while the page is in front, as it is then; enabled and visible as they may be used.
    virtual QList<QAction*> commands() const = 0;
    // What it does from anywhere; always the same. Of a page that is made with the window.
    virtual QList<QAction*> windowCommands() const { return {}; }
    virtual QUndoStack* undoStack() { return nullptr; }  // what Undo and Redo mean while it is in front
    virtual std::optional<EmptyState> emptyState() const { return std::nullopt; }  // in place of the page
    virtual void save(QSettings&) const {}                                         // what the next window is to find
    virtual void restore(const QSettings&) {}                                      // once, before it is shown
    virtual bool mayClose() { return true; }  // may ask the person; false: the window stays

signals:
    void raised();  // it wants to be in front
    void emptyStateChanged();
    void commandWanted(const QString& id);
};

}  // namespace lockstep::ui
