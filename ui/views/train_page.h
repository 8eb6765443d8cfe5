#pragma once
#include <QJsonObject>
#include <QWidget>

#include "ui/controllers/form_answers.h"
#include "ui/controllers/run_launcher.h"
#include "ui/explanation.h"
#include "ui/models/spec_form.h"

class QFrame;
class QLabel;
class QMenu;
class QPushButton;
class QToolButton;
class QVBoxLayout;

namespace lockstep::ui {

class DatasetCard;
class FieldList;
class ProblemLabel;

// The page where a trial is put together and started. The launcher's started() says when it runs.
class TrainPage : public QWidget {
    Q_OBJECT
public:
    TrainPage(EngineService* service, RunLauncher* launcher, Explain explain, QWidget* parent = nullptr);

    void setSpec(const QJsonObject& spec);       // a clone of a trial; can be undone
    QJsonObject spec() const { return m_form.spec(); }
    QUndoStack& history() { return m_form.history(); }                   // for the window's Undo and Redo
    // Without any trial the preset is offered on one prominent card. The window knows the history.
    void setHomeIsEmpty(bool empty);

    bool canStart() const;
    void start();                                // what the primary button does

protected:
    void dragEnterEvent(QDragEnterEvent* event) override;
    void dropEvent(QDropEvent* event) override;

private:
    QWidget* makeHeader();
    QFrame* makeWelcome();
    QFrame* makeNotice();
    QWidget* makeForm();
    QWidget* makeFooter();
    void addRunCard(QVBoxLayout& into);
    void addMethodCard(QVBoxLayout& into);
    void fillPresets();
    void fillRecent();
    void remember(const QJsonObject& spec);
    void startPreset();
    void copyCommand();
    void showService();
    void showRunFields();
    void showFooter();
    void launchFailed(const Problems& problems);
    void takeFile(const QString& path);
    const Preset* firstPreset() const;

    EngineService& m_service;
    RunLauncher& m_launcher;
    Explain m_explain;
    SpecForm m_form;
    FormAnswers m_answers;
    bool m_homeIsEmpty = false;

    QMenu *m_presets, *m_recent;
    QFrame *m_welcome, *m_notice;
    QPushButton *m_welcomeButton, *m_start, *m_copy, *m_retry;
    QLabel *m_welcomeText, *m_estimate;
    ProblemLabel *m_noticeText, *m_problems, *m_launchProblems;
    DatasetCard* m_dataset;
    FieldList *m_runFields, *m_moreFields;
    QToolButton* m_more;
    QWidget* m_body;
};

}  // namespace lockstep::ui
