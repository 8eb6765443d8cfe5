#include "engine/history/trial_query.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <variant>

#include "engine/history/database.h"
#include "engine/history/evaluation_rows.h"
#include "engine/history/series_chunk.h"
#include "engine/spec/metrics.h"
#include "engine/spec/trial_settings.h"

namespace lockstep {

namespace {

using SQLite::Database;
using SQLite::Statement;

constexpr RowColumn kColumns[] = {{"id", &TrialRow::id, "trial"},
                                  {"title", &TrialRow::title},
                                  {"state", &TrialRow::state},
                                  {"dataset", &TrialRow::dataset},
                                  {"model", &TrialRow::model},
                                  {"devices", &TrialRow::devices},
                                  {"batch", &TrialRow::batch},
                                  {"learning_rate", &TrialRow::learningRate},
                                  {"attempts", &TrialRow::attempts},
                                  {"step", &TrialRow::step},
                                  {"epoch", &TrialRow::epoch},
                                  {"epochs", &TrialRow::epochs},
                                  {"best_accuracy", &TrialRow::bestAccuracy},
                                  {"test_accuracy", &TrialRow::testAccuracy},
                                  {"lowest_test_loss", &TrialRow::lowestTestLoss},
                                  {"test_loss", &TrialRow::testLoss},
                                  {"validation_accuracy", &TrialRow::validationAccuracy},
                                  {"validation_loss", &TrialRow::validationLoss},
                                  {"samples_per_second", &TrialRow::samplesPerSecond, "train_samples_per_second"},
                                  {"seconds", &TrialRow::seconds},
                                  {"created_at", &TrialRow::createdAt},
                                  {"finished_at", &TrialRow::finishedAt},
                                  {"run_directory", &TrialRow::runDirectory},
                                  {"note", &TrialRow::note},
                                  {"deleted", &TrialRow::deleted},
                                  {"star", &TrialRow::star},
                                  {"archived", &TrialRow::archived}};

const std::string kRow = [] {
    std::string text = "SELECT ";
    for (const RowColumn& each : kColumns) text.append(each.name).append(", ");
    return text + "failure_kind, failure_where, failure_what, failure_rank FROM trial ";
}();

// What a later attempt took back does not count.
constexpr const char* kStanding =
    " FROM event e WHERE e.trial = ?1 AND NOT EXISTS (SELECT 1 FROM attempt later WHERE later.trial = e.trial"
    " AND later.number > e.attempt AND later.from_step < e.step)";
// Of the field ?2 and the split ?3, or of any, where that is 'train'.
const std::string kStandingEvaluations = std::string(kStanding) +
                                         " AND e.kind = 'eval_done' AND json_extract(e.json, ?2) >= 0"
                                         " AND ?3 IN ('train', coalesce(json_extract(e.json, '$.split'), 'test'))";

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

void read(const SQLite::Column& column, std::int64_t& out) { out = column.getInt64(); }
void read(const SQLite::Column& column, double& out) { out = column.getDouble(); }
void read(const SQLite::Column& column, std::string& out) { out = column.getString(); }
void read(const SQLite::Column& column, bool& out) { out = column.getInt64() != 0; }
void read(const SQLite::Column& column, std::optional<double>& out) {
    if (!column.isNull()) out = column.getDouble();
}

// A key of JSON in a path of SQLite's.
std::string quoted(const std::string& key) { return '"' + key + '"'; }

ParamValue settingAt(Statement& query) {
    const std::string kind = query.getColumn(1);
    const auto value = query.getColumn(2);
    if (kind == "true" || kind == "false") return kind == "true";
    if (kind == "integer" && value.isInteger()) return value.getInt64();  // a seed may be beyond
    return value.isFloat() ? ParamValue(value.getDouble()) : ParamValue(value.getString());
}

TrialRow rowOf(Statement& query) {
    TrialRow row;
    int column = 0;
    for (const RowColumn& each : kColumns)
        std::visit([&](auto at) { read(query.getColumn(column++), row.*at); }, each.at);
    row.failure = failureOf(query, column);
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

// Where rows have the metrics of evaluations that they repeat for lists.
struct KeptColumns {
    double EvalDone::*evaluated;
    Split split;
    std::optional<double> TrialRow::*newest, TrialRow::*best;  // the best: where its split is the one that chooses
};
constexpr KeptColumns kKept[] = {
    {&EvalDone::accuracy, Split::Test, &TrialRow::testAccuracy, &TrialRow::bestAccuracy},
    {&EvalDone::loss, Split::Test, &TrialRow::testLoss, &TrialRow::lowestTestLoss},
    {&EvalDone::accuracy, Split::Validation, &TrialRow::validationAccuracy, &TrialRow::bestAccuracy},
    {&EvalDone::loss, Split::Validation, &TrialRow::validationLoss, &TrialRow::lowestTestLoss},
};

std::optional<double> keptIn(const TrialRow& row, const Metric& metric,
                             std::optional<double> TrialRow::*KeptColumns::*which) {
    const Metric& measured = metric.derive ? *findMetric(metric.from) : metric;
    const auto kept = std::ranges::find_if(kKept, [&](const KeptColumns& each) {
        return measured.kept && each.evaluated == measured.evaluated && each.split == measured.split;
    });
    const auto value = kept == std::end(kKept) ? std::nullopt : row.*((*kept).*which);
    return value && metric.derive ? metric.derive(*value) : value;
}

NumberedEvent readEvent(const std::string& json) {
    auto event = eventFromJsonLine(json);
    if (!event.ok()) throw ProblemError(event.problems().front());
    return std::move(event).value();
}

// The last of its kind that the latest attempt gave.
template <class Event>
std::optional<Event> newestOf(Database& database, std::int64_t trial) {
    Statement query(database,
                    "SELECT json FROM event WHERE trial = ?1 AND kind = ?2"
                    " AND attempt = (SELECT attempts FROM trial WHERE id = ?1) ORDER BY number DESC LIMIT 1");
    query.bind(1, trial), query.bind(2, std::string(nameOf(Event())));
    if (!query.executeStep()) return std::nullopt;
    return std::get<Event>(readEvent(query.getColumn(0).getString()).event);
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

std::string pathOf(const Metric& metric) { return "$." + std::string(metric.field); }

std::vector<SeriesPoint> readEvaluations(Database& database, std::int64_t trial, const Metric& metric) {
    std::vector<SeriesPoint> points;
    Statement query(database, "SELECT e.step, json_extract(e.json, '$.seconds'), json_extract(e.json, ?2)" +
                                  kStandingEvaluations + " ORDER BY e.attempt, e.number");
    query.bind(1, trial), query.bind(2, pathOf(metric)), query.bind(3, std::string(text(metric.split)));
    while (query.executeStep()) {
        points.push_back(
            {query.getColumn(0).getInt64(), query.getColumn(1).getDouble(), query.getColumn(2).getDouble()});
    }
    return points;
}

std::vector<SeriesPoint> pointsOf(Database& database, std::int64_t trial, const std::string& key) {
    const Metric* metric = findMetric(key);
    if (metric && metric->evaluated) return readEvaluations(database, trial, *metric);
    if (!metric || !metric->derive) return readSeries(database, trial, key);
    auto points = pointsOf(database, trial, std::string(metric->from));
    for (SeriesPoint& each : points) each.value = metric->derive(each.value);
    return points;
}

// What the model learns, as its latest attempt said.
std::string taskOf(Database& database, std::int64_t trial) {
    Statement query(database,
                    "SELECT json_extract(json, '$.task') FROM event WHERE trial = ? AND kind = 'run_started'"
                    " ORDER BY attempt DESC, number DESC LIMIT 1");
    query.bind(1, trial);
    return query.executeStep() && !query.getColumn(0).isNull() ? query.getColumn(0).getString() : std::string();
}

Split chooses(Database& database, std::int64_t trial) {
    const auto started = newestOf<RunStarted>(database, trial);
    return started ? started->chooses() : Split::Test;
}

}  // namespace

std::span<const RowColumn> rowColumns() { return kColumns; }

std::optional<double> newest(const TrialRow& row, const Metric& metric) {
    return keptIn(row, metric, &KeptColumns::newest);
}

// Of a split that does not choose there is one evaluation.
std::optional<double> best(const TrialRow& row, const Metric& metric) {
    const Metric& measured = metric.derive ? *findMetric(metric.from) : metric;
    return keptIn(row, metric, measured.split == row.chooses() ? &KeptColumns::best : &KeptColumns::newest);
}

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
                        kRow +
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
        Statement query(database, kRow + "WHERE id = ?");
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

DataKnown TrialQuery::known(std::int64_t trial) const {
    return m_impl->read([&](Database& database) -> DataKnown {
        Statement query(database, "SELECT trained_on, fingerprint FROM trial WHERE id = ?");
        query.bind(1, trial);
        if (!query.executeStep()) return {};
        return {query.getColumn(0).getText(""), fingerprintIn(query.getColumn(1).getText(""))};
    });
}

std::unordered_map<std::int64_t, ParamValue> TrialQuery::settings(std::string_view text) const {
    const auto path = SettingPath::from(text);
    if (!path || text.find('"') != text.npos) return {};
    const std::string place =
        path->group.empty() ? "$." + quoted(path->name) : "$." + quoted(path->group) + '.' + quoted(path->name);
    return m_impl->read([&](Database& database) {
        std::unordered_map<std::int64_t, ParamValue> values;
        Statement query(database,
                        "SELECT id, json_type(spec_json, ?1), json_extract(spec_json, ?1) FROM trial"
                        " WHERE json_valid(spec_json) AND json_type(spec_json, ?1) NOT IN ('null', 'object', 'array')");
        query.bind(1, place);
        while (query.executeStep()) values.emplace(query.getColumn(0).getInt64(), settingAt(query));
        return values;
    });
}

std::vector<std::string> TrialQuery::differingSettings(std::span<const std::int64_t> trials) const {
    std::string list = "[";
    for (const auto trial : trials) list += (list.size() > 1 ? "," : "") + std::to_string(trial);
    return m_impl->read([&](Database& database) {
        std::vector<std::string> paths;
        Statement query(database,
                        "SELECT key FROM trial_param WHERE trial IN (SELECT value FROM json_each(?1)) GROUP BY key"
                        " HAVING count(*) < ?2 OR min(number) IS NOT max(number) OR min(text) IS NOT max(text)"
                        " OR (count(number) > 0 AND count(text) > 0) ORDER BY key");
        query.bind(1, list + ']');
        query.bind(2, static_cast<std::int64_t>(trials.size()));
        while (query.executeStep()) paths.push_back(query.getColumn(0).getString());
        return paths;
    });
}

std::vector<std::string> TrialQuery::metrics(std::int64_t trial) const {
    return m_impl->read([&](Database& database) {
        std::vector<std::string> names;
        Statement steps(database,
                        "SELECT DISTINCT metric FROM series_value WHERE chunk IN"
                        " (SELECT id FROM series_chunk WHERE trial = ?) ORDER BY metric");
        steps.bind(1, trial);
        while (steps.executeStep()) names.push_back(steps.getColumn(0).getString());
        const std::string task = taskOf(database, trial);
        for (const Metric& metric : lockstep::metrics()) {
            if (!metric.task.empty() && metric.task != task) continue;
            if (metric.derive && std::ranges::find(names, metric.from) != names.end()) names.emplace_back(metric.key);
            if (!metric.evaluated) continue;
            Statement evaluations(database, "SELECT 1" + kStandingEvaluations + " LIMIT 1");
            evaluations.bind(1, trial), evaluations.bind(2, pathOf(metric));
            evaluations.bind(3, std::string(lockstep::text(metric.split)));
            if (evaluations.executeStep()) names.emplace_back(metric.key);
        }
        return names;
    });
}

std::vector<SeriesPoint> TrialQuery::series(std::int64_t trial, const std::string& metric) const {
    return m_impl->read([&](Database& database) { return pointsOf(database, trial, metric); });
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

std::optional<RunStarted> TrialQuery::started(std::int64_t trial) const {
    return m_impl->read([&](Database& database) { return newestOf<RunStarted>(database, trial); });
}

std::optional<RunFailed> TrialQuery::failure(std::int64_t trial) const {
    return m_impl->read([&](Database& database) { return newestOf<RunFailed>(database, trial); });
}

std::optional<BindingChanged> TrialQuery::binding(std::int64_t trial) const {
    return m_impl->read([&](Database& database) { return newestOf<BindingChanged>(database, trial); });
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

std::vector<Evaluation> TrialQuery::evaluations(std::int64_t trial) const {
    return m_impl->read([&](Database& database) { return evaluationsOf(database, trial); });
}

std::optional<Evaluation> TrialQuery::evaluation(std::int64_t id) const {
    return m_impl->read([&](Database& database) { return evaluationAt(database, id); });
}

std::int64_t TrialQuery::countedClasses(std::int64_t trial) const {
    return m_impl->read([&](Database& database) -> std::int64_t {
        Statement query(database, std::string("SELECT e.json") + kStanding +
                                      " AND e.kind = 'eval_counts' ORDER BY e.attempt DESC, e.number DESC LIMIT 1");
        query.bind(1, trial);
        if (!query.executeStep()) return 0;
        return std::get<EvalCounts>(readEvent(query.getColumn(0).getString()).event).classes;
    });
}

std::vector<EvalCounts> TrialQuery::counts(std::int64_t trial) const {
    return m_impl->read([&](Database& database) {
        Statement query(database, std::string("SELECT e.json") + kStanding +
                                      " AND e.kind = 'eval_counts' ORDER BY e.attempt, e.number");
        query.bind(1, trial);
        std::vector<EvalCounts> counts;
        while (query.executeStep())
            counts.push_back(std::get<EvalCounts>(readEvent(query.getColumn(0).getString()).event));
        return counts;
    });
}

std::vector<std::int64_t> TrialQuery::bestEpochs(std::int64_t trial) const {
    return m_impl->read([&](Database& database) {
        const Metric& objective = *metricsFor(taskOf(database, trial), chooses(database, trial)).objective;
        Statement query(database, std::string("SELECT e.json") + kStanding +
                                      " AND e.kind = 'eval_done' ORDER BY e.attempt, e.number");
        query.bind(1, trial);
        std::map<std::int64_t, double> values;
        while (query.executeStep()) {
            const auto done = std::get<EvalDone>(readEvent(query.getColumn(0).getString()).event);
            if (std::isfinite(done.loss) && done.split == objective.split)
                values[done.epoch] = valueIn(done, objective);
        }
        std::vector<std::int64_t> epochs;
        for (const auto& [epoch, value] : values) epochs.push_back(epoch);
        std::ranges::stable_sort(
            epochs, [&](std::int64_t a, std::int64_t b) { return isBetter(objective, values[a], values[b]); });
        return epochs;
    });
}

std::uint64_t TrialQuery::seriesBytes() const {
    return m_impl->read([&](Database& database) {
        Statement query(database,
                        "SELECT coalesce((SELECT sum(length(steps) + length(seconds)) FROM series_chunk), 0)"
                        " + coalesce((SELECT sum(length(data)) FROM series_value), 0)"
                        " + coalesce((SELECT sum(length(last_steps) + length(seconds) + length(counts) + length(lows)"
                        " + length(highs) + length(means)) FROM series_level), 0)");
        query.executeStep();
        return static_cast<std::uint64_t>(query.getColumn(0).getInt64());
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

std::optional<Problem> TrialQuery::damage() const {
    try {
        const auto verdict = m_impl->read(
            [](Database& database) { return database.execAndGet("PRAGMA integrity_check(1)").getString(); });
        if (verdict == "ok") return std::nullopt;
        return Problem{m_impl->file.string(), "history.corrupt", {verdict}};
    } catch (const ProblemError& error) {
        return error.problem();
    }
}

bool TrialQuery::wroteCheckpoint(std::int64_t trial) const {
    return m_impl->read([&](Database& database) {
        Statement query(database, "SELECT 1 FROM event WHERE trial = ? AND kind = 'checkpoint_written' LIMIT 1");
        query.bind(1, trial);
        return query.executeStep();
    });
}

void TrialQuery::read(const std::function<void(Database&)>& work) const { m_impl->read(work); }

std::int64_t TrialQuery::dataVersion() const {
    return translated(m_impl->file, [&] { return m_impl->database->execAndGet("PRAGMA data_version").getInt64(); });
}

}  // namespace lockstep
