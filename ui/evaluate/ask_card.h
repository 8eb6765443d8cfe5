#pragma once
#include <QFrame>
#include <QTemporaryDir>

#include "ui/evaluate/asker.h"

class QDoubleSpinBox;
class QLabel;
class QLayout;
class QLineEdit;
class QMimeData;
class QPlainTextEdit;
class QPushButton;
class QSpinBox;

namespace lockstep::ui {

class AnswerBars;

// A person shows the trained model an image, or a text, and reads its answer; a language model goes on with a prompt.
class AskCard : public QFrame {
    Q_OBJECT
public:
    enum class Kind { None, Images, Texts, Language };  // what the model reads; None: there is no model yet

    explicit AskCard(const QString& engineProgram, QWidget* parent = nullptr);
    // `arguments` of `lockstep predict` that mean the model; `name` for people: "#12".
    void setNone(const QString& why);
    void setModel(Kind kind, const QStringList& arguments, const QString& name);
    Kind kind() const { return m_kind; }
    bool hasQuestion() const;
    QString command() const;  // that asks the same on a terminal, where there is a question

    bool takes(const QMimeData* mime) const;  // the model could be asked about it
    void take(const QMimeData* mime);         // what was dropped or pasted
    void askAbout(const QString& path);
    void chooseImage();

signals:
    void questionChanged();  // there is one, or another

private:
    QWidget* buildImageRow();
    QWidget* buildTextRow();
    QWidget* buildLanguage();
    QLayout* buildSampling();
    TextSampling sampling() const;
    void askText();
    void goOn();
    void showPreview(const QImage& preview);
    void showAnswer(const QVector<AnswerBars::Bar>& bars, double milliseconds);
    void showProblem(const Explanation& why);
    void clear();

    Asker m_asker;
    Kind m_kind = Kind::None;
    QStringList m_model;
    QString m_asked;  // what was asked about last
    QTemporaryDir m_pasted;
    QPushButton* m_choose = nullptr;
    QLabel *m_title = nullptr, *m_picture = nullptr, *m_said = nullptr, *m_hint = nullptr;
    QWidget *m_images = nullptr, *m_texts = nullptr, *m_language = nullptr;
    QLineEdit* m_text = nullptr;
    QPlainTextEdit *m_prompt = nullptr, *m_written = nullptr;
    QSpinBox *m_length = nullptr, *m_topK = nullptr;
    QDoubleSpinBox* m_temperature = nullptr;
    QPushButton* m_write = nullptr;
    AnswerBars* m_bars = nullptr;
};

}  // namespace lockstep::ui
