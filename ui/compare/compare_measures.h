#pragma once
#include <QObject>

#include "ui/compare/compare_feed.h"
#include "ui/compare/compare_scene.h"

namespace lockstep::ui {

// Measures trials as a whole by what they said on their way: how long each took to the target, and the memory of a
// device. Hands it to the feed, whose next table has it. GUI thread.
class CompareMeasures : public QObject {
    Q_OBJECT
public:
    // Both outlive it.
    CompareMeasures(HistoryService* history, CompareFeed* feed, QObject* parent = nullptr);

    void setScene(const SharedScene& scene);  // reads again where the table or the target is another one

private:
    void take(const SharedScene& scene, const ProgressOfTrials& progress);

    HistoryService& m_history;
    CompareFeed& m_feed;
    SharedScene m_scene;
};

}  // namespace lockstep::ui
