#pragma once
#include <QMap>
#include <memory>
#include <optional>
#include <vector>

#include "ui/evaluate/ask_card.h"
#include "ui/evaluate/folder_prediction.h"
#include "ui/evaluate/sample_gallery.h"
#include "ui/evaluate/sample_lists.h"
#include "ui/history/engine_command.h"
#include "ui/history/engine_service.h"
#include "ui/history/history_service.h"
#include "ui/history/trial_writer.h"
#include "ui/style/explanation.h"
#include "ui/style/page.h"

class QAction;
class QActionGroup;
class QComboBox;
class QFrame;
class QLabel;
class QLineEdit;
class QMenu;
class QMimeData;
class QPushButton;
class QSlider;
class QTabWidget;

namespace lockstep::ui {

class BesideCard;
class CalibrationView;
class ClassScoresView;
class ConfusionView;

// What a trained model gets right and wrong: its confusion matrix after each epoch or of an evaluation that was asked
// for, class by class, the samples behind each cell, another trial beside it; and its answers to what a person shows
// it. Evaluates, predicts and exports by commands of the engine's program, which can be copied.
class EvaluatePage : public Page {
    Q_OBJECT
public:
    // The services outlive the page.
    EvaluatePage(const QString& engineProgram, EngineService* engine, HistoryService* history, Explain explain,
                 QWidget* parent = nullptr);
    ~EvaluatePage() override;

    static PageFace face();
    QList<QAction*> commands() const override;
    std::optional<EmptyState> emptyState() const override;
    void save(QSettings& settings) const override;
    void restore(const QSettings& settings) override;

    void openTrial(std::int64_t trial);
    // Elsewhere: it is the one that the page shows when it comes to the front next, as far as it has a model by then.
    void setLookedAt(std::int64_t trial) { m_lookedAt = trial; }
    std::int64_t trial() const { return m_trial; }

signals:
    void cardRequested(qint64 trial);

protected:
    void showEvent(QShowEvent* event) override;
    void hideEvent(QHideEvent* event) override;
    void dragEnterEvent(QDragEnterEvent* event) override;
    void dropEvent(QDropEvent* event) override;

private:
    // evaluate_page.cpp: what is shown
    void watch();
    void catchUp();
    void connectAll();
    void takeRows(const std::vector<TrialRow>& rows);
    void listTrials();
    void openLookedAt();
    void readOthers();
    void listOthers(const std::vector<std::int64_t>& trials);
    void readEvaluations();
    void takeEvaluations(const TrialEvaluations& found);
    void fillSources();
    void sourceChanged();
    void takeAnswers(const std::optional<Evaluation>& evaluation);
    void showCounts();
    void showViews();
    QStringList figures() const;
    void showModel();
    void readClasses();
    void setClasses(const std::vector<std::string>& classes);
    void chooseCell(std::int64_t label, std::int64_t answer);
    void chooseClass(std::int64_t label);
    // With the answers of the trial alone, or of the other one as well; those of the first are named below the samples.
    enum class Answers { Own, OwnFirst, OthersFirst };
    void showSamples(const QString& title, SampleList samples, Answers whose = Answers::Own);
    void showMistakes();
    void askForSamples(const std::vector<std::int64_t>& samples);
    QString epochText(const EvalCounts& counts) const;
    bool isOutOfDate(const TrialEvaluations& found) const;
    const EvalCounts* counts() const;  // of what is shown; null: there are none
    const Evaluation* source() const;  // that was asked for; null: those of training are shown
    const TrialRow* row(std::int64_t trial) const;
    AskCard::Kind kindOf(const TrialSpec& spec) const;
    bool isLanguage() const;  // the model that is shown
    QString whyNoMatrix() const;
    QString whyNoModel() const;
    void showGalleryHint();
    QString className(std::int64_t id) const;

    // evaluate_page_changed.cpp: whether the data are still those that were asked about
    void takeSamples(const AskedSamplesAnswer& answer);
    void showChanged();

    // evaluate_page_layout.cpp: where it stands
    QWidget* buildHead();
    QWidget* buildBesideChoice();
    QWidget* buildSourceRow();
    QWidget* buildMatrix();
    QWidget* buildSide();
    QFrame* buildNotice();

