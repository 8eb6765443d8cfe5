#include "ui/compare/stretch_feed.h"

#include <QPointer>
#include <algorithm>
#include <set>
#include <tuple>

#include "engine/trials/trial_service.h"

namespace lockstep::ui {

namespace {

constexpr std::size_t kStretches = 2048;   // about as many as a wide plot has columns
constexpr std::int64_t kWidestDetail = 6;  // screens

bool isWide(const std::vector<SeriesStretch>& stretches) {
    return std::ranges::any_of(stretches, [](const SeriesStretch& each) { return each.count > 1; });
}

// What is known of the part in the place of what is known of the whole.
std::vector<SeriesStretch> spliced(const std::vector<SeriesStretch>& whole, const std::vector<SeriesStretch>& part) {
    if (part.empty()) return whole;
    std::vector<SeriesStretch> joined;
    const auto isBefore = [&](const SeriesStretch& each) { return each.step < part.front().step; };
    std::ranges::copy_if(whole, std::back_inserter(joined), isBefore);
    joined.insert(joined.end(), part.begin(), part.end());
    std::ranges::copy_if(whole, std::back_inserter(joined),
                         [&](const SeriesStretch& each) { return each.step > part.back().step; });
    return joined;
}

}  // namespace

struct StretchFeed::Found {
    std::map<std::int64_t, MemberCurve> curves = {};
    std::vector<std::int64_t> slow = {};  // whose series were read whole, and are long
};

class StretchFeed::Reader {
public:
    Found read(const TrialQuery& query, const std::vector<std::int64_t>& trials, const std::string& metric,
               const std::map<std::int64_t, StepRange>& details) {
        Found found;
        std::map<Key, Known> used;
        for (const std::int64_t trial : trials) {
            const auto row = query.find(trial);
            if (!row) continue;
            const auto detail = details.find(trial);
            const auto range = detail == details.end() ? std::nullopt : std::optional(detail->second);
            Known& known = used[{trial, metric}] = knownOf({trial, metric});
            update(known, query, *row, metric, range);
            found.curves[trial] = known.curve;
        }
        m_known = std::move(used);
        std::ranges::copy_if(query.withoutLevels(trials), std::back_inserter(found.slow),
                             [this](std::int64_t trial) { return m_tried.insert(trial).second; });
        return found;
    }

private:
    using Key = std::pair<std::int64_t, std::string>;
    struct Known {
        std::int64_t attempts = -1, lastEvent = -1;
        std::vector<SeriesStretch> whole = {};
        TrialWorlds worlds = {};
        std::optional<StepRange> range = std::nullopt;
        MemberCurve curve = {};
    };

    Known knownOf(const Key& key) const {
        const auto known = m_known.find(key);
        return known == m_known.end() ? Known() : known->second;
    }

    static bool isSame(const std::optional<StepRange>& a, const std::optional<StepRange>& b) {
        return a.has_value() == b.has_value() && (!a || std::tie(a->from, a->to) == std::tie(b->from, b->to));
    }

    static void update(Known& known, const TrialQuery& query, const TrialRow& row, const std::string& metric,
                       const std::optional<StepRange>& range) {
        const auto lastEvent = query.lastEvent(row.id);
        const bool isCurrent = known.attempts == row.attempts && known.lastEvent == lastEvent;
        if (isCurrent && isSame(known.range, range)) return;
        if (!isCurrent) {
            known.whole = query.decimatedSeries(row.id, metric, kStretches);
            known.worlds = query.worlds(std::span(&row.id, 1))[row.id];
            known.attempts = row.attempts, known.lastEvent = lastEvent;
        }
        known.range = range;
        const bool hasDetail = range && isWide(known.whole);
        const auto part =
            hasDetail ? query.decimatedSeries(row.id, metric, 3 * kStretches, range) : std::vector<SeriesStretch>();
        known.curve = curveOfStretches(spliced(known.whole, part), known.worlds);
    }

    std::map<Key, Known> m_known;
    std::set<std::int64_t> m_tried;  // to be given levels, which is tried once
};

StretchFeed::StretchFeed(HistoryService* history, QObject* parent)
    : QObject(parent), m_history(*history), m_reader(std::make_shared<Reader>()) {}

StretchFeed::~StretchFeed() = default;

void StretchFeed::want(std::vector<std::int64_t> trials, const std::string& metric) {
    if (metric != m_metric) m_curves.clear(), m_details.clear();
    m_trials = std::move(trials);
    m_metric = metric;
    ask();
}

void StretchFeed::setDetail(std::int64_t trial, const std::optional<StepRange>& range) {
    if (range) m_details[trial] = *range;
    else m_details.erase(trial);
}

std::optional<StepRange> StretchFeed::detailOf(std::int64_t trial) const {
    const auto found = m_details.find(trial);
    return found == m_details.end() ? std::nullopt : std::optional(found->second);
}

// With as much again on both sides, so that small movements read nothing.
std::optional<StepRange> StretchFeed::detailFor(const StepRange& visible, const StepRange& whole,
                                                const std::optional<StepRange>& current) {
    const std::int64_t seen = visible.to - visible.from;
    if (seen >= (whole.to - whole.from) / 2) return std::nullopt;
    const bool covers = current && current->from <= visible.from && visible.to <= current->to;
    if (covers && current->to - current->from <= kWidestDetail * seen) return current;
    return StepRange{visible.from - seen, visible.to + seen};
}

MemberCurve StretchFeed::curveOf(std::int64_t trial) const {
    const auto found = m_curves.find(trial);
    return found == m_curves.end() ? MemberCurve() : found->second;
}

// One question at a time: of those that come meanwhile the last counts.
void StretchFeed::ask() {
    m_isStale = m_isAsking;
    if (m_isAsking) return;
    m_isAsking = true;
    auto found = std::make_shared<Found>();
    m_history.run([reader = m_reader, found, trials = m_trials, metric = m_metric, details = m_details](
                      TrialService& service) { *found = reader->read(service.query(), trials, metric, details); },
                  [feed = QPointer(this), found, metric = m_metric](const std::optional<Problem>& problem) {
                      if (!feed) return;
                      feed->m_isAsking = false;
                      if (!problem && metric == feed->m_metric) {
                          feed->m_curves = found->curves;
                          feed->addLevels(found->slow);
                          emit feed->read();
                      }
                      if (feed->m_isStale) feed->ask();
                  });
}

// A history that cannot be written is read as it is.
void StretchFeed::addLevels(const std::vector<std::int64_t>& trials) {
    if (trials.empty()) return;
    m_history.run([trials](TrialService& service) { service.store().addLevels(trials); },
                  [](const std::optional<Problem>&) {});
}

}  // namespace lockstep::ui
