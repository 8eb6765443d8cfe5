#include "ui/train/spec_file.h"

#include <QFile>
#include <QJsonDocument>

#include "engine/spec/trial_spec.h"
#include "ui/history/setting_text.h"
#include "ui/train/form_catalog.h"

namespace lockstep::ui {

namespace {

// Ours carry none, so that one which does was written by a program that is newer, or another one.
constexpr const char* kVersionKeys[] = {"schema_version", "schema", "version"};

// Empty: it is none.
std::optional<SpecFile> readSweepFile(const QString& path) {
    const auto text = specFileText(path.toStdString());
    if (!text.ok()) return std::nullopt;
    const auto file = QJsonDocument::fromJson(QByteArray::fromStdString(text.value())).object();
    if (!file.contains("vary")) return std::nullopt;
    SpecFile read;
    read.spec = file["trial"].toObject();
    auto sweep = sweepFromJson(text.value(), path.toStdString());
    if (sweep.ok()) read.sweep = std::move(sweep).value();
    else read.problems = sweep.problems();
    return read;
}

}  // namespace

SpecFile readSpecFile(const QString& path) {
    if (auto sweep = readSweepFile(path)) return std::move(*sweep);
    SpecFile read;
    const auto spec = trialSpecFromFile(path.toStdString());
    if (!spec.ok()) read.problems = spec.problems();
    QFile file(path);
    if (!read.problems.empty() && read.problems.front().code == "spec.too-large") return read;
    if (file.open(QIODevice::ReadOnly)) read.spec = QJsonDocument::fromJson(file.readAll()).object();
    for (const char* key : kVersionKeys) {
        const auto version = read.spec.value(key);  // operator[] would add it
        if (!version.isDouble()) continue;
        read.problems.insert(read.problems.begin(),
                             {path.toStdString(), "spec-file.versioned", {key, numberText(version).toStdString()}});
    }
    return read;
}

}  // namespace lockstep::ui
