#pragma once
#include <QFrame>
#include <QStringList>
#include <memory>
#include <vector>

#include "engine/spec/evaluation.h"
#include "engine/spec/serve_messages.h"
#include "ui/evaluate/sample_lists.h"

class QLabel;
class QListWidget;
class QListWidgetItem;
class QPushButton;

namespace lockstep::ui {

class AnswerBars;

// Samples of an evaluation with what the model answered: images, or the beginnings of texts; the one that is chosen
// with its five likeliest classes, of both models where two are compared. Asks for a hundred at a time.
class SampleGallery : public QFrame {
    Q_OBJECT
public:
    struct Answers {
        QString model;  // "#12"
        std::shared_ptr<const Evaluation> evaluation;
    };
    explicit SampleGallery(QWidget* parent = nullptr);

    // The first of `models` is the one whose answers are named below the images, each above what the sample is.
    void setSamples(const QString& title, SampleList samples, std::vector<Answers> models, QStringList classes);
    void setHint(const QString& text, const QString& button = {});  // instead of samples; the button asks for them
    void setHintEnabled(bool on);                                   // its button
    void setClasses(QStringList classes);
    // One of the three answers the newest samplesWanted(): what was asked for, in its order; or why it cannot be shown.
    void addShown(const std::vector<AskedAbout>& shown, const QString& remark = {});  // what is to be known of them
    void addUnseen(const QString& why);  // what was asked cannot be seen any more: the answers alone
    void setProblem(const QString& text);
    int shownCount() const;

signals:
    void samplesWanted(const std::vector<std::int64_t>& samples);
    void hintTaken();  // the hint's button

private:
    QWidget* buildSide();
    void wantMore();
    std::size_t wantedEnd() const;  // of those that the newest samplesWanted() asks for
    void endAdding(const QString& remark);
    void tell(const QString& text);
    void label(QListWidgetItem& item) const;
    void showChosen();
    QString tileOf(const QString& answer, const QString& share, const QString& label) const;
    QString lineOf(const QString& answer, const QString& share, const QString& label, const QString& text) const;
    QString className(std::int64_t id) const;

    SampleList m_samples;
    std::vector<Answers> m_models;
    QStringList m_classes;
    QLabel *m_title, *m_hint, *m_chosen;
    QPushButton *m_hintButton, *m_more;
    QListWidget* m_list;
    QWidget* m_side;
    std::vector<QLabel*> m_barTitles;
    std::vector<AnswerBars*> m_bars;
};

}  // namespace lockstep::ui
