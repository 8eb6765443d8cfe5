#include "engine/history/trial_query.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "engine/history/database.h"
#include "engine/history/series_chunk.h"

namespace lockstep {

namespace {

using SQLite::Database;
using SQLite::Statement;

constexpr const char* kRow =
    "SELECT id, title, state, dataset, model, devices, created_at, finished_at, run_directory,"
    " failure_kind, failure_where, failure_what, failure_rank, note, attempts, step, epoch, epochs, batch,"
    " learning_rate, best_accuracy, test_accuracy, test_loss, samples_per_second, seconds, deleted, star, archived,"
    " lowest_test_loss FROM trial ";

// Metrics of evaluations by their field in EvalDone's JSON; those that a later attempt took back do not count.
constexpr std::array<std::pair<std::string_view, const char*>, 5> kEvaluated = {{{"test_accuracy", "$.accuracy"},
                                                                                 {"test_accuracy5", "$.accuracy5"},
                                                                                 {"test_loss", "$.loss"},
                                                                                 {"train_accuracy", "$.train_accuracy"},
                                                                                 {"train_loss", "$.train_loss"}}};
constexpr const char* kStanding =
    " FROM event e WHERE e.trial = ?1 AND NOT EXISTS (SELECT 1 FROM attempt later WHERE later.trial = e.trial"
    " AND later.number > e.attempt AND later.from_step < e.step)";
const std::string kStandingEvaluations =
    std::string(kStanding) + " AND e.kind = 'eval_done' AND json_extract(e.json, ?2) >= 0";

// "out-of-memory in conv2d block3 on cpu:0 (rank 0): what was said"
std::string failureOf(Statement& row, int kind) {
    if (row.getColumn(kind).isNull()) return {};
    std::string text = row.getColumn(kind).getString();
    const std::string where = row.getColumn(kind + 1), what = row.getColumn(kind + 2);
    const int rank = row.getColumn(kind + 3).getInt();
    if (!where.empty()) text += " in " + where;
    if (rank >= 0) text += " (rank " + std::to_string(rank) + ")";
    return what.empty() ? text : text + ": " + what;
}

TrialRow rowOf(Statement& query) {
    const auto words = [&](int i) { return query.getColumn(i).getString(); };
    const auto integer = [&](int i) { return query.getColumn(i).getInt64(); };
    const auto number = [&](int i) {
        return query.getColumn(i).isNull() ? std::nullopt : std::optional(query.getColumn(i).getDouble());
    };
    TrialRow row;
    row.id = integer(0), row.title = words(1), row.state = words(2), row.dataset = words(3), row.model = words(4);
    row.devices = words(5), row.createdAt = words(6), row.finishedAt = words(7), row.runDirectory = words(8);
    row.failure = failureOf(query, 9), row.note = words(13);
    row.attempts = integer(14), row.step = integer(15), row.epoch = integer(16), row.epochs = integer(17);
    row.batch = integer(18), row.learningRate = query.getColumn(19).getDouble();
    row.bestAccuracy = number(20), row.testAccuracy = number(21), row.testLoss = number(22);
    row.samplesPerSecond = number(23), row.seconds = number(24), row.deleted = integer(25) != 0;
    row.star = integer(26) != 0, row.archived = integer(27) != 0, row.lowestTestLoss = number(28);
    return row;
}

void addTags(Database& database, std::vector<TrialRow>& rows) {
    if (rows.empty()) return;
    std::unordered_map<std::int64_t, TrialRow*> byId;
    for (auto& row : rows) byId[row.id] = &row;
    Statement query(database, "SELECT trial, tag FROM trial_tag WHERE trial BETWEEN ? AND ? ORDER BY trial, tag");
    query.bind(1, rows.back().id), query.bind(2, rows.front().id);
    while (query.executeStep()) {
        const auto row = byId.find(query.getColumn(0).getInt64());
        if (row != byId.end()) row->second->tags.push_back(query.getColumn(1).getString());
    }
}

std::string escapedForLike(const std::string& text) {
    std::string out;
    for (const char c : text) {
        if (c == '%' || c == '_' || c == '\\') out += '\\';
        out += c;
    }
    return out;
}

NumberedEvent readEvent(const std::string& json) {
    auto event = eventFromJsonLine(json);
    if (!event.ok()) throw ProblemError(event.problems().front());
    return std::move(event).value();
}

std::vector<NumberedEvent> readStateEvents(Database& database, std::int64_t trial, std::int64_t attempt,
                                           std::int64_t first) {
    std::vector<NumberedEvent> events;
    Statement query(database, "SELECT json FROM event WHERE trial = ? AND attempt = ? AND number >= ? ORDER BY number");
    query.bind(1, trial), query.bind(2, attempt), query.bind(3, first);
    while (query.executeStep()) {
        events.push_back(readEvent(query.getColumn(0).getString()));
    }
    return events;
}

std::vector<SeriesPoint> readEvaluations(Database& database, std::int64_t trial, const char* field) {
    std::vector<SeriesPoint> points;
    Statement query(database, "SELECT e.step, json_extract(e.json, '$.seconds'), json_extract(e.json, ?2)" +
                                  kStandingEvaluations + " ORDER BY e.attempt, e.number");
    query.bind(1, trial), query.bind(2, field);
    while (query.executeStep()) {
        points.push_back(
            {query.getColumn(0).getInt64(), query.getColumn(1).getDouble(), query.getColumn(2).getDouble()});
    }
    return points;
}

std::vector<SeriesPoint> readSeries(Database& database, std::int64_t trial, const std::string& metric) {
    std::vector<SeriesPoint> points;
    Statement query(database,
                    "SELECT c.steps, c.seconds, v.data FROM series_chunk c JOIN series_value v ON v.chunk = c.id"
                    " WHERE c.trial = ? AND v.metric = ? ORDER BY c.attempt, c.first_event");
    query.bind(1, trial), query.bind(2, metric);
    while (query.executeStep()) {
        const auto steps = numbersOf<std::int64_t>(query.getColumn(0));
        const auto seconds = numbersOf<double>(query.getColumn(1)), values = numbersOf<double>(query.getColumn(2));
        const std::size_t count = std::min({steps.size(), seconds.size(), values.size()});
        for (std::size_t i = 0; i < count; ++i) points.push_back({steps[i], seconds[i], values[i]});
    }
    return points;
}

}  // namespace

class TrialQuery::Impl {
public:
    Impl(std::unique_ptr<Database> opened, std::filesystem::path path)
        : database(std::move(opened)), file(std::move(path)) {}

