#pragma once
#include <QJsonValue>
#include <QString>

namespace lockstep::ui {

// A setting's name and value as people read them.
QString labelOf(const QString& name);         // "crop_padding": "Crop padding"; "check_every": "Compare every"
QString numberText(const QJsonValue& value);  // as JSON writes it: "0.1", "true"; text without quotes

}  // namespace lockstep::ui
