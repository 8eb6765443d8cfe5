#include <QLabel>

#include "ui/evaluate/evaluate_page.h"
#include "ui/evaluate/evaluation_text.h"
#include "ui/style/plain_text.h"

// Whether the data are still those that were asked about.
namespace lockstep::ui {

// What lies there today is not passed off as what was asked.
void EvaluatePage::takeSamples(const AskedSamplesAnswer& answer) {
    if (!m_answers) return;
    m_unseen = answer.changed.empty() ? 0 : m_answers->id;
    showChanged();
    if (m_unseen > 0)
        return m_gallery->addUnseen(
            tr("The data have changed since: what was asked about cannot be shown any more. "
               "These are the answers of then."));
    m_gallery->addShown(answer.samples, m_answers->fingerprint
                                            ? QString()
                                            : tr("As the data are today: this evaluation is of a version that did not "
                                                 "keep what they were, so they may be others than were asked about."));
}

void EvaluatePage::showChanged() {
    const Evaluation* now = source();
    const bool unseen = now && now->id == m_unseen;
    m_changed->setText(!m_found ? QString()
                       : unseen ? tr("The data at %1 have changed since this evaluation: its figures and answers are "
                                     "those of the data as they were.")
                                      .arg(oneLine(now->data))
                                : changedText(now, *m_found));
    m_changed->setVisible(!m_changed->text().isEmpty());
}

}  // namespace lockstep::ui
