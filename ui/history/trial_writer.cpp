#include "ui/history/trial_writer.h"

#include <QDir>
#include <QFileDialog>
#include <QFileInfo>
#include <QStandardPaths>
#include <algorithm>
#include <utility>

#include "ui/history/command_text.h"
#include "ui/history/engine_command.h"

namespace lockstep::ui {

namespace {

std::vector<TrialFormat> makeFormats() {
    return {
        {"card",
         TrialWriter::tr("Save model card…"),
         TrialWriter::tr("Data, settings, curves and results on one page for others, with how to repeat them"),
         "card",
         false,
         {{TrialWriter::tr("Web page, all in one file"), "html", {"--html"}, {}},
          {TrialWriter::tr("Markdown, with a folder of pictures"), "md", {"--markdown"}, {}}}},
        {"onnx",
         TrialWriter::tr("Export model as ONNX…"),
         TrialWriter::tr("For onnxruntime, OpenCV and others; batch norms are folded into convolutions, or kept"),
         "export",
         true,
         {{TrialWriter::tr("ONNX that takes pixels of 0 to 1"), "onnx", {"--onnx"}, {"--normalise"}},
          {TrialWriter::tr("ONNX that takes normalised images"), "onnx", {"--onnx"}, {}},
          {TrialWriter::tr("ONNX that takes pixels of 0 to 1, with its batch norms"),
           "onnx",
           {"--onnx"},
           {"--normalise", "--keep-norms"}},
          {TrialWriter::tr("ONNX that takes normalised images, with its batch norms"),
           "onnx",
           {"--onnx"},
           {"--keep-norms"}}}},
        {"weights",
         TrialWriter::tr("Export weights as safetensors…"),
         TrialWriter::tr("The model's tensors by name, for PyTorch and others"),
         "export-weights",
         true,
         {{TrialWriter::tr("safetensors, Lockstep's names"), "safetensors", {}, {}},
          {TrialWriter::tr("safetensors, torchvision's names (ResNets and VGGs)"),
           "safetensors",
           {},
           {"--names", "torchvision"}}}},
        {"pytorch",
         TrialWriter::tr("Export as PyTorch script…"),
         TrialWriter::tr("A script that trains the same model on the same data in PyTorch"),
         "export",
         false,
         {{TrialWriter::tr("Python script"), "py", {"--pytorch"}, {}}}},
        {"curves",
         TrialWriter::tr("Export curves as CSV…"),
         TrialWriter::tr("A row for each update and evaluation"),
         "export",
         false,
         {{TrialWriter::tr("CSV"), "csv", {"--csv"}, {}}}},
        {"json",
         TrialWriter::tr("Export trial as JSON…"),
         TrialWriter::tr("Settings and curves"),
         "export",
         false,
         {{TrialWriter::tr("JSON"), "json", {"--json"}, {}}}},
        {"tensorboard",
         TrialWriter::tr("Export curves for TensorBoard…"),
         TrialWriter::tr("An event file in a folder"),
         "export",
         false,
         {{TrialWriter::tr("Folder for TensorBoard"), "", {"--tensorboard"}, {}}}},
    };
}

TrialFormat makeReport() {
    return {"report",
            TrialWriter::tr("Report…"),
            TrialWriter::tr("Settings, charts, results and how to repeat them on one page for others"),
            "report",
            false,
            {{TrialWriter::tr("Web page, all in one file"), "html", {"--html"}, {}}},
            true};
}

QString filterOf(const TrialFormat::Variant& variant) {
    return QString("%1 (*.%2)").arg(variant.words, variant.ending);
}

// By the name's ending where that tells, else by what was chosen in the dialog.
const TrialFormat::Variant& variantFor(const TrialFormat& format, const QString& file, const QString& filter) {
    const auto chosen = std::ranges::find(format.variants, filter, filterOf);
    const auto& usual = chosen == format.variants.end() ? format.variants.front() : *chosen;
    const QString ending = QFileInfo(file).suffix().toLower();
    if (ending == usual.ending) return usual;
    const auto told = std::ranges::find(format.variants, ending, &TrialFormat::Variant::ending);
    return told == format.variants.end() ? usual : *told;
}

bool isOfCheckpoint(const TrialFormat& format, const std::string& checkpoint) {
    return format.needsCheckpoint && !checkpoint.empty();
}

// "trial-3-onnx", "trial-3-epoch-7-onnx", "sweep-3".
QString nameFor(qint64 trial, const TrialFormat& format, const std::string& checkpoint) {
    if (format.isOfSweep) return QString("sweep-%1").arg(trial);
    QStringList parts{"trial", QString::number(trial)};
    if (isOfCheckpoint(format, checkpoint)) parts << QString::fromStdString(checkpoint);
    return (parts << format.id).join('-');
}

}  // namespace

const std::vector<TrialFormat>& trialFormats() {
    static const std::vector<TrialFormat> formats = makeFormats();
    return formats;
}

const TrialFormat& trialFormat(const QString& id) {
    const auto found = std::ranges::find(trialFormats(), id, &TrialFormat::id);
    Q_ASSERT(found != trialFormats().end());
    return *found;
}

const TrialFormat& sweepReport() {
    static const TrialFormat report = makeReport();
    return report;
}

TrialWriter::TrialWriter(QString engineProgram, QObject* parent)
    : QObject(parent), m_program(std::move(engineProgram)) {}

void TrialWriter::ask(qint64 trial, const TrialFormat& format, QWidget* window, const std::string& checkpoint) {
    const QString whose = format.isOfSweep ? tr("Sweep %1: %2") : tr("Trial %1: %2");
    const QString title = whose.arg(QString::number(trial), QString(format.title).remove("…"));
    const QString folder = QStandardPaths::writableLocation(QStandardPaths::DocumentsLocation);
    if (format.variants.front().ending.isEmpty()) {
        const QString chosen = QFileDialog::getExistingDirectory(window, title, folder);
        if (!chosen.isEmpty()) write(trial, format, format.variants.front(), chosen, checkpoint);
        return;
    }
    QStringList filters;
    std::ranges::transform(format.variants, std::back_inserter(filters), filterOf);
    QFileDialog dialog(window, title, folder);
    dialog.setAcceptMode(QFileDialog::AcceptSave);
    dialog.setNameFilters(filters);
    dialog.setDefaultSuffix(format.variants.front().ending);
    connect(&dialog, &QFileDialog::filterSelected, &dialog,
            [&](const QString& filter) { dialog.setDefaultSuffix(variantFor(format, {}, filter).ending); });
    dialog.selectFile(nameFor(trial, format, checkpoint));
    if (dialog.exec() != QDialog::Accepted) return;
    const QString file = dialog.selectedFiles().front();
    write(trial, format, variantFor(format, file, dialog.selectedNameFilter()), file, checkpoint);
}

void TrialWriter::write(qint64 trial, const TrialFormat& format, const TrialFormat::Variant& variant,
                        const QString& file, const std::string& checkpoint) {
    QStringList words{format.command, QString::number(trial)};
    if (isOfCheckpoint(format, checkpoint)) words += checkpointArguments(checkpoint);
    words += variant.before + QStringList{file} + variant.after;
    auto* command = new EngineCommand(m_program, this);
    connect(command, &EngineCommand::done, this, [this, command, file, words] {
        command->deleteLater();
        emit written(file, words);
    });
    connect(command, &EngineCommand::failed, this, [this, command, file](const Explanation& why) {
        command->deleteLater();
        emit failed(file, why);
    });
    command->start(words);
}

}  // namespace lockstep::ui
