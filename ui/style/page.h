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

// A page of the window, as the shell knows it; the shell owns and shows it and knows nothing else of it. Pages do not
// know each other: one asks for another's command by its id. A command is a QAction whose objectName is its id,
// "trials.star", which never changes. GUI thread.
class Page : public QWidget {
    Q_OBJECT
public:
    using QWidget::QWidget;

    virtual QString id() const = 0;     // "trials"; the command that shows the page is "page.trials"
    virtual QString title() const = 0;  // with the letter for its menu: "Tr&ials"
    virtual QIcon icon() const = 0;     // in the colours of the theme as it is now
    // What can be done while the page is in front, as it is then; enabled and visible as they may be used.
    virtual QList<QAction*> commands() const = 0;
    virtual QList<QAction*> windowCommands() const { return {}; }  // what it does from anywhere; always the same
    virtual QUndoStack* undoStack() { return nullptr; }            // what Undo and Redo mean while it is in front
    virtual std::optional<EmptyState> emptyState() const { return std::nullopt; }  // in place of the page
    virtual void save(QSettings&) const {}                                         // what the next window is to find
    virtual void restore(const QSettings&) {}                                      // once, after all pages were made
    virtual bool mayClose() { return true; }  // may ask the person; false: the window stays

signals:
    void raised();  // it wants to be in front
    void emptyStateChanged();
    void commandWanted(const QString& id);
};

}  // namespace lockstep::ui
