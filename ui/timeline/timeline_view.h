#pragma once
#include <QDockWidget>
#include <QTimer>
#include <QWidget>

#include "engine/session/places.h"
#include "ui/style/update_pace.h"
#include "ui/timeline/timeline_feed.h"
#include "ui/timeline/timeline_state.h"

class QLabel;
class QPlainTextEdit;
class QStackedWidget;
class QToolButton;

namespace lockstep::ui {

class TimelineCanvas;

// The timeline of one run with its buttons, and the same facts as text. Where OpenGL is missing it says so; the text
// remains. Reads only while it is visible. The window's thread.
class TimelineView : public QWidget {
    Q_OBJECT
public:
    explicit TimelineView(QWidget* parent = nullptr);
    ~TimelineView() override;

    // Shows the attempt's trace as it grows, or as it was left; a run that goes on is followed.
    void follow(const Places& places, std::int64_t trial, std::int64_t attempt);
    void setModel(TimelineModel model);  // shows it, follows nothing
    void clear();

    const TimelineState& state() const { return m_state; }
    TimelineCanvas* canvas() const { return m_canvas; }  // null before the first show, and without OpenGL

protected:
    void showEvent(QShowEvent* event) override;
    void hideEvent(QHideEvent* event) override;
    void changeEvent(QEvent* event) override;

private:
    QWidget* makeContent();
    void makePicture();
    QWidget* makeBar();
    QToolButton* makeButton(const QString& text, const QString& name, const QString& tip, int key);
    void press(int key);
    void take(const TraceChunk& chunk);
    void dataCame();
    void refresh();
    void describe();
    void showLegend();
    void showPage();

    TimelineState m_state;
    TimelineFeed m_feed;
    QTimer m_frameTimer, m_textTimer;
    UpdatePace m_pace;
    bool m_following = false;  // a run, be it over or not
    QStackedWidget *m_pages = nullptr, *m_picture = nullptr;
    QLabel *m_empty = nullptr, *m_legend = nullptr;
    TimelineCanvas* m_canvas = nullptr;
    QPlainTextEdit* m_text = nullptr;
    QToolButton* m_followButton = nullptr;
};

class TimelineDock : public QDockWidget {
    Q_OBJECT
public:
    explicit TimelineDock(QWidget* parent = nullptr);
    TimelineView& view() const { return *m_view; }

private:
    TimelineView* m_view;
};

}  // namespace lockstep::ui
