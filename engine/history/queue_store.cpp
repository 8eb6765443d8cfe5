#include "engine/history/queue_store.h"

#include <algorithm>
#include <vector>

#include "engine/history/history_writer.h"
#include "engine/history/run_folders.h"
#include "engine/history/trial_rows.h"
#include "engine/history/trial_store.h"

namespace lockstep {

namespace {

using SQLite::Database;
using SQLite::Statement;

void insertEntry(Database& database, const QueueEntry& entry) {
    Statement row(database,
                  "INSERT INTO queue_entry (trial, priority, position, held, after, retries, step, asked)"
                  " VALUES (?1, ?2, (SELECT coalesce(max(position), 0) + 1 FROM queue_entry), ?3, ?4, ?5, ?6, ?7)"
                  " ON CONFLICT (trial) DO NOTHING");
    row.bind(1, entry.trial), row.bind(2, entry.priority), row.bind(3, entry.held ? 1 : 0);
    if (entry.after) row.bind(4, *entry.after);
    row.bind(5, entry.retries), row.bind(6, entry.step);
    if (entry.asked) row.bind(7, *entry.asked);
    row.exec();
}

// False: the place is taken.
bool insertMember(Database& database, const GroupPlace& place, std::int64_t trial, bool adopted,
                  std::optional<std::int64_t> untilEpoch = {}) {
    Statement row(database,
                  "INSERT INTO group_trial (member_of, cell, repeat, trial, adopted, until_epoch)"
                  " VALUES (?, ?, ?, ?, ?, ?)"
                  " ON CONFLICT DO NOTHING");
    row.bind(1, place.group), row.bind(2, place.cell), row.bind(3, place.repeat), row.bind(4, trial);
    row.bind(5, adopted ? 1 : 0);
    if (untilEpoch) row.bind(6, *untilEpoch);
    return row.exec() > 0;
}

bool isTaken(Database& database, const GroupPlace& place) {
    Statement query(database, "SELECT 1 FROM group_trial WHERE member_of = ? AND cell = ? AND repeat = ?");
    query.bind(1, place.group), query.bind(2, place.cell), query.bind(3, place.repeat);
    return query.executeStep();
}

struct Place {
    std::int64_t trial = 0, priority = 0;
};
std::vector<Place> placesOf(Database& database) {
    Statement query(database, "SELECT trial, priority FROM queue_entry ORDER BY priority DESC, position, trial");
    std::vector<Place> places;
    while (query.executeStep()) places.push_back({query.getColumn(0).getInt64(), query.getColumn(1).getInt64()});
    return places;
}

void number(Database& database, const std::vector<Place>& places) {
    Statement row(database, "UPDATE queue_entry SET position = ?2, priority = ?3 WHERE trial = ?1");
    for (std::size_t i = 0; i < places.size(); ++i) {
        row.bind(1, places[i].trial), row.bind(2, static_cast<std::int64_t>(i) + 1), row.bind(3, places[i].priority);
        row.exec();
        row.reset();
    }
}

// ?1 to ?4; the last, when it ended, is NULL while it has not.
void bindState(Statement& row, std::int64_t group, GroupState state, const std::string& reason) {
    row.bind(1, group), row.bind(2, std::string(text(state))), row.bind(3, reason);
    if (state != GroupState::Active && state != GroupState::Paused) row.bind(4, utcNow());
}

}  // namespace

QueueStore::QueueStore(TrialStore& store) : m_writer(store.writer()), m_file(store.file()) {}

std::int64_t QueueStore::createGroup(const TrialGroup& group) {
    std::int64_t id = 0;
    m_writer.run([&](Database& database) {
        Statement row(database,
                      "INSERT INTO trial_group (kind, title, spec_json, state, created_at) VALUES (?, ?, ?, ?, ?)");
        row.bind(1, group.kind), row.bind(2, group.title), row.bind(3, group.specJson);
        row.bind(4, std::string(text(group.state))), row.bind(5, utcNow());
        row.exec();
        id = database.getLastInsertRowid();
    });
    return id;
}

void QueueStore::setGroupState(std::int64_t group, GroupState state, const std::string& reason) {
    m_writer.run([&](Database& database) {
        Statement row(database, "UPDATE trial_group SET state = ?2, reason = ?3, finished_at = ?4 WHERE id = ?1");
        bindState(row, group, state, reason);
        if (row.exec() == 0) throw ProblemError({m_file.string(), "group.unknown", {std::to_string(group)}});
    });
}

bool QueueStore::leaveActive(const TrialGroup& seen, GroupState state, const std::string& reason) {
    bool changed = false;
    m_writer.run([&](Database& database) {
        Statement row(database,
                      "UPDATE trial_group SET state = ?2, reason = ?3, finished_at = ?4 WHERE id = ?1 AND state = ?5"
                      " AND spec_json = ?6");
        bindState(row, seen.id, state, reason);
        row.bind(5, std::string(text(GroupState::Active))), row.bind(6, seen.specJson);
        changed = row.exec() > 0;
    });
    return changed;
}

void QueueStore::setGroupSpec(std::int64_t group, const std::string& specJson) {
    m_writer.run([&](Database& database) {
        Statement row(database, "UPDATE trial_group SET spec_json = ?2 WHERE id = ?1");
        row.bind(1, group), row.bind(2, specJson);
        if (row.exec() == 0) throw ProblemError({m_file.string(), "group.unknown", {std::to_string(group)}});
    });
}

bool QueueStore::addCell(std::int64_t group, const GroupCell& cell) {
    bool added = false;
    m_writer.run([&](Database& database) {
        Statement row(database,
                      "INSERT INTO group_cell (member_of, number, settings) VALUES (?, ?, ?) ON CONFLICT DO NOTHING");
        row.bind(1, group), row.bind(2, cell.number), row.bind(3, cell.settings);
        added = row.exec() > 0;
    });
    return added;
}

std::int64_t QueueStore::createTrial(const TrialSpec& spec, const std::filesystem::path& runs, const QueueEntry& entry,
                                     const std::optional<GroupPlace>& place, std::optional<std::int64_t> untilEpoch) {
    std::int64_t trial = 0;
    try {
        m_writer.run([&](Database& database) {
            if (place && isTaken(database, *place)) return;
            trial = claimRunFolder(runs, nextTrial(database));
            insertTrial(database, trial, spec, runs / std::to_string(trial));
            QueueEntry mine = entry;
            mine.trial = trial;
            insertEntry(database, mine);
            if (place) insertMember(database, *place, trial, false, untilEpoch);
        });
    } catch (...) {
        std::error_code kept;
        if (trial > 0) std::filesystem::remove(runs / std::to_string(trial), kept);
        throw;
    }
    return trial;
}

void QueueStore::letGoOn(const GroupPlace& place, std::optional<std::int64_t> untilEpoch, std::int64_t retries) {
    m_writer.run([&](Database& database) {
        Statement further(database,
                          "UPDATE group_trial SET until_epoch = ?4 WHERE member_of = ?1 AND cell = ?2 AND repeat = ?3");
        Statement queued(database,
                         "SELECT id, attempts, t.step FROM trial t JOIN group_trial g ON g.trial = t.id"
                         " WHERE member_of = ?1 AND cell = ?2 AND repeat = ?3");
        for (Statement* each : {&further, &queued})
            each->bind(1, place.group), each->bind(2, place.cell), each->bind(3, place.repeat);
        if (untilEpoch) further.bind(4, *untilEpoch);
        further.exec();
        if (!queued.executeStep()) return;
        QueueEntry entry{.trial = queued.getColumn(0).getInt64(), .retries = retries};
        entry.asked = queued.getColumn(1).getInt64();
        entry.step = queued.getColumn(2).getInt64();
        insertEntry(database, entry);
    });
}

void QueueStore::noteArrival(std::int64_t group, const RungArrival& arrival) {
    m_writer.run([&](Database& database) {
        Statement row(database,
                      "INSERT INTO rung_arrival (member_of, cell, rung) VALUES (?, ?, ?) ON CONFLICT DO NOTHING");
        row.bind(1, group), row.bind(2, arrival.cell), row.bind(3, arrival.rung);
        row.exec();
    });
}

bool QueueStore::adopt(const GroupPlace& place, std::int64_t trial) {
    bool added = false;
    m_writer.run([&](Database& database) { added = insertMember(database, place, trial, true); });
    return added;
}

void QueueStore::freePlace(const GroupPlace& place) {
    m_writer.run([&](Database& database) {
        Statement row(database, "DELETE FROM group_trial WHERE member_of = ? AND cell = ? AND repeat = ?");
        row.bind(1, place.group), row.bind(2, place.cell), row.bind(3, place.repeat);
        row.exec();
    });
}

void QueueStore::add(const QueueEntry& entry) {
    m_writer.run([&](Database& database) { insertEntry(database, entry); });
}

void QueueStore::remove(std::int64_t trial) {
    m_writer.run([&](Database& database) {
        Statement row(database, "DELETE FROM queue_entry WHERE trial = ?");
        row.bind(1, trial);
        row.exec();
    });
}

void QueueStore::moveBefore(std::int64_t trial, std::int64_t other) {
    m_writer.run([&](Database& database) {
        std::vector<Place> places = placesOf(database);
        const auto found = std::ranges::find(places, trial, &Place::trial);
        const auto unqueued = [&](std::int64_t which) {
            throw ProblemError({m_file.string(), "queue.not-queued", {std::to_string(which)}});
        };
        if (found == places.end()) unqueued(trial);
        if (other == trial) return;
        Place moved = *found;
        places.erase(found);
        auto before = std::ranges::find(places, other, &Place::trial);
        if (other != 0 && before == places.end()) unqueued(other);
        if (other != 0) moved.priority = before->priority;
        else before = std::ranges::find_if(places, [&](const Place& each) { return each.priority < moved.priority; });
        places.insert(before, moved);
        number(database, places);
    });
}

template <class... Values>
void QueueStore::change(const char* sql, std::int64_t trial, const Values&... values) {
    m_writer.run([&](Database& database) {
        Statement row(database, sql);
        row.bind(1, trial);
        int index = 1;
        (row.bind(++index, values), ...);
        if (row.exec() == 0) throw ProblemError({m_file.string(), "queue.not-queued", {std::to_string(trial)}});
    });
}

void QueueStore::setPriority(std::int64_t trial, std::int64_t priority) {
    change("UPDATE queue_entry SET priority = ?2 WHERE trial = ?1", trial, priority);
}

void QueueStore::setHeld(std::int64_t trial, bool held) {
    if (held) return change("UPDATE queue_entry SET held = 1 WHERE trial = ?1", trial);
    change("UPDATE queue_entry SET held = 0, asked = (SELECT attempts FROM trial WHERE id = ?1) WHERE trial = ?1",
           trial);
}

void QueueStore::setAfter(std::int64_t trial, std::optional<std::int64_t> other) {
    if (other) change("UPDATE queue_entry SET after = ?2 WHERE trial = ?1", trial, *other);
    else change("UPDATE queue_entry SET after = NULL WHERE trial = ?1", trial);
}

bool QueueStore::countTry(std::int64_t trial, std::int64_t step) {
    bool isThere = false;
    m_writer.run([&](Database& database) {
        Statement row(database,
                      "UPDATE queue_entry SET tries = CASE WHEN ?2 > step THEN 1 ELSE tries + 1 END,"
                      " step = max(step, ?2)"
                      " WHERE trial = ?1 AND held = 0");
        row.bind(1, trial), row.bind(2, step);
        isThere = row.exec() > 0;
    });
    return isThere;
}

}  // namespace lockstep
