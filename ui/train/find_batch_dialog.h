#pragma once
#include <memory>
#include <vector>

#include "ui/train/batch_finding.h"
#include "ui/train/find_dialog.h"

class QCheckBox;
class QDoubleSpinBox;
class QSpinBox;

namespace lockstep::ui {

// A batch: how fast several sizes are, and the largest that fits, for the devices of the form and, where it is asked
// for, for fewer of them.
class FindBatchDialog : public FindDialog {
    Q_OBJECT
public:
    // `fewer`: texts of fewer devices than those of the form, as its field would have them.
    FindBatchDialog(Source source, QStringList fewer, QWidget* parent);

protected:
    std::vector<FindQuestion> questions() const override;
    QString nameOf(std::size_t question) const override;
    void begin() override;
    void take(std::size_t question, const QJsonObject& line) override;
    void draw() override;
    Told told() const override;

private:
    struct Measured {
        QString devices;
        BatchFinding found = {};
        std::shared_ptr<Curve> curve = std::make_shared<Curve>();
    };
    QStringList deviceTexts() const;  // that are measured, the form's first
    FindQuestion questionOf(const QString& devices) const;
    QString resultText() const;

    QStringList m_fewer;
    QDoubleSpinBox* m_seconds;
    QSpinBox* m_doublings;
    QCheckBox* m_alsoFewer;
    std::vector<Measured> m_measured;  // one for each question, the form's first
    std::size_t m_newest = 0;          // of them
};

}  // namespace lockstep::ui
