#pragma once
#include <QFrame>
#include <vector>

#include "engine/spec/train_event.h"

class QComboBox;
class QPlainTextEdit;

namespace lockstep::ui {

// What a language model wrote after its evaluations: the newest, or that of an epoch that a person chose. The prompt is
// bold and in the accent's colour.
class TextCard : public QFrame {
    Q_OBJECT

public:
    explicit TextCard(QWidget* parent = nullptr);
    void setSamples(const std::vector<TextSample>& samples, bool isOver);  // over: none will follow

protected:
    void changeEvent(QEvent* event) override;

private:
    void listEpochs();
    void showSample(int index);

    std::vector<TextSample> m_samples;
    QComboBox* m_epochs = nullptr;
    QPlainTextEdit* m_text = nullptr;
};

}  // namespace lockstep::ui