    // Several statements see one state of the file.
    template <class Work>
    auto read(Work&& work) const {
        return translated(file, [&] {
            SQLite::Transaction snapshot(*database, SQLite::TransactionBehavior::DEFERRED);
            return work(*database);
        });
    }

    std::unique_ptr<Database> database;
    std::filesystem::path file;
};

TrialQuery::TrialQuery(std::unique_ptr<Impl> impl) : m_impl(std::move(impl)) {}
TrialQuery::~TrialQuery() = default;

Result<std::unique_ptr<TrialQuery>> TrialQuery::open(const std::filesystem::path& file) {
    try {
        auto impl = std::make_unique<Impl>(openForReading(file, migrations()), file);
        return std::unique_ptr<TrialQuery>(new TrialQuery(std::move(impl)));
    } catch (const ProblemError& error) {
        return error.problem();
    }
}

std::vector<TrialRow> TrialQuery::list(const TrialFilter& filter) const {
    return m_impl->read([&](Database& database) {
        Statement query(database,
                        std::string(kRow) +
                            "WHERE deleted = ?1 AND (title LIKE ?2 ESCAPE '\\' OR dataset LIKE ?2 ESCAPE '\\'"
                            " OR model LIKE ?2 ESCAPE '\\' OR note LIKE ?2 ESCAPE '\\')"
                            " AND (?4 IS NULL OR archived = ?4)"
                            " AND (?5 = 0 OR state IN ('queued', 'preparing', 'running', 'paused', 'stopping'))"
                            " ORDER BY id DESC LIMIT ?3");
        query.bind(1, filter.deleted ? 1 : 0);
        query.bind(2, std::string("%").append(escapedForLike(filter.text)).append("%"));
        query.bind(3, filter.limit > 0 ? filter.limit : -1);
        if (filter.archived) query.bind(4, *filter.archived ? 1 : 0);
        query.bind(5, filter.unended ? 1 : 0);
        std::vector<TrialRow> rows;
        while (query.executeStep()) rows.push_back(rowOf(query));
        addTags(database, rows);
        return rows;
    });
}

std::optional<TrialRow> TrialQuery::find(std::int64_t trial) const {
    return m_impl->read([&](Database& database) {
        Statement query(database, std::string(kRow) + "WHERE id = ?");
        query.bind(1, trial);
        std::vector<TrialRow> rows;
        if (query.executeStep()) rows.push_back(rowOf(query));
        addTags(database, rows);
        return rows.empty() ? std::nullopt : std::optional(std::move(rows.front()));
    });
}

Result<TrialSpec> TrialQuery::spec(std::int64_t trial) const {
    using Texts = std::pair<std::string, std::string>;
    const auto texts = m_impl->read([&](Database& database) {
        Statement query(database, "SELECT spec_json, title FROM trial WHERE id = ?");
        query.bind(1, trial);
        return query.executeStep()
                   ? std::optional(Texts(query.getColumn(0).getString(), query.getColumn(1).getString()))
                   : std::nullopt;
    });
    if (!texts) return Problem{m_impl->file.string(), "history.no-such-trial", {std::to_string(trial)}};
    auto spec = trialSpecFromJson(texts->first, "history");
    if (spec.ok()) spec.value().title = texts->second;
    return spec;
}

std::vector<std::string> TrialQuery::metrics(std::int64_t trial) const {
    return m_impl->read([&](Database& database) {
        std::vector<std::string> names;
        Statement steps(database,
                        "SELECT DISTINCT metric FROM series_value WHERE chunk IN"
                        " (SELECT id FROM series_chunk WHERE trial = ?) ORDER BY metric");
        steps.bind(1, trial);
        while (steps.executeStep()) names.push_back(steps.getColumn(0).getString());
        for (const auto& [name, field] : kEvaluated) {
            Statement evaluations(database, "SELECT 1" + kStandingEvaluations + " LIMIT 1");
            evaluations.bind(1, trial), evaluations.bind(2, field);
            if (evaluations.executeStep()) names.emplace_back(name);
        }
        return names;
    });
}

std::vector<SeriesPoint> TrialQuery::series(std::int64_t trial, const std::string& metric) const {
    return m_impl->read([&](Database& database) {
        for (const auto& [name, field] : kEvaluated) {
            if (name == metric) return readEvaluations(database, trial, field);
        }
        return readSeries(database, trial, metric);
    });
}

std::vector<NumberedEvent> TrialQuery::events(std::int64_t trial, std::int64_t first) const {
    return m_impl->read([&](Database& database) {
        Statement newest(database, "SELECT attempts FROM trial WHERE id = ?");
        newest.bind(1, trial);
        if (!newest.executeStep()) return std::vector<NumberedEvent>{};
        const std::int64_t attempt = newest.getColumn(0).getInt64();
        const auto states = readStateEvents(database, trial, attempt, first);
        const auto steps = readSteps(database, trial, attempt, first);
        std::vector<NumberedEvent> events;
        std::merge(states.begin(), states.end(), steps.begin(), steps.end(), std::back_inserter(events),
                   [](const NumberedEvent& a, const NumberedEvent& b) { return a.number < b.number; });
        return events;
    });
}

std::optional<RunFailed> TrialQuery::failure(std::int64_t trial) const {
    return m_impl->read([&](Database& database) -> std::optional<RunFailed> {
        Statement query(database,
                        "SELECT json FROM event WHERE trial = ?1 AND kind = 'run_failed'"
                        " AND attempt = (SELECT attempts FROM trial WHERE id = ?1)");
        query.bind(1, trial);
        if (!query.executeStep()) return std::nullopt;
        return std::get<RunFailed>(readEvent(query.getColumn(0).getString()).event);
    });
}

std::vector<Message> TrialQuery::messages(std::int64_t trial) const {
    return m_impl->read([&](Database& database) {
        Statement query(database,
                        "SELECT json FROM event WHERE trial = ?1 AND kind = 'message'"
                        " AND attempt = (SELECT attempts FROM trial WHERE id = ?1) ORDER BY number");
        query.bind(1, trial);
        std::vector<Message> messages;
        while (query.executeStep())
            messages.push_back(std::get<Message>(readEvent(query.getColumn(0).getString()).event));
        return messages;
    });
}

std::optional<TextSample> TrialQuery::text(std::int64_t trial) const {
    return m_impl->read([&](Database& database) -> std::optional<TextSample> {
        Statement query(database, std::string("SELECT e.json") + kStanding +
                                      " AND e.kind = 'text_sample' ORDER BY e.attempt DESC, e.number DESC LIMIT 1");
        query.bind(1, trial);
        if (!query.executeStep()) return std::nullopt;
        return std::get<TextSample>(readEvent(query.getColumn(0).getString()).event);
    });
}

std::int64_t TrialQuery::lastEvent(std::int64_t trial) const {
    return m_impl->read([&](Database& database) {
        Statement query(database,
                        "SELECT max(coalesce((SELECT max(number) FROM event WHERE trial = ?1), 0),"
                        " coalesce((SELECT max(last_event) FROM series_chunk WHERE trial = ?1), 0))");
        query.bind(1, trial);
        query.executeStep();
        return query.getColumn(0).getInt64();
    });
}

std::int64_t TrialQuery::dataVersion() const {
    return translated(m_impl->file, [&] { return m_impl->database->execAndGet("PRAGMA data_version").getInt64(); });
}

}  // namespace lockstep
