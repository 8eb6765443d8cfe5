#pragma once
#include <QObject>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "ui/compare/member_curve.h"
#include "ui/history/history_service.h"

namespace lockstep::ui {

// Series of steps of those trials that somebody looks at, in as many stretches as a screen shows; of a part of them
// that fills the screen, in more. A series that has not changed is not read again. Adds what long series of older
// trials lack to be read quickly (TrialStore::addLevels), where the history may be written. GUI thread.
class StretchFeed : public QObject {
    Q_OBJECT
public:
    explicit StretchFeed(HistoryService* history, QObject* parent = nullptr);
    ~StretchFeed() override;

    // These trials, of which some may have changed. Answered by read(), also where nothing is new.
    void want(std::vector<std::int64_t> trials, const std::string& metric);
    // Of one of them, from the next want() on: the steps that fill the screen; nullopt: all of them do.
    void setDetail(std::int64_t trial, const std::optional<StepRange>& range);
    std::optional<StepRange> detailOf(std::int64_t trial) const;
    MemberCurve curveOf(std::int64_t trial) const;  // no curve: it has none, or it has not been read yet

    // Which steps are worth detail where `visible` are on the screen, of those of the series; `current` where that
    // does.
    static std::optional<StepRange> detailFor(const StepRange& visible, const StepRange& whole,
                                              const std::optional<StepRange>& current);

signals:
    void read();

private:
    class Reader;
    struct Found;

    void ask();
    void addLevels(const std::vector<std::int64_t>& trials);

    HistoryService& m_history;
    const std::shared_ptr<Reader> m_reader;  // of the service's thread
    std::vector<std::int64_t> m_trials;
    std::string m_metric;
    std::map<std::int64_t, StepRange> m_details;
    std::map<std::int64_t, MemberCurve> m_curves;  // of m_metric
    bool m_isAsking = false, m_isStale = false;
};

}  // namespace lockstep::ui
