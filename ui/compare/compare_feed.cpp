#include "ui/compare/compare_feed.h"

#include <QCoreApplication>
#include <QPointer>
#include <QThreadPool>
#include <algorithm>
#include <set>
#include <utility>

namespace lockstep::ui {

namespace {

// A history that grows by many trials a second is read twice in it.
constexpr int kGatherMilliseconds = 20, kPauseMilliseconds = 500;

}  // namespace

CompareFeed::CompareFeed(HistoryService* history, TrialSelection* selection, QObject* parent)
    : QObject(parent), m_history(*history), m_selection(*selection) {
    m_soon.setSingleShot(true);
    if (history->groups()) m_groups = *history->groups();
    if (history->rows()) m_rows = *history->rows();
    m_hasRead = history->rows() || history->isAbsent();
    connect(&m_soon, &QTimer::timeout, this, &CompareFeed::read);
    connect(history, &HistoryService::rowsRead, this, [this](const std::vector<TrialRow>& rows) {
        m_rows = rows;
        m_hasRead = true;
        readAgain();
    });
    connect(history, &HistoryService::absent, this, [this] {
        m_rows.clear();
        m_hasRead = true;
        readAgain();
    });
    connect(history, &HistoryService::groupsRead, this, [this](const TrialGroups& groups) {
        m_groups = groups;
        emit groupsChanged();
        readAgain();
    });
    connect(history, &HistoryService::unreadable, this, [this](const Problem& problem) {
        m_isReading = false;  // what was asked is not answered
        m_isStale = true;
        emit unreadable(problem);
    });
    connect(selection, &TrialSelection::scopeChanged, this, &CompareFeed::readAgain);
    connect(selection, &TrialSelection::listedChanged, this, [this] {
        if (m_selection.scope() == 0) readAgain();
    });
}

void CompareFeed::setFollowing(bool follows) {
    m_follows = follows;
    if (m_follows && m_isStale) readAgain();
}

void CompareFeed::readAgain() {
    m_isStale = true;
    if (m_follows && !m_isReading && !m_soon.isActive()) m_soon.start(kGatherMilliseconds);
}

void CompareFeed::setMeasured(const std::string& key, std::map<std::int64_t, double> values) {
    if (std::exchange(m_measured[key], values) != values) readAgain();
}

void CompareFeed::setTasks(std::map<std::int64_t, std::string> tasks) {
    if (std::exchange(m_tasks, tasks) != tasks) readAgain();
}

// A trial that several sweeps have belongs to each of them.
std::vector<TrialRow> CompareFeed::rowsInScope(const SweepResult* sweep) const {
    std::vector<TrialRow> rows;
    std::set<std::int64_t> ofSweep;
    if (sweep)
        for (const CellResult& cell : sweep->cells) ofSweep.insert(cell.trials.begin(), cell.trials.end());
    const auto& listed = m_selection.listed();
    const std::set<std::int64_t> wanted = listed ? std::set(listed->begin(), listed->end()) : std::set<std::int64_t>();
    std::ranges::copy_if(m_rows, std::back_inserter(rows), [&](const TrialRow& row) {
        if (row.deleted) return false;
        if (sweep) return ofSweep.contains(row.id);
        return listed ? wanted.contains(row.id) : !row.archived;
    });
    // Those put away are left out, unless the whole sweep is.
    if (sweep && !std::ranges::all_of(rows, &TrialRow::archived)) std::erase_if(rows, &TrialRow::archived);
    return rows;
}

void CompareFeed::read() {
    if (!m_hasRead || !m_follows) {
        m_isReading = false;
        m_isStale = true;
        return;
    }
    m_isStale = false;
    m_isReading = true;
    if (m_selection.scope() == 0) return readSettings(std::nullopt);
    m_history.readSweep(m_selection.scope(), [feed = QPointer(this)](const Result<SweepResult>& sweep) {
        if (!feed) return;
        if (sweep.ok()) return feed->readSettings(sweep.value());
        feed->m_isReading = false;
        emit feed->unreadable(sweep.problems().front());
    });
}

void CompareFeed::readSettings(std::optional<SweepResult> sweep) {
    std::vector<std::int64_t> trials;
    for (const TrialRow& row : rowsInScope(sweep ? &*sweep : nullptr)) trials.push_back(row.id);
    if (trials.empty()) return make({}, std::move(sweep));  // also where there is no history to be asked
    std::vector<std::string> varied;
    if (sweep)
        for (const Dimension& each : sweep->spec.vary) varied.push_back(each.path);
    m_history.readDifferences(std::move(trials), std::move(varied),
                              [feed = QPointer(this), sweep = std::move(sweep)](const DifferingSettings& settings) {
                                  if (feed) feed->make(settings, sweep);
                              });
}

// On another thread: of thousands of trials it takes as long as several pictures.
void CompareFeed::make(DifferingSettings settings, std::optional<SweepResult> sweep) {
    if ((sweep ? sweep->group.id : 0) != m_selection.scope()) return read();  // another one is wanted meanwhile
    auto rows = rowsInScope(sweep ? &*sweep : nullptr);
    auto facts = std::make_shared<const CompareFacts>(
        CompareFacts{std::move(rows), std::move(settings), std::move(sweep), m_measured, m_tasks});
    QThreadPool::globalInstance()->start([facts, feed = QPointer(this)] {
        auto table = std::make_shared<const CompareTable>(compareTable(*facts));
        auto of = facts->sweep ? std::make_shared<const SweepResult>(*facts->sweep) : nullptr;
        QMetaObject::invokeMethod(
            qApp,
            [table, of, feed] {
                if (!feed) return;
                feed->m_isReading = false;
                if (feed->m_isStale) feed->m_soon.start(kPauseMilliseconds);
                emit feed->tableMade(table, of);
            },
            Qt::QueuedConnection);
    });
}

}  // namespace lockstep::ui
