#pragma once
#include <QObject>
#include <QString>
#include <QStringList>
#include <string>
#include <vector>

#include "ui/style/explanation.h"

class QWidget;

namespace lockstep::ui {

// What a trial, or a sweep, can be written as for other programs and people, each by one command of the engine's
// program.
struct TrialFormat {
    struct Variant {
        QString words;              // in the dialog: "Web page, all in one file"
        QString ending;             // of its files: "html"; empty: a folder, which TensorBoard reads
        QStringList before, after;  // of the file in the command
    };
    QString id, title, tip;  // "onnx"; in menus
    QString command;         // "export"
    bool needsCheckpoint = false;
    std::vector<Variant> variants;  // the usual one first
    bool isOfSweep = false;         // numbers are those of sweeps
};
const std::vector<TrialFormat>& trialFormats();
const TrialFormat& trialFormat(
    const QString& id);            // "onnx", "weights", "pytorch", "curves", "json", "tensorboard", "card"
const TrialFormat& sweepReport();  // not among trialFormats()

// Writes them in processes of their own: the window reads no checkpoint. GUI thread. Goes with its processes.
class TrialWriter : public QObject {
    Q_OBJECT
public:
    explicit TrialWriter(QString engineProgram, QObject* parent = nullptr);

    // `checkpoint`: the role of the trial's checkpoint that is written, where the format needs one; empty: the usual
    // one. ask(): where to, and writes it there.
    void ask(qint64 trial, const TrialFormat& format, QWidget* window, const std::string& checkpoint = {});
    void write(qint64 trial, const TrialFormat& format, const TrialFormat::Variant& variant, const QString& file,
               const std::string& checkpoint = {});

signals:
    void written(const QString& file, const QStringList& command);  // of `lockstep`, which wrote it
    void failed(const QString& file, const lockstep::ui::Explanation& why);

private:
    const QString m_program;
};

}  // namespace lockstep::ui
