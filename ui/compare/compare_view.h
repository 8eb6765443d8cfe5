#pragma once
#include <QByteArray>
#include <QString>
#include <QTimer>
#include <QWidget>

#include "ui/compare/compare_scene.h"
#include "ui/history/trial_selection.h"

class QPainter;
class QSettings;

namespace lockstep::ui {

// One way to look at the trials of a comparison. It draws a scene, and reads and changes the selection that all views
// share: hovering lights a trial in all of them, pins and brushes go through it. Drawn when the scene or the selection
// changes, and only while it is visible; out of sight it takes what a brush makes once that rests. GUI thread.
class CompareView : public QWidget {
    Q_OBJECT
public:
    // The selection outlives the view.
    explicit CompareView(TrialSelection* selection, QWidget* parent = nullptr);

    void setScene(SharedScene scene);
    const SharedScene& scene() const { return m_scene; }  // that it shows; null before the first
    void settle();                                        // shows the latest at once, though it be out of sight
    TrialSelection& selection() const { return m_selection; }

    virtual QString title() const = 0;               // "Parallel coordinates"
    virtual QString fileName() const = 0;            // "parallel": what its pictures are saved as
    virtual bool isOffered() const { return true; }  // false: it means nothing for these trials, and is not shown
    virtual QString emptyText() const;    // why there is nothing to see, and the remedy; empty: there is something
    virtual QString summary() const = 0;  // for people who hear it: what the picture says, in a few sentences
    virtual QByteArray csv() const = 0;   // what it shows, with a line of names; numbers unrounded
    // The picture into `area`, as it is on the screen but without what follows the pointer; for files, too.
    virtual void paintPicture(QPainter& painter, const QRectF& area) const = 0;
    // What a person has made of it, for the next window; by itself nothing.
    virtual void save(QSettings& settings) const;
    virtual void restore(const QSettings& settings);

signals:
    void openWanted(qint64 trial);  // the trial's run
    void wordsChanged();            // emptyText() or summary()

protected:
    virtual void sceneChanged() = 0;
    virtual void lightChanged() = 0;             // hovered(), or pins: what is drawn above the scene
    void hover(std::optional<std::size_t> row);  // the pointer is on that row's trial
    std::optional<std::size_t> hoveredRow() const;
    QColor colorOf(std::size_t row) const;  // of a pinned trial its own; of others the quiet one of a line
    bool isPinned(std::size_t row) const;
    void togglePin(std::size_t row);
    void openClicked(std::size_t row);  // by a double click, whose first one has toggled the pin: it is toggled back
    bool event(QEvent* event) override;
    void leaveEvent(QEvent* event) override;
    void showEvent(QShowEvent* event) override;

private:
    bool isLookedAt() const;

    TrialSelection& m_selection;
    SharedScene m_scene, m_latest;
    QTimer m_later;
    bool m_isSceneDue = false;
};

}  // namespace lockstep::ui
