#include <QAction>
#include <QDir>
#include <QFileDialog>
#include <QFileInfo>
#include <QMimeData>
#include <QStandardPaths>
#include <QTimer>
#include <QUrl>

#include "ui/evaluate/evaluate_page.h"

// A table of what the model says of every sample of a folder.
namespace lockstep::ui {

namespace {

// That was dragged or copied; empty: something else was.
QString folderIn(const QMimeData& mime) {
    const QList<QUrl> urls = mime.urls();
    if (urls.size() != 1 || !urls.first().isLocalFile()) return {};
    const QString path = QDir::cleanPath(urls.first().toLocalFile());
    return QFileInfo(path).isDir() ? path : QString();
}

}  // namespace

void EvaluatePage::connectPrediction() {
    connect(&m_prediction, &FolderPrediction::runningChanged, this, &EvaluatePage::enableActions);
    connect(&m_prediction, &FolderPrediction::written, this, [this](const QString& file, const QString& said) {
        showWritten(tr("Written to %1: %2").arg(file, said), file, m_prediction.command());
    });
    connect(&m_prediction, &FolderPrediction::failed, this, [this](const Explanation& why) {
        notice(tr("%1 was not predicted: %2").arg(m_prediction.folder(), why.inOneLine()), true);
        offerCommand(m_prediction.command());
    });
}

bool EvaluatePage::takes(const QMimeData& mime) const {
    return folderIn(mime).isEmpty() ? m_ask->takes(&mime) : m_predicts->isEnabled();
}

// Whoever dropped it does not wait until a dialog is closed.
void EvaluatePage::take(const QMimeData& mime) {
    const QString folder = folderIn(mime);
    if (folder.isEmpty()) return m_ask->take(&mime);
    QTimer::singleShot(0, this, [this, folder] { predictFolder(folder); });
}

void EvaluatePage::predictFolder(const QString& folder) {
    if (folder.isEmpty() || !m_predicts->isEnabled()) return;
    const QString file = askForTable(folder);
    if (file.isEmpty() || !m_predicts->isEnabled()) return;
    m_prediction.start(QStringList{QString::number(m_trial)} + whereArguments(), folder, file);
    if (!m_prediction.isRunning()) return;
    notice(tr("Predicting the samples of %1…").arg(folder));
    offerCommand(m_prediction.command());
}

QString EvaluatePage::askForTable(const QString& folder) {
    const QString place = QStandardPaths::writableLocation(QStandardPaths::DocumentsLocation);
    QFileDialog dialog(window(), tr("Where to write the answers"), place, tr("CSV (*.csv)"));
    dialog.setAcceptMode(QFileDialog::AcceptSave);
    dialog.setDefaultSuffix("csv");
    dialog.selectFile(QString("trial-%1-%2.csv").arg(QString::number(m_trial), QFileInfo(folder).fileName()));
    return dialog.exec() == QDialog::Accepted ? dialog.selectedFiles().value(0) : QString();
}

}  // namespace lockstep::ui
