#pragma once
#include <QDialog>
#include <QJsonObject>
#include <QLabel>
#include <QTimer>
#include <vector>

#include "ui/history/engine_command.h"
#include "ui/plot/plot_view.h"
#include "ui/style/update_pace.h"
#include "ui/train/find_question.h"

class QHBoxLayout;
class QProgressBar;
class QPushButton;

namespace lockstep::ui {

class ProblemLabel;

// Finds a value for a setting of the form by commands of the engine, in a process of its own that ends when the dialog
// does: shows how far they are, what they measured, what they suggest, and what went wrong. GUI thread.
class FindDialog : public QDialog {
    Q_OBJECT
public:
    // What the form has: the defaults are a whole spec.
    struct Source {
        QString engineProgram;
        QJsonObject spec, defaults;
    };
    void start();  // asks as the fields say; nothing while it asks

signals:
    void used(const QJsonValue& value);  // the suggestion was taken; the dialog closes

protected:
    struct Look {
        QString title, about;
        PlotView::Look plot;
    };
    FindDialog(Source source, const Look& look, QWidget* parent);

    const QJsonObject& spec() const { return m_source.spec; }
    QString textOf(const QString& setting) const;  // as the spec has it, or the defaults do; of a choice its id
    void setHeading(const QString& words) { m_heading->setText(words); }  // what is trained
    QHBoxLayout& fields() { return *m_fields; }                           // what the questions depend on
    void addField(const QString& label, QWidget* field, const QString& help);
    PlotView& plot() { return *m_plot; }

    // One after the other; the first is about the form as it is, and the others are not asked if it fails.
    virtual std::vector<FindQuestion> questions() const = 0;
    virtual QString nameOf(std::size_t question) const = 0;  // among several
    virtual void begin() = 0;                                // what was found before is forgotten
    virtual void take(std::size_t question, const QJsonObject& line) = 0;
    virtual void draw() = 0;  // what was found, into the plot

    struct Told {
        qint64 done = 0, of = 0;  // of: 0, not known yet
        QString progress = {}, result = {};
        QString suggestion = {};  // empty: none
        QJsonValue value = {};    // of the field
    };
    virtual Told told() const = 0;

private:
    QWidget* makeButtons();
    void connectAll();
    void ask();
    void next();
    void fail(const Explanation& why);
    void cancel();
    void refresh();
    void showButtons();
    void copyCommand();
    void use();

    Source m_source;
    EngineCommand m_engine;
    std::vector<FindQuestion> m_questions;  // as they are asked
    std::size_t m_at = 0;
    QStringList m_failures;
    QString m_note;  // in place of the progress
    UpdatePace m_pace;
    QTimer m_soon;
    QHBoxLayout* m_fields;
    PlotView* m_plot;
    QProgressBar* m_bar;
    QLabel *m_heading, *m_progress, *m_result;
    ProblemLabel* m_problem;
    QPushButton *m_again, *m_copy, *m_cancel, *m_close, *m_use;
};

}  // namespace lockstep::ui
