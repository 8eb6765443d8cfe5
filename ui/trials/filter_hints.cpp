#include "ui/trials/filter_hints.h"

#include <QCoreApplication>
#include <QStringList>
#include <algorithm>
#include <utility>
#include <vector>

#include "engine/spec/trial_settings.h"
#include "ui/trials/trial_columns.h"

namespace lockstep::ui::filter_hint {

namespace {

struct FilterHints {
    Q_DECLARE_TR_FUNCTIONS(FilterHints)
};

constexpr int kLettersPerSlip = 4, kMostSlips = 2;

// Letters to change, add or leave out (Levenshtein, "Binary codes capable of correcting deletions, insertions, and
// reversals", 1966), row by row.
int slipsBetween(const QString& a, const QString& b) {
    std::vector<int> row(static_cast<std::size_t>(b.size()) + 1);
    for (std::size_t i = 0; i < row.size(); ++i) row[i] = static_cast<int>(i);
    for (qsizetype i = 0; i < a.size(); ++i) {
        int before = std::exchange(row[0], static_cast<int>(i) + 1);
        for (qsizetype j = 0; j < b.size(); ++j) {
            const auto at = static_cast<std::size_t>(j);
            const int changed = before + (a[i] == b[j] ? 0 : 1);
            before = row[at + 1];
            row[at + 1] = std::min({changed, row[at] + 1, row[at + 1] + 1});
        }
    }
    return row.back();
}

const QStringList& knownNames() {
    static const QStringList all = [] {
        QStringList names = filterNames() << "tag"
                                          << "is"
                                          << "sweep";
        for (const std::string& each : settingKeys()) names << QString::fromStdString(each);
        return names;
    }();
    return all;
}

}  // namespace

QString meantBy(const QString& name) {
    const auto dot = name.indexOf('.');
    const QString first = dot < 0 ? name : name.left(dot), rest = dot < 0 ? QString() : name.mid(dot);
    int fewest = 1 + std::min(kMostSlips, static_cast<int>(first.size()) / kLettersPerSlip);
    QString meant;
    for (const QString& each : knownNames()) {
        const int slips = slipsBetween(first, each);
        if (slips == 0) return {};
        if (slips < fewest) fewest = slips, meant = each;
    }
    return meant.isEmpty() ? QString() : meant + rest;
}

QString noNumber(const QString& name, const QString& asked) {
    return FilterHints::tr("“%1” is no number that %2 can be compared with; write it like %2>0.01.").arg(asked, name);
}

QString noSweep(const QString& asked) {
    return FilterHints::tr("“%1” is no sweep's number; write sweep:3, or sweep:none for trials of no sweep.")
        .arg(asked);
}

QString noOrder(const QString& name) {
    return FilterHints::tr("%1 is words, which are not more or less than others; write %1:word.").arg(name);
}

QString noName(const QString& name) {
    const QString meant = meantBy(name);
    if (!meant.isEmpty()) return FilterHints::tr("There is no “%1”; did you mean %2?").arg(name, meant);
    return FilterHints::tr("There is no column or setting “%1”, so its letters are looked for as they stand.")
        .arg(name);
}

}  // namespace lockstep::ui::filter_hint
