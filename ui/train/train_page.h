#pragma once
#include <QAction>
#include <QJsonObject>
#include <QList>
#include <QTimer>

#include "ui/style/explanation.h"
#include "ui/style/page.h"
#include "ui/train/form_answers.h"
#include "ui/train/measured_speeds.h"
#include "ui/train/run_launcher.h"
#include "ui/train/spec_form.h"
#include "ui/train/sweep_check.h"

class QBoxLayout;
class QFrame;
class QLabel;
class QMenu;
class QPushButton;
class QScrollArea;
class QToolButton;
class QVBoxLayout;

namespace lockstep::ui {

class DatasetCard;
class FieldList;
class FindDialog;
class HistoryService;
class ProblemLabel;

// The page where a trial, or a sweep of it, is put together and started. The launcher's started() and queued() say
// when. What its buttons do is in actions, so that menus, palette and shortcuts do the same.
class TrainPage : public Page {
    Q_OBJECT
public:
    TrainPage(EngineService* service, RunLauncher* launcher, Explain explain, QWidget* parent = nullptr);
    ~TrainPage() override;

    void setSpec(const QJsonObject& spec);                         // a clone of a trial; can be undone
    void setSweep(const QString& sweepJson, const QString& what);  // likewise; `what` names the step that undoes it
    // A spec file, or a sweep's, perhaps edited by hand: what is wrong with it is told by file and field, the rest is
    // in the form.
    void openSpecFile(const QString& path);
    QJsonObject spec() const { return m_form.spec(); }
    SweepForm& sweep() { return m_form.sweep(); }
    // Where it learns how fast trials were; must outlive the page. Without one no time is foretold.
    void followHistory(HistoryService* history);
    // Without any trial the preset is offered on one prominent card. The window knows the history.
    void setHomeIsEmpty(bool empty);

    static PageFace face();
    QList<QAction*> commands() const override;  // their shortcuts hold while the focus is on the page
    QList<QAction*> windowCommands() const override { return m_windowCommands; }
    QUndoStack* undoStack() override { return &m_form.history(); }

    bool canStart() const;  // validated as it is now, and nothing is wrong
    void start();           // what the primary button does; waits for a validation that is under way

protected:
    void dragEnterEvent(QDragEnterEvent* event) override;
    void dragLeaveEvent(QDragLeaveEvent* event) override;
    void dropEvent(QDropEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;
    void focusInEvent(QFocusEvent* event) override;
    void showEvent(QShowEvent* event) override;
    void hideEvent(QHideEvent* event) override;
    bool eventFilter(QObject* watched, QEvent* event) override;

private:
    void makeActions();
    QAction* makeAction(const QString& id, const QString& text, const QString& help, void (TrainPage::*slot)());
    void makeWindowCommands();
    QPushButton* makeButton(QAction* action);
    void connectAll();
    QWidget* makeHeader();
    QFrame* makeWelcome();
    QFrame* makeNotice();
    QFrame* makeFileNotice();
    QWidget* makeQueuedNotice();
    QWidget* makeForm();
    void foldColumns();
    QWidget* makeFooter();
    void addRunCard(QVBoxLayout& into);
    // Fields that most trials leave as they are, behind a button.
    struct Fold {
        QToolButton* button = nullptr;
        FieldList* fields = nullptr;
    };
    Fold addFold(QVBoxLayout& into, const QString& name, const QString& words, const QString& help);
    void fill(const Fold& fold, const QVector<FormField>& fields);
    void addMethodCard(QVBoxLayout& into);

    void fillPresets();
    void fillRecent();
    void remember(const QString& json);  // a spec or a sweep
    void fillForm(const QString& json, const QString& what);
    bool isChecked() const;
    bool isSweepReady() const;
    void launch(const QJsonObject& spec);
    void prepareLaunch(const QString& what);
    void launchForm();
    void launchSweep();
    void showQueued(qint64 sweep);
    void watchHistory();
    QString startText() const;
    std::optional<double> secondsOfSweep() const;
    void startIfWaiting();
    void startPreset();
    void resetForm();
    void chooseDataset();
    void chooseSpecFile();
    void copyCommand();
    void findRate();
    void findBatch();
    void measure();
    void find(FindDialog* dialog, const QString& path);
    void showFinding();
    void leaveOutUnknown();
    void goToProblem();
    void showService();
    void showFields();
    void showFooter();
    void showActions();
    QString footerText() const;
    QString planText() const;
    QWidget* editorOf(const QString& field) const;
    QString whyNotStart() const;  // empty: it may be pressed
    Problems allProblems() const;
    void commitEdits();
    void takeFile(const QString& path);
    void takeWeights(const QString& path);
    const Preset* firstPreset() const;

    EngineService& m_service;
    RunLauncher& m_launcher;
    Explain m_explain;
    SpecForm m_form;
    FormAnswers m_answers;
    SweepCheck m_sweepCheck;
    HistoryService* m_history = nullptr;
    MeasuredSpeeds m_speeds;
    QTimer m_tabs;  // the tabulator's order, once the form is built again
    bool m_homeIsEmpty = false, m_startWhenValid = false, m_copied = false, m_watches = false;

    QAction *m_startAction, *m_presetAction, *m_resetAction, *m_datasetAction, *m_copyAction, *m_unknownAction,
        *m_problemAction, *m_retryAction, *m_findRateAction, *m_findBatchAction, *m_measureAction;
    QList<QAction*> m_windowCommands;
    QMenu *m_presets, *m_recent;
    QScrollArea* m_scroll;
    QFrame *m_welcome, *m_notice, *m_fileNotice;
    QPushButton *m_welcomeButton, *m_start;
    QLabel *m_welcomeText, *m_estimate, *m_fileTitle, *m_queuedText;
    QWidget* m_queued;
    ProblemLabel *m_noticeText, *m_problems, *m_launchProblems, *m_fileProblems;
    DatasetCard* m_dataset;
    FieldList *m_rateFields, *m_runFields;
    Fold m_more, m_faults;
    QWidget* m_body;
    QBoxLayout* m_columns;
};

}  // namespace lockstep::ui
