#include "engine/history/queue_query.h"

#include <SQLiteCpp/SQLiteCpp.h>

#include <type_traits>
#include <variant>

namespace lockstep {

namespace {

using SQLite::Database;
using SQLite::Statement;

constexpr const char* kGroup =
    "SELECT id, kind, title, spec_json, state, reason, created_at, coalesce(finished_at, '') FROM trial_group ";

constexpr const char* kUnderWay = "state IN ('preparing', 'running', 'paused', 'stopping')";

// A state that this version does not know is left to the one that does.
TrialGroup groupIn(Statement& row) {
    return {row.getColumn(0).getInt64(),
            row.getColumn(1).getString(),
            row.getColumn(2).getString(),
            row.getColumn(3).getString(),
            groupStateFrom(row.getColumn(4).getString()).value_or(GroupState::Paused),
            row.getColumn(5).getString(),
            row.getColumn(6).getString(),
            row.getColumn(7).getString()};
}

std::optional<std::int64_t> wholeOrNone(const SQLite::Column& column) {
    return column.isNull() ? std::nullopt : std::optional(column.getInt64());
}

}  // namespace

std::vector<QueueEntry> QueueQuery::entries() const {
    std::vector<QueueEntry> all;
    m_query.read([&](Database& database) {
        Statement row(
            database,
            "SELECT q.trial, priority, position, held, after, retries, tries, step, member_of, cell, repeat, asked,"
            " until_epoch"
            " FROM queue_entry q LEFT JOIN group_trial g ON g.trial = q.trial AND g.adopted = 0"
            " GROUP BY q.trial ORDER BY priority DESC, position, q.trial");
        while (row.executeStep()) {
            all.push_back({row.getColumn(0).getInt64(), row.getColumn(1).getInt64(), row.getColumn(2).getInt64(),
                           row.getColumn(3).getInt() != 0, wholeOrNone(row.getColumn(4)), row.getColumn(5).getInt64(),
                           row.getColumn(6).getInt64(), row.getColumn(7).getInt64()});
            all.back().asked = wholeOrNone(row.getColumn(11));
            if (row.getColumn(8).isNull()) continue;
            all.back().place = {row.getColumn(8).getInt64(), row.getColumn(9).getInt64(), row.getColumn(10).getInt64()};
            all.back().untilEpoch = wholeOrNone(row.getColumn(12));
        }
    });
    return all;
}

std::vector<TrialGroup> QueueQuery::groups(bool unfinished) const {
    std::vector<TrialGroup> all;
    m_query.read([&](Database& database) {
        Statement row(database,
                      std::string(kGroup) + (unfinished ? "WHERE state <> 'finished' " : "") + "ORDER BY id DESC");
        while (row.executeStep()) all.push_back(groupIn(row));
    });
    return all;
}

std::optional<TrialGroup> QueueQuery::group(std::int64_t id) const {
    std::optional<TrialGroup> found;
    m_query.read([&](Database& database) {
        Statement row(database, std::string(kGroup) + "WHERE id = ?");
        row.bind(1, id);
        if (row.executeStep()) found = groupIn(row);
    });
    return found;
}

std::vector<GroupCell> QueueQuery::cells(std::int64_t group) const {
    std::vector<GroupCell> all;
    m_query.read([&](Database& database) {
        Statement row(database, "SELECT number, settings FROM group_cell WHERE member_of = ? ORDER BY number");
        row.bind(1, group);
        while (row.executeStep()) all.push_back({row.getColumn(0).getInt64(), row.getColumn(1).getString()});
    });
    return all;
}

std::vector<GroupTrial> QueueQuery::trials(std::int64_t group) const {
    std::vector<GroupTrial> all;
    m_query.read([&](Database& database) {
        Statement row(database,
                      "SELECT cell, repeat, g.trial, adopted, t.state, q.trial IS NOT NULL, coalesce(t.deleted, 0),"
                      " until_epoch, until_epoch IS NOT NULL AND EXISTS (SELECT 1 FROM event e WHERE e.trial = g.trial"
                      " AND e.kind = 'eval_done' AND json_extract(e.json, '$.epoch') >= until_epoch)"
                      " FROM group_trial g LEFT JOIN trial t ON t.id = g.trial"
                      " LEFT JOIN queue_entry q ON q.trial = g.trial WHERE member_of = ? ORDER BY cell, repeat");
        row.bind(1, group);
        while (row.executeStep())
            all.push_back({{group, row.getColumn(0).getInt64(), row.getColumn(1).getInt64()},
                           wholeOrNone(row.getColumn(2)),
                           row.getColumn(3).getInt() != 0,
                           row.getColumn(4).isNull() ? std::nullopt : runStateFrom(row.getColumn(4).getString()),
                           row.getColumn(5).getInt() != 0,
                           row.getColumn(6).getInt() != 0,
                           wholeOrNone(row.getColumn(7)),
                           row.getColumn(8).getInt() != 0});
    });
    return all;
}

std::vector<GroupValue> QueueQuery::values(std::int64_t group, const Metric& metric) const {
    std::vector<GroupValue> all;
    m_query.read([&](Database& database) {
        Statement row(database,
                      "SELECT cell, repeat, json_extract(e.json, '$.epoch'), json_extract(e.json, ?2)"
                      " FROM group_trial g JOIN event e ON e.trial = g.trial"
                      " WHERE member_of = ?1 AND e.kind = 'eval_done' AND json_extract(e.json, ?2) IS NOT NULL"
                      " AND coalesce(json_extract(e.json, '$.split'), 'test') = ?3"
                      " ORDER BY cell, repeat, json_extract(e.json, '$.epoch'), e.attempt, e.number");
        row.bind(1, group), row.bind(2, "$." + std::string(metric.field)), row.bind(3, std::string(text(metric.split)));
        while (row.executeStep()) {
            const GroupValue value{{group, row.getColumn(0).getInt64(), row.getColumn(1).getInt64()},
                                   row.getColumn(2).getInt64(),
                                   row.getColumn(3).getDouble()};
            const bool isAgain = !all.empty() && all.back().place == value.place && all.back().epoch == value.epoch;
            if (isAgain) all.back() = value;
            else all.push_back(value);
        }
    });
    return all;
}

bool QueueQuery::hasVirtualDevices(std::int64_t group) const {
    bool found = false;
    m_query.read([&](Database& database) {
        Statement row(database,
                      "SELECT 1 FROM group_trial g JOIN event e ON e.trial = g.trial WHERE member_of = ?"
                      " AND e.kind = 'run_started' AND json_extract(e.json, '$.virtual_devices') LIMIT 1");
        row.bind(1, group);
        found = row.executeStep();
    });
    return found;
}

std::vector<RungArrival> QueueQuery::arrivals(std::int64_t group) const {
    std::vector<RungArrival> all;
    m_query.read([&](Database& database) {
        Statement row(database, "SELECT cell, rung FROM rung_arrival WHERE member_of = ? ORDER BY number");
        row.bind(1, group);
        while (row.executeStep()) all.push_back({row.getColumn(0).getInt64(), row.getColumn(1).getInt64()});
    });
    return all;
}

std::unordered_map<std::int64_t, std::int64_t> QueueQuery::pausedAtRungs(std::optional<std::int64_t> trial) const {
    std::unordered_map<std::int64_t, std::int64_t> all;
    m_query.read([&](Database& database) {
        Statement row(database,
                      "SELECT g.trial, member_of FROM group_trial g JOIN trial_group s ON s.id = member_of"
                      " JOIN trial t ON t.id = g.trial WHERE s.state IN ('active', 'paused') AND t.state = 'stopped'"
                      " AND t.deleted = 0 AND until_epoch IS NOT NULL AND (?1 IS NULL OR g.trial = ?1)"
                      " AND NOT EXISTS (SELECT 1 FROM queue_entry q WHERE q.trial = g.trial)"
                      " AND EXISTS (SELECT 1 FROM event e WHERE e.trial = g.trial"
                      " AND e.kind = 'eval_done' AND json_extract(e.json, '$.epoch') >= until_epoch)");
        if (trial) row.bind(1, *trial);
        while (row.executeStep()) all[row.getColumn(0).getInt64()] = row.getColumn(1).getInt64();
    });
    return all;
}

std::unordered_map<std::int64_t, GroupPlace> QueueQuery::places() const {
    std::unordered_map<std::int64_t, GroupPlace> all;
    m_query.read([&](Database& database) {
        Statement row(database,
                      "SELECT trial, member_of, cell, repeat FROM group_trial WHERE trial IS NOT NULL"
                      " ORDER BY member_of");
        while (row.executeStep())
            all[row.getColumn(0).getInt64()] = {row.getColumn(1).getInt64(), row.getColumn(2).getInt64(),
                                                row.getColumn(3).getInt64()};
    });
    return all;
}

std::vector<QueueQuery::UnderWay> QueueQuery::underWay() const {
    std::vector<UnderWay> all;
    m_query.read([&](Database& database) {
        Statement row(database, std::string("SELECT id, devices FROM trial WHERE ") + kUnderWay);
        while (row.executeStep()) all.push_back({row.getColumn(0).getInt64(), row.getColumn(1).getString()});
    });
    return all;
}

std::vector<std::int64_t> QueueQuery::finishedWith(std::span<const Setting> settings) const {
    return with(settings, "state = 'finished'");
}

std::vector<std::int64_t> QueueQuery::openWith(std::span<const Setting> settings) const {
    return with(settings, std::string("state <> 'finished' AND (") + kUnderWay +
                              " OR EXISTS (SELECT 1 FROM queue_entry q WHERE q.trial = id))");
}

std::optional<QueueQuery::Whereabouts> QueueQuery::whereabouts(std::int64_t trial) const {
    std::optional<Whereabouts> found;
    m_query.read([&](Database& database) {
        Statement row(database,
                      "SELECT t.state, q.trial IS NOT NULL, coalesce(q.held, 0), t.deleted,"
                      " (SELECT max(member_of) FROM group_trial g JOIN trial_group s ON s.id = member_of"
                      " WHERE g.trial = t.id AND g.adopted = 0 AND s.state IN ('active', 'paused'))"
                      " FROM trial t LEFT JOIN queue_entry q ON q.trial = t.id WHERE t.id = ?");
        row.bind(1, trial);
        if (row.executeStep())
            found = {runStateFrom(row.getColumn(0).getString()), row.getColumn(1).getInt() != 0,
                     row.getColumn(2).getInt() != 0, row.getColumn(3).getInt() != 0, wholeOrNone(row.getColumn(4))};
    });
    return found;
}

std::vector<std::int64_t> QueueQuery::with(std::span<const Setting> settings, const std::string& condition) const {
    std::string sql = "SELECT id FROM trial WHERE deleted = 0 AND " + condition;
    int index = 0;
    for (const Setting& each : settings) {
        const bool isText = std::holds_alternative<std::string>(each.value);
        const std::string key = "?" + std::to_string(++index), value = "?" + std::to_string(++index);
        sql += " AND id IN (SELECT trial FROM trial_param WHERE key = " + key;
        sql += isText ? " AND number IS NULL AND text = " + value + ")"
                      : " AND number BETWEEN " + value + " - 1e-6 * abs(" + value + ") AND " + value +
                            " + 1e-6 * abs(" + value + "))";
    }
    std::vector<std::int64_t> found;
    m_query.read([&](Database& database) {
        Statement row(database, sql + " ORDER BY id");
        int at = 0;
        for (const Setting& each : settings) {
            row.bind(++at, each.path);
            ++at;
            std::visit(
                [&]<class T>(const T& value) {
                    if constexpr (std::is_same_v<T, std::string>) row.bind(at, value);
                    else row.bind(at, static_cast<double>(value));
                },
                each.value);
        }
        while (row.executeStep()) found.push_back(row.getColumn(0).getInt64());
    });
    return found;
}

}  // namespace lockstep
