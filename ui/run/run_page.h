#pragma once
#include <QPointer>
#include <QWidget>
#include <array>
#include <vector>

#include "ui/plot/plot_view.h"
#include "ui/run/derived_curve.h"
#include "ui/run/run_feed.h"
#include "ui/style/explanation.h"

class QBoxLayout;
class QGridLayout;
class QLabel;
class QListWidget;
class QProgressBar;

namespace lockstep::ui {

class BandwidthCard;
class DeviceTile;
class FailureCard;
class RunButtons;
class TextCard;

// One run, live or long ended: progress, buttons, curves, devices, messages, and what went wrong. GUI thread; the feed
// must outlive the page or go with it.
class RunPage : public QWidget {
    Q_OBJECT

public:
    RunPage(RunFeed* feed, Explain explain, QWidget* parent = nullptr);
    RunFeed* feed() const { return m_feed; }
    QList<QAction*> commands() const;  // pause, stop…, as its buttons
    void setLook(std::int64_t look);   // colour and marker of its curves: seriesColor(), seriesMarker()

signals:
    void resumeRequested(std::int64_t trial);  // from its last checkpoint, as a new engine process
    void cardRequested(std::int64_t trial);

protected:
    void showEvent(QShowEvent* event) override;
    void changeEvent(QEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;

private:
    QWidget* buildHeader();
    QWidget* buildPlots();
    void buildMessages(QBoxLayout& column);

    void refresh();
    void updateHeader();
    void updateTrouble();
    void updatePlots();
    void updateText();
    void updateTiles();
    void updateMessages();
    void applyTheme();
    void buildTiles(const RunStarted& started);
    void arrangeTiles();
    void arrangeHeader();

    QPointer<RunFeed> m_feed;
    std::int64_t m_look;
    const Explain m_explain;
    QLabel *m_title = nullptr, *m_subtitle = nullptr, *m_state = nullptr, *m_progressText = nullptr,
           *m_trouble = nullptr;
    QBoxLayout* m_top = nullptr;
    QProgressBar* m_progress = nullptr;
    RunButtons* m_buttons = nullptr;
    FailureCard* m_failure = nullptr;
    std::array<PlotView*, 4> m_plots{};
    DerivedCurve m_derivedTraining, m_derivedQuality;
    const Metric* m_quality = nullptr;  // of evaluations, that a plot is set up for
    TextCard* m_text = nullptr;
    QWidget* m_tileArea = nullptr;
    QGridLayout* m_tileGrid = nullptr;
    BandwidthCard* m_bandwidths = nullptr;
    std::vector<DeviceTile*> m_tiles;
    int m_tileColumns = 0;
    std::vector<std::string> m_tileDevices;
    QListWidget* m_messages = nullptr;
    QLabel* m_messagesTitle = nullptr;
};

}  // namespace lockstep::ui
