#include "engine/history/evaluation_rows.h"

#include <cmath>
#include <cstring>
#include <limits>
#include <string>
#include <type_traits>

#include "engine/core/utc_time.h"
#include "engine/spec/data_known.h"
#include "engine/spec/trial_spec.h"

namespace lockstep {

namespace {

using SQLite::Database;
using SQLite::Statement;

static_assert(std::is_trivially_copyable_v<LabelledAnswer> && sizeof(LabelledAnswer) == 44);

constexpr const char* kEvaluationColumns =
    "id, trial, created_at, checkpoint, step, epoch, data, split, devices, samples, seconds, loss, accuracy, accuracy5,"
    " counts_json, dataset, fingerprint, precision";

void bindFinite(Statement& row, int index, double value) {
    if (std::isfinite(value)) row.bind(index, value);
}

double numberOr(const SQLite::Column& column, double otherwise) {
    return column.isNull() ? otherwise : column.getDouble();
}

EvalCounts countsIn(const std::string& json) {
    const auto event = eventFromJsonLine(json);
    const auto* counts = event.ok() ? std::get_if<EvalCounts>(&event.value().event) : nullptr;
    return counts ? *counts : EvalCounts();
}

Evaluation evaluationIn(Statement& row) {
    constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
    Evaluation out;
    out.id = row.getColumn(0).getInt64(), out.trial = row.getColumn(1).getInt64();
    out.createdAt = row.getColumn(2).getString(), out.checkpoint = row.getColumn(3).getString();
    out.step = row.getColumn(4).getInt64(), out.epoch = row.getColumn(5).getInt64();
    out.data = withoutLastSlash(row.getColumn(6).getString()), out.split = row.getColumn(7).getString();
    out.devices = row.getColumn(8).getString(), out.samples = row.getColumn(9).getInt64();
    out.seconds = row.getColumn(10).getDouble(), out.loss = numberOr(row.getColumn(11), kNone);
    out.accuracy = numberOr(row.getColumn(12), kNone), out.accuracy5 = numberOr(row.getColumn(13), -1);
    out.counts = countsIn(row.getColumn(14).getString());
    out.dataset = row.getColumn(15).getText("");
    out.fingerprint = fingerprintIn(row.getColumn(16).getText(""));
    out.precision = row.getColumn(17).getText("");
    return out;
}

// Whether there is nothing in the one that the other does not tell, too. Of which one nobody knows what its data were,
// the other says nothing.
bool readTheSame(const std::optional<DataFingerprint>& one, const std::optional<DataFingerprint>& other,
                 const std::string& split) {
    if (!one || !other) return one == other;
    return changedSplits(*one, *other, split).empty();
}

void removeEvaluation(Database& database, std::int64_t id) {
    Statement row(database, "DELETE FROM evaluation WHERE id = ?");
    row.bind(1, id);
    row.exec();
}

// Those that asked the same of the same model: on which devices makes no difference, but in which precision, where it
// is known.
void removeEqual(Database& database, const Evaluation& evaluation) {
    Statement row(database,
                  "SELECT id, fingerprint FROM evaluation WHERE trial = ? AND checkpoint = ? AND step = ? AND epoch = ?"
                  " AND rtrim(data, '/') = rtrim(?, '/') AND coalesce(dataset, '') = ? AND split = ? AND samples = ?"
                  " AND (precision IS NULL OR precision = ?)");
    row.bind(1, evaluation.trial), row.bind(2, evaluation.checkpoint), row.bind(3, evaluation.step);
    row.bind(4, evaluation.epoch), row.bind(5, evaluation.data), row.bind(6, evaluation.dataset);
    row.bind(7, evaluation.split), row.bind(8, evaluation.samples), row.bind(9, evaluation.precision);
    std::vector<std::int64_t> equal;
    while (row.executeStep()) {
        const auto fingerprint = fingerprintIn(row.getColumn(1).getText(""));
        if (readTheSame(fingerprint, evaluation.fingerprint, evaluation.split))
            equal.push_back(row.getColumn(0).getInt64());
    }
    for (const std::int64_t id : equal) removeEvaluation(database, id);
}

}  // namespace

std::int64_t insertEvaluation(Database& database, const Evaluation& evaluation) {
    removeEqual(database, evaluation);
    Statement row(database,
                  "INSERT INTO evaluation (trial, created_at, checkpoint, step, epoch, data, split, devices, samples,"
                  " seconds, loss, accuracy, accuracy5, counts_json, answers, dataset, fingerprint, precision)"
                  " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)");
    row.bind(1, evaluation.trial), row.bind(2, utcNow()), row.bind(3, evaluation.checkpoint);
    row.bind(4, evaluation.step), row.bind(5, evaluation.epoch), row.bind(6, evaluation.data);
    row.bind(7, evaluation.split), row.bind(8, evaluation.devices), row.bind(9, evaluation.samples);
    row.bind(10, evaluation.seconds);
    bindFinite(row, 11, evaluation.loss), bindFinite(row, 12, evaluation.accuracy);
    if (evaluation.accuracy5 >= 0) row.bind(13, evaluation.accuracy5);
    row.bind(14, toJsonLine(evaluation.counts, 0));
    const void* answers = evaluation.answers.empty() ? "" : static_cast<const void*>(evaluation.answers.data());
    row.bind(15, answers, static_cast<int>(evaluation.answers.size() * sizeof(LabelledAnswer)));
    if (!evaluation.dataset.empty()) row.bind(16, evaluation.dataset);
    if (evaluation.fingerprint) row.bind(17, fingerprintText(*evaluation.fingerprint));
    if (!evaluation.precision.empty()) row.bind(18, evaluation.precision);
    row.exec();
    return database.getLastInsertRowid();
}

std::vector<Evaluation> evaluationsOf(Database& database, std::int64_t trial) {
    Statement query(database,
                    std::string("SELECT ") + kEvaluationColumns + " FROM evaluation WHERE trial = ? ORDER BY id DESC");
    query.bind(1, trial);
    std::vector<Evaluation> all;
    while (query.executeStep()) all.push_back(evaluationIn(query));
    return all;
}

std::optional<Evaluation> evaluationAt(Database& database, std::int64_t id) {
    Statement query(database, std::string("SELECT ") + kEvaluationColumns + ", answers FROM evaluation WHERE id = ?");
    query.bind(1, id);
    if (!query.executeStep()) return std::nullopt;
    Evaluation out = evaluationIn(query);
    const auto blob = query.getColumn(18);
    out.answers.resize(static_cast<std::size_t>(blob.getBytes()) / sizeof(LabelledAnswer));
    if (!out.answers.empty())
        std::memcpy(out.answers.data(), blob.getBlob(), out.answers.size() * sizeof(LabelledAnswer));
    return out;
}

}  // namespace lockstep
