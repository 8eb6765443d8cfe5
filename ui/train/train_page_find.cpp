#include <QAction>

#include "ui/train/find_batch_dialog.h"
#include "ui/train/find_rate_dialog.h"
#include "ui/train/sweep_form.h"
#include "ui/train/train_page.h"

// How the train page finds values for its fields.
namespace lockstep::ui {

namespace {

// Half of the form's devices, a quarter, …, one.
QStringList fewerDevices(const DeviceTiles& devices) {
    QStringList fewer;
    for (int count = devices.count() / 2; count > 0; count /= 2) fewer << devices.withCount(count);
    return fewer;
}

}  // namespace

void TrainPage::findRate() {
    commitEdits();
    find(new FindRateDialog({m_service.program(), m_form.spec(), m_form.catalog().defaults}, this), "learning_rate");
}

void TrainPage::findBatch() {
    commitEdits();
    find(new FindBatchDialog({m_service.program(), m_form.spec(), m_form.catalog().defaults},
                             fewerDevices(m_form.devices()), this),
         "batch");
}

void TrainPage::find(FindDialog* dialog, const QString& path) {
    connect(dialog, &FindDialog::used, this, [this, path](const QJsonValue& value) { m_form.setValue(path, value); });
    dialog->open();
    dialog->start();
}

// Not of what is varied, which has no one value.
void TrainPage::showFinding() {
    const bool canAsk = m_service.isAvailable() && m_answers.hasCatalog();
    m_findRateAction->setEnabled(canAsk && !m_form.sweep().isVaried("learning_rate"));
    m_findBatchAction->setEnabled(canAsk && !m_form.sweep().isVaried("batch"));
    m_measureAction->setEnabled(canAsk);
}

void TrainPage::measure() { m_form.measure(); }

}  // namespace lockstep::ui
