#include "ui/compare/compare_page.h"

#include <QAction>
#include <QComboBox>
#include <QHBoxLayout>
#include <QKeyEvent>
#include <QLabel>
#include <QLineEdit>
#include <QScrollArea>
#include <QScrollBar>
#include <QSettings>
#include <QSignalBlocker>
#include <QSplitter>
#include <QToolButton>
#include <QToolTip>
#include <QVBoxLayout>
#include <algorithm>
#include <cmath>

#include "ui/compare/compare_answers.h"
#include "ui/compare/compare_card.h"
#include "ui/compare/compare_list.h"
#include "ui/compare/compare_view.h"
#include "ui/compare/compare_views.h"
#include "ui/compare/importance_view.h"
#include "ui/history/sweep_words.h"
#include "ui/style/theme.h"

namespace lockstep::ui {

namespace {

constexpr int kToldMilliseconds = 12'000;

void clearLine(QHBoxLayout& line) {
    while (QLayoutItem* item = line.takeAt(0)) {
        delete item->widget();
        delete item;
    }
}

}  // namespace

ComparePage::ComparePage(HistoryService* history, TrialSelection* selection, Explain explain, QWidget* parent)
    : Page(parent),
      m_explain(std::move(explain)),
      m_history(*history),
      m_selection(*selection),
      m_feed(history, selection),
      m_measures(history, &m_feed) {
    setObjectName("comparePage");
    makeActions();
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(space::kLarge, space::kLarge, space::kLarge, space::kMedium);
    column->setSpacing(space::kMedium);
    column->addWidget(buildHead());
    column->addWidget(buildBody(), 1);
    connectAll();
    fillScopes();
    enableActions();
    if (history->refusal()) showUnreadable(*history->refusal());
}

ComparePage::~ComparePage() = default;

void ComparePage::connectAll() {
    connect(&m_feed, &CompareFeed::groupsChanged, this, &ComparePage::chooseScope);
    connect(&m_feed, &CompareFeed::tableMade, this, &ComparePage::takeTable);
    connect(&m_feed, &CompareFeed::unreadable, this, &ComparePage::showUnreadable);
    connect(&m_selection, &TrialSelection::scopeChanged, this, [this] {
        m_isScopeChosen = true;
        m_isReading = true;
        fillScopes();
        readTarget();
    });
    m_told.setSingleShot(true);
    connect(&m_told, &QTimer::timeout, this, [this] {
        m_problem->hide();
        if (m_table) showWords();
    });
    connect(&m_selection, &TrialSelection::brushesChanged, this, &ComparePage::makeScene);
    connect(&m_selection, &TrialSelection::pinnedChanged, this, &ComparePage::enableActions);
    connect(&m_selection, &TrialSelection::tooMany, this, [this] {
        if (!isVisible()) return;
        QToolTip::showText(QCursor::pos(),
                           tr("%1 trials are pinned, and more nobody could tell apart. Unpin one first.")
                               .arg(TrialSelection::kMostPlaces));
    });
    connect(m_scope, &QComboBox::activated, this,
            [this](int index) { m_selection.setScope(m_scope->itemData(index).toLongLong()); });
    connect(m_targetField, &QLineEdit::editingFinished, this, &ComparePage::takeTarget);
    connect(m_list, &CompareList::openWanted, this, &ComparePage::openRequested);
    connect(m_list, &CompareList::chosenChanged, this, &ComparePage::enableActions);
    for (std::size_t i = 0; i < m_toggles.size(); ++i) {
        connect(m_toggles[i], &QToolButton::toggled, this, [this, outcome = static_cast<Outcome>(i)](bool isShown) {
            if (isShown) m_hidden.erase(outcome);
            else m_hidden.insert(outcome);
            makeScene();
        });
    }
    for (const PlacedView& each : makeCompareViews(&m_history, &m_selection)) {
        addCard(each.view, each.isWide);
        if (auto* importance = qobject_cast<ImportanceView*>(each.view)) {
            connect(importance, &ImportanceView::known, this,
                    [this](const std::shared_ptr<const CompareTable>& table, const std::vector<double>& byAxis) {
                        m_weighed = table;
                        m_importance = byAxis;
                        if (m_weighed == m_table) makeScene();
                    });
        }
    }
    arrangeCards();
}

// The newest sweep is what somebody opens the page for first.
void ComparePage::chooseScope() {
    const auto& sweeps = m_feed.groups().sweeps;
    if (!m_isScopeChosen && m_selection.scope() == 0 && !sweeps.empty()) m_selection.setScope(sweeps.front().id);
    fillScopes();
}

void ComparePage::fillScopes() {
    const QSignalBlocker blocker(m_scope);
    m_scope->clear();
    for (const TrialGroup& sweep : m_feed.groups().sweeps)
        m_scope->addItem(sweepName(sweep), static_cast<qlonglong>(sweep.id));
    m_scope->addItem(tr("Trials that the list shows"), 0);
    m_scope->setCurrentIndex(m_scope->findData(static_cast<qlonglong>(m_selection.scope())));
    enableActions();
}

void ComparePage::takeTable(const std::shared_ptr<const CompareTable>& table,
                            const std::shared_ptr<const SweepResult>& sweep) {
    const bool wasEmpty = emptyState().has_value();
    m_table = table;
    m_sweep = sweep;
    m_isReading = false;
    if (!m_told.isActive()) m_problem->hide();
    if (wasEmpty != emptyState().has_value()) emit emptyStateChanged();
    readTarget();
}

void ComparePage::makeScene() {
    if (!m_table) return;
    auto scene = std::make_shared<CompareScene>();
    scene->table = m_table;
    scene->sweep = m_sweep;
    scene->passes = m_table->passing(m_selection.brushes());
    for (std::size_t row = 0; row < scene->passes.size(); ++row)
        if (m_hidden.contains(outcomeOf(m_table->trials[row]))) scene->passes[row] = false;
    const bool isSameTable = m_scene && m_scene->table == m_table;
    scene->ranking = isSameTable ? m_scene->ranking : m_table->ranking();
    scene->target = m_target;
    if (m_weighed == m_table) scene->importance = m_importance;
    m_scene = scene;
    m_measures.setScene(m_scene);
    m_list->setScene(m_scene);
    for (CompareCard* card : m_cards) card->view().setScene(m_scene);
    arrangeCards();
    showWords();
    if (!isSameTable) showAnswers();
    enableActions();
}

ComparePage::Outcome ComparePage::outcomeOf(const ComparedTrial& trial) {
    if (trial.hasFailed()) return Failed;
    if (trial.isCutShort) return CutShort;
    return trial.state == RunState::Finished ? Done : UnderWay;
}

void ComparePage::takeTarget() {
    m_targets[m_selection.scope()] = m_targetField->text().trimmed();
    readTarget();
}

// Anew with each table: what is a share, the objective says. A share may be written in percent; what is no number is no
// target.
void ComparePage::readTarget() {
    const auto kept = m_targets.find(m_selection.scope());
    QString text = kept == m_targets.end() ? QString() : kept->second;
    if (m_targetField->text().trimmed() != text) m_targetField->setText(text);
    const bool isPercent = text.endsWith('%');
    if (isPercent) text.chop(1);
    bool isNumber = false;
    double value = text.trimmed().toDouble(&isNumber);
    const bool isShare = m_table && m_table->objective && m_table->axes[*m_table->objective].metric &&
                         m_table->axes[*m_table->objective].metric->unit == MetricUnit::Share;
    if (isPercent || (isShare && value > 1)) value /= 100;
    m_target = isNumber && std::isfinite(value) ? std::optional(value) : std::nullopt;
    makeScene();
}

void ComparePage::showWords() {
    const auto shown = m_scene->passing(), all = m_scene->passes.size();
    m_count->setText(m_isReading   ? tr("Reading the trials…")
                     : shown < all ? tr("%1 of %2 trials").arg(shown).arg(all)
                     : all == 1    ? tr("1 trial")
                                   : tr("%1 trials").arg(all));
    std::vector<int> counts(Outcomes);
    for (const ComparedTrial& trial : m_table->trials) ++counts[outcomeOf(trial)];
    for (std::size_t i = 0; i < m_toggles.size(); ++i) {
        m_toggles[i]->setText(toggleText(static_cast<Outcome>(i), counts[i]));
        m_toggles[i]->setVisible(counts[i] > 0);
    }
    if (!m_table->shared.isEmpty() && !m_told.isActive()) showProblem(m_table->shared);
    showBrushes();
}

void ComparePage::showAnswers() {
    clearLine(*m_answers);
    for (const CompareAnswer& answer : answersOf(*m_scene)) {
        auto* name = new QLabel(answer.name);
        name->setProperty("role", "muted");
        auto* value = new QLabel(answer.value);
        value->setProperty("role", "heading");
        auto* box = new QWidget;
        box->setToolTip(answer.tip);
        box->setAccessibleName(tr("%1: %2. %3").arg(answer.name, answer.value, answer.tip));
        auto* column = new QVBoxLayout(box);
        column->setContentsMargins(0, 0, space::kPage, 0);
        column->setSpacing(0);
        column->addWidget(name);
        column->addWidget(value);
        m_answers->addWidget(box);
    }
    m_answers->addStretch(1);
}

QString ComparePage::wordsOf(const std::string& key, const AxisBrush& brush) const {
    const auto at = m_table->axisOf(key);
    const QString name = at ? m_table->axes[*at].name : QString::fromStdString(key);
    const auto text = [&](double value) { return at ? m_table->axes[*at].text(value) : QString::number(value); };
    QStringList parts;
    for (const auto& range : brush.ranges)
        parts << (range.low == range.high ? text(range.low) : text(range.low) + " … " + text(range.high));
    for (const auto& choice : brush.choices) parts << QString::fromStdString(choice);
    for (const Absence absence : brush.without) parts << absenceText(absence);
    return name + ": " + parts.join(tr(" or "));
}

// Chips that stay keep their buttons: a brush that is dragged changes their words many times a second.
void ComparePage::showBrushes() {
    const Brushes& brushes = m_selection.brushes();
    for (auto* chip : m_chipLine->findChildren<QToolButton*>())
        if (!brushes.contains(chip->property("axis").toString().toStdString())) delete chip;
    for (const auto& [key, brush] : brushes) {
        auto* chip = m_chipLine->findChild<QToolButton*>("chip." + QString::fromStdString(key));
        if (!chip) chip = addChip(key);
        chip->setText(wordsOf(key, brush) + QStringLiteral("  ×"));
    }
    m_chipLine->setVisible(!brushes.empty());
}

QToolButton* ComparePage::addChip(const std::string& key) {
    auto* chip = new QToolButton;
    chip->setToolTip(tr("Take this brush off"));
    chip->setProperty("axis", QString::fromStdString(key));
    chip->setObjectName("chip." + QString::fromStdString(key));
    connect(chip, &QToolButton::clicked, this, [this, key] {
        QMetaObject::invokeMethod(
            this, [this, key] { m_selection.brush(key, {}); }, Qt::QueuedConnection);  // it deletes the chip
    });
    m_chips->insertWidget(m_chips->count() - 1, chip);
    return chip;
}

void ComparePage::enlarge(CompareCard* card, bool isEnlarged) {
    if (isEnlarged && !m_enlarged) m_scrolledTo = m_scroll->verticalScrollBar()->value();
    m_enlarged = isEnlarged ? card : nullptr;
    for (CompareCard* each : m_cards) each->setEnlarged(each == m_enlarged);
    arrangeCards();
    if (m_enlarged) return;
    // Once the cards stand again.
    QTimer::singleShot(0, this, [this] { m_scroll->verticalScrollBar()->setValue(m_scrolledTo); });
}

void ComparePage::showProblem(const QString& words) {
    m_told.stop();
    m_problem->setText(words);
    m_problem->show();
}

void ComparePage::showUnreadable(const Problem& problem) {
    m_isReading = false;
    if (!m_table) m_count->clear();
    showProblem(m_explain(problem).inOneLine());
}

void ComparePage::tell(const QString& words) {
    showProblem(words);
    m_told.start(kToldMilliseconds);
}

void ComparePage::showSweep(std::int64_t sweep) {
    m_isScopeChosen = true;
    m_selection.setScope(sweep);
}

std::optional<EmptyState> ComparePage::emptyState() const {
    const bool hasScopes = m_scope && m_scope->count() > 1;
    if (!m_table || hasScopes || !m_table->trials.empty()) return std::nullopt;
    return EmptyState{tr("Nothing to compare yet"),
                      tr("Train a few trials, or start a sweep: here you see what their settings do."),
                      {{"page.train", tr("Train a model")}, {"page.trials", tr("Show the trials")}}};
}

void ComparePage::save(QSettings& settings) const {
    m_selection.save(settings);
    settings.setValue("compare/splitter", m_splitter->saveState());
    QVariantMap targets;
    for (const auto& [scope, text] : m_targets)
        if (!text.isEmpty() && scope != m_selection.scope()) targets.insert(QString::number(scope), text);
    targets.insert(QString::number(m_selection.scope()), m_targetField->text());
    settings.setValue("compare/targets", targets);
    for (const CompareCard* card : m_cards) card->view().save(settings);
}

void ComparePage::restore(const QSettings& settings) {
    m_isScopeChosen = settings.contains("selection/scope");
    m_selection.restore(settings);
    m_splitter->restoreState(settings.value("compare/splitter").toByteArray());
    const QVariantMap targets = settings.value("compare/targets").toMap();
    for (auto each = targets.begin(); each != targets.end(); ++each)
        m_targets[each.key().toLongLong()] = each.value().toString();
    for (CompareCard* card : m_cards) card->view().restore(settings);
    readTarget();
}

void ComparePage::showEvent(QShowEvent* event) {
    Page::showEvent(event);
    m_history.setWatching(true);
    chooseScope();
    m_feed.setFollowing(true);
}

void ComparePage::hideEvent(QHideEvent* event) {
    m_feed.setFollowing(false);
    m_history.setWatching(false);
    Page::hideEvent(event);
}

void ComparePage::resizeEvent(QResizeEvent* event) {
    Page::resizeEvent(event);
    arrangeCards();
}

void ComparePage::keyPressEvent(QKeyEvent* event) {
    if (event->key() != Qt::Key_Escape) return Page::keyPressEvent(event);
    if (m_enlarged) return enlarge(m_enlarged, false);
    clearBrushes();
}

}  // namespace lockstep::ui
