#pragma once
#include <memory>

#include "ui/train/find_dialog.h"
#include "ui/train/rate_finding.h"

class QLineEdit;
class QSpinBox;

namespace lockstep::ui {

// A learning rate to begin with: the loss of a short run over rates that grow.
class FindRateDialog : public FindDialog {
    Q_OBJECT
public:
    FindRateDialog(Source source, QWidget* parent);

protected:
    std::vector<FindQuestion> questions() const override;
    QString nameOf(std::size_t) const override { return {}; }
    void begin() override;
    void take(std::size_t question, const QJsonObject& line) override;
    void draw() override;
    Told told() const override;

private:
    PlotView::Look lookNow() const;

    QLineEdit *m_from, *m_to;
    QSpinBox* m_updates;
    RateFinding m_found;
    double m_highest = 0;  // of the smoothed losses
    std::shared_ptr<Curve> m_losses, m_smoothed;
};

}  // namespace lockstep::ui