    // evaluate_page_bar.cpp: what can be done
    void makeActions();
    // For what an action can do something.
    enum class Needs { Trial, Model, ImageModel, Question, IdleEngine, IdleClassifier };
    QAction* addPageAction(Needs needs, const QString& id, const QString& text, const QString& tip,
                           std::function<void()> slot);
    QMenu* makeEvaluateMenu();
    void enableActions();
    bool isBusy() const;
    void cancel();
    void evaluate(const QStringList& arguments);
    void evaluateOther(const QString& path);     // empty: the person thought better of it
    void evaluateBeside(const TrialSpec& spec);  // of the other trial
    void startEvaluation(std::int64_t trial, const QStringList& arguments);
    void evaluated();
    QStringList whereArguments() const;  // --devices, --precision
    void copyEvaluation();
    void copyQuestion();
    void copy(const QString& command);
    void notice(const QString& text, bool isProblem = false);
    void offerCommand(const QString& command);  // beside the notice

    // evaluate_page_folder.cpp: a table of what the model says of many
    void connectPrediction();
    void take(const QMimeData& mime);  // what was dropped or pasted: a folder, or a question
    bool takes(const QMimeData& mime) const;
    void predictFolder(const QString& folder);  // empty: the person thought better of it
    QString askForTable(const QString& folder);

    // evaluate_page_export.cpp: what leaves it for other programs
    QMenu* makeExportMenu();
    QAction* checkpointAction(const CheckpointFile& checkpoint);
    void listCheckpoints();
    void chooseCheckpoint(const std::string& role);
    std::string exportedCheckpoint() const;
    void showWritten(const QString& text, const QString& file, const QString& command);

    const Explain m_explain;
    EngineService& m_engine;
    HistoryService& m_history;
    EngineCommand m_evaluation;
    FolderPrediction m_prediction;
    TrialWriter m_writer;
    std::vector<TrialRow> m_rows;    // that have a model, newest first
    QStringList m_names;             // of those
    QMap<QString, QString> m_tasks;  // of models, by id
    qint64 m_question = 0;           // to the engine, for samples
    std::int64_t m_unseen = 0;       // the evaluation of which the engine last said that its data have changed
    std::int64_t m_trial = 0, m_lookedAt = 0;
    std::optional<TrialEvaluations> m_found;
    std::shared_ptr<const Evaluation> m_answers;
    QStringList m_classes;
    std::int64_t m_classesOf = 0;               // trial
    std::int64_t m_evaluates = 0;               // trial that is being evaluated
    std::vector<CheckpointFile> m_choices;      // of checkpoints to export
    std::string m_checkpointShown, m_exported;  // roles: of what is looked at, of what would be exported
    bool m_watches = false;
    bool m_isRead = false;         // the history, or that there is none
    bool m_choosesNewest = false;  // an evaluation has just come
    bool m_isJustShown = false;    // and the rows may be older than that

    QComboBox *m_trials = nullptr, *m_others = nullptr, *m_source = nullptr, *m_order = nullptr, *m_numbers = nullptr,
              *m_precision = nullptr;
    QSlider* m_epoch = nullptr;
    QLabel *m_epochText = nullptr, *m_figures = nullptr, *m_noticeText = nullptr, *m_matrixHint = nullptr,
           *m_told = nullptr, *m_noClasses = nullptr, *m_changed = nullptr;
    QString m_written, m_command;  // the file that the notice tells of, and what wrote it
    QFrame *m_notice = nullptr, *m_matrixCard = nullptr, *m_classCard = nullptr;
    QWidget* m_besideChoice = nullptr;
    QLineEdit* m_devices = nullptr;
    QPushButton *m_evaluateButton = nullptr, *m_exportButton = nullptr, *m_cancel = nullptr, *m_mistakes = nullptr,
                *m_noticeCopy = nullptr, *m_noticeShow = nullptr;
    BesideCard* m_beside = nullptr;
    ConfusionView* m_matrix = nullptr;
    ClassScoresView* m_scores = nullptr;
    CalibrationView* m_calibration = nullptr;
    QTabWidget* m_tabs = nullptr;
    SampleGallery* m_gallery = nullptr;
    AskCard* m_ask = nullptr;
    std::vector<std::pair<QAction*, Needs>> m_actions;
    QAction* m_predicts = nullptr;
    QMenu* m_checkpoints = nullptr;
    QActionGroup* m_checkpointGroup = nullptr;
};

}  // namespace lockstep::ui
