#include "ui/history/brush.h"

#include <QCoreApplication>
#include <QJsonArray>

namespace lockstep::ui {

namespace {

struct BrushText {
    Q_DECLARE_TR_FUNCTIONS(BrushText)
};

QString keyOf(Absence absence) {
    switch (absence) {
        case Absence::None: break;
        case Absence::NotSet: return "not-set";
        case Absence::NotYet: return "not-yet";
        case Absence::NotReached: return "not-reached";
        case Absence::Failed: return "failed";
        case Absence::Diverged: return "diverged";
    }
    return {};
}

QJsonObject jsonOf(const AxisBrush& brush) {
    QJsonArray ranges, choices, without;
    for (const auto& range : brush.ranges) ranges.append(QJsonArray{range.low, range.high});
    for (const auto& choice : brush.choices) choices.append(QString::fromStdString(choice));
    for (const Absence absence : brush.without) without.append(keyOf(absence));
    return {{"ranges", ranges}, {"choices", choices}, {"without", without}};
}

AxisBrush brushFrom(const QJsonObject& json) {
    AxisBrush brush;
    for (const auto& each : json["ranges"].toArray()) {
        const auto ends = each.toArray();
        if (ends.size() == 2 && ends[0].isDouble() && ends[1].isDouble() && ends[0].toDouble() <= ends[1].toDouble())
            brush.ranges.push_back({ends[0].toDouble(), ends[1].toDouble()});
    }
    for (const auto& each : json["choices"].toArray()) brush.choices.insert(each.toString().toStdString());
    for (const auto& each : json["without"].toArray())
        for (const Absence absence : kAbsences)
            if (each.toString() == keyOf(absence)) brush.without.insert(absence);
    return brush;
}

}  // namespace

QString absenceText(Absence absence) {
    switch (absence) {
        case Absence::None: break;
        case Absence::NotSet: return BrushText::tr("not set");
        case Absence::NotYet: return BrushText::tr("not yet");
        case Absence::NotReached: return BrushText::tr("> budget");
        case Absence::Failed: return BrushText::tr("failed");
        case Absence::Diverged: return BrushText::tr("diverged");
    }
    return {};
}

QJsonObject jsonOf(const Brushes& brushes) {
    QJsonObject json;
    for (const auto& [key, brush] : brushes) json.insert(QString::fromStdString(key), jsonOf(brush));
    return json;
}

Brushes brushesFrom(const QJsonObject& json) {
    Brushes brushes;
    for (auto each = json.begin(); each != json.end(); ++each) {
        AxisBrush brush = brushFrom(each->toObject());
        if (!brush.empty()) brushes.emplace(each.key().toStdString(), std::move(brush));
    }
    return brushes;
}

}  // namespace lockstep::ui
