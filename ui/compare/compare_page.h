#pragma once
#include <QTimer>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "ui/compare/compare_feed.h"
#include "ui/compare/compare_measures.h"
#include "ui/compare/compare_scene.h"
#include "ui/style/explanation.h"
#include "ui/style/page.h"

class QAction;
class QComboBox;
class QFrame;
class QGridLayout;
class QHBoxLayout;
class QLabel;
class QLineEdit;
class QScrollArea;
class QSplitter;
class QToolBar;
class QToolButton;

namespace lockstep::ui {

class CompareCard;
class CompareList;
class CompareView;

// Many trials beside each other: those of a sweep, or those that the list of trials shows. Opens with answers; every
// view shows the same selection at every moment. While it is visible, it follows the history. GUI thread.
class ComparePage : public Page {
    Q_OBJECT
public:
    // Service and selection outlive the page.
    ComparePage(HistoryService* history, TrialSelection* selection, Explain explain, QWidget* parent = nullptr);
    ~ComparePage() override;

    static PageFace face();
    QList<QAction*> commands() const override;
    QUndoStack* undoStack() override { return &m_selection.steps(); }
    std::optional<EmptyState> emptyState() const override;
    void save(QSettings& settings) const override;
    void restore(const QSettings& settings) override;

    void showSweep(std::int64_t sweep);  // also one whose trials have not been read yet

signals:
    void openRequested(qint64 trial);
    void evaluateRequested(qint64 trial);
    void resumeRequested(qint64 trial);
    void cloneRequested(const QString& specJson);
    void sweepRequested(const QString& sweepJson, const QString& what);  // to be looked at before it starts
    void reportRequested(qint64 sweep);

protected:
    void showEvent(QShowEvent* event) override;
    void hideEvent(QHideEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;

private:
    // What a trial has come to, as its toggle counts it.
    enum Outcome { Done, CutShort, Failed, UnderWay, Outcomes };
    static Outcome outcomeOf(const ComparedTrial& trial);

    // compare_page.cpp: what is shown
    void connectAll();
    void chooseScope();
    void fillScopes();
    void takeTable(const std::shared_ptr<const CompareTable>& table, const std::shared_ptr<const SweepResult>& sweep);
    void makeScene();
    void takeTarget();
    void readTarget();
    void showProblem(const QString& words);
    void showUnreadable(const Problem& problem);
    void showWords();
    void showAnswers();
    void showBrushes();
    QToolButton* addChip(const std::string& key);
    QString wordsOf(const std::string& axis, const AxisBrush& brush) const;
    void enlarge(CompareCard* card, bool isEnlarged);
    void tell(const QString& words);  // for a while

    // compare_page_layout.cpp: where it stands
    QWidget* buildHead();
    QWidget* buildBody();
    void buildToggles(QHBoxLayout& line);
    void addCard(CompareView* view, bool isWide);
    void arrangeCards();
    QString toggleText(Outcome outcome, int count) const;

    // compare_page_bar.cpp: what can be done
    QAction* addCompareAction(const QString& id, const QString& button, const QString& text, const QString& tip,
                              const QKeySequence& keys, void (ComparePage::*slot)());
    void makeActions();
    void buildBar(QToolBar& bar);
    void enableActions();
    void openChosen();
    void pinChosen();
    void clearBrushes();
    void clearPins();
    void askForReport();
    void copyReportCommand();

    // compare_page_actions.cpp: from seeing to doing
    using WithSpec = std::function<void(const TrialSpec&)>;
    void withSpec(std::int64_t trial, const WithSpec& then);
    std::optional<std::int64_t> chosenOne() const;  // selected alone, or else the best that passes
    void evaluateChosen();
    void resumeChosen();
    void cloneChosen();
    void copyCommand();
    void sweepBrushed();
    void trainMoreSeeds();
    void archiveRest();

    struct Actions {
        QAction *open, *evaluate, *resume, *clone, *command, *pin, *unpin, *clear, *sweep, *seeds, *archive, *report,
            *reportCommand;
    };

    const Explain m_explain;
    HistoryService& m_history;
    TrialSelection& m_selection;
    CompareFeed m_feed;
    CompareMeasures m_measures;
    std::shared_ptr<const CompareTable> m_table;  // null: not read yet
    std::shared_ptr<const SweepResult> m_sweep;
    SharedScene m_scene;
    std::shared_ptr<const CompareTable> m_weighed;  // of which the importance is known
    std::vector<double> m_importance;               // by its axes
    std::set<Outcome> m_hidden;
    std::optional<double> m_target;
    std::map<std::int64_t, QString> m_targets;  // as they were typed, by scope
    QTimer m_told;
    bool m_isReading = true;       // what is in the scope has not come yet
    int m_scrolledTo = 0;          // before a card was enlarged
    bool m_isScopeChosen = false;  // by a person, now or in an earlier window
    Actions m_actions{};

    QComboBox* m_scope = nullptr;
    QLabel *m_count = nullptr, *m_problem = nullptr;
    QLineEdit* m_targetField = nullptr;
    std::vector<QToolButton*> m_toggles;  // by Outcome
    QHBoxLayout *m_answers = nullptr, *m_chips = nullptr;
    QWidget* m_chipLine = nullptr;
    QSplitter* m_splitter = nullptr;
    CompareList* m_list = nullptr;
    QScrollArea* m_scroll = nullptr;
    QGridLayout* m_grid = nullptr;
    std::vector<CompareCard*> m_cards;
    CompareCard* m_enlarged = nullptr;
    std::vector<CompareCard*> m_arranged;
    int m_columns = 0;
};

}  // namespace lockstep::ui
