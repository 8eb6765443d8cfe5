#include <QComboBox>
#include <QGridLayout>
#include <QHBoxLayout>
#include <QLabel>
#include <QLineEdit>
#include <QScrollArea>
#include <QSplitter>
#include <QToolBar>
#include <QToolButton>
#include <algorithm>

#include "ui/compare/compare_card.h"
#include "ui/compare/compare_list.h"
#include "ui/compare/compare_page.h"
#include "ui/compare/compare_view.h"
#include "ui/style/calm_wheel.h"
#include "ui/style/line_icon.h"
#include "ui/style/theme.h"

// Where everything of the page stands.
namespace lockstep::ui {

namespace {

constexpr int kFieldHeight = 28, kTwoColumns = 720;  // pixels of width

QLabel* roleLabel(const char* role, const QString& text = {}) {
    auto* label = new QLabel(text);
    label->setProperty("role", role);
    return label;
}

// Lines over three axes.
QIcon compareIcon() {
    QPainterPath lines;
    for (const int x : {5, 12, 19}) {
        lines.moveTo(x, 4);
        lines.lineTo(x, 20);
    }
    lines.moveTo(5, 7);
    lines.lineTo(12, 15);
    lines.lineTo(19, 9);
    return lineIcon(lines);
}

}  // namespace

PageFace ComparePage::face() { return {"compare", tr("&Compare"), &compareIcon}; }

QWidget* ComparePage::buildHead() {
    m_scope = new QComboBox;
    m_scope->setObjectName("compareScope");
    m_scope->setMinimumHeight(kFieldHeight);
    m_scope->setMinimumContentsLength(18);
    m_scope->setSizeAdjustPolicy(QComboBox::AdjustToMinimumContentsLengthWithIcon);
    m_scope->setAccessibleName(tr("Which trials are compared"));
    m_count = roleLabel("muted", tr("Reading the trials…"));
    m_targetField = new QLineEdit;
    m_targetField->setObjectName("compareTarget");
    m_targetField->setMinimumHeight(kFieldHeight);
    m_targetField->setMaximumWidth(110);
    m_targetField->setPlaceholderText(tr("Target, as 90 %"));
    m_targetField->setAccessibleName(tr("Target of the objective"));
    m_targetField->setToolTip(
        tr("A value of the objective that is good enough: views then tell how long each trial took to reach it"));
    m_targetField->setClearButtonEnabled(true);
    auto* line = new QHBoxLayout;
    line->addWidget(roleLabel("title", tr("Compare")));
    line->addSpacing(space::kMedium);
    line->addWidget(m_scope, 2);
    line->addWidget(m_count);
    line->addStretch(1);
    buildToggles(*line);
    line->addWidget(m_targetField);
    auto* bar = new QToolBar;
    bar->setAccessibleName(tr("Actions on compared trials"));
    bar->setMovable(false);
    buildBar(*bar);
    m_answers = new QHBoxLayout;
    m_answers->setSpacing(0);
    m_problem = roleLabel("muted");
    m_problem->setObjectName("compareProblem");
    m_problem->setWordWrap(true);
    m_problem->hide();
    m_chipLine = new QWidget;
    m_chipLine->hide();
    m_chips = new QHBoxLayout(m_chipLine);
    m_chips->setContentsMargins(0, 0, 0, 0);
    m_chips->addStretch(1);
    auto* head = new QWidget;
    auto* column = new QVBoxLayout(head);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(space::kSmall);
    // In the row of the answers, which is there anyway: a brush that appears or goes moves nothing under the pointer
    // that draws it.
    m_chipLine->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Preferred);
    m_chipLine->setMinimumHeight(kFieldHeight);
    auto* facts = new QHBoxLayout;
    facts->addLayout(m_answers);
    facts->addWidget(m_chipLine, 1);
    column->addLayout(line);
    column->addWidget(bar);
    column->addLayout(facts);
    column->addWidget(m_problem);
    return head;
}

QString ComparePage::toggleText(Outcome outcome, int count) const {
    switch (outcome) {
        case Done: return tr("Finished %1").arg(count);
        case CutShort: return tr("Stopped %1").arg(count);
        case Failed: return tr("Failed %1").arg(count);
        case UnderWay: return tr("Under way %1").arg(count);
        case Outcomes: break;
    }
    return {};
}

void ComparePage::buildToggles(QHBoxLayout& line) {
    for (int outcome = 0; outcome < Outcomes; ++outcome) {
        auto* toggle = new QToolButton;
        toggle->setObjectName(QString("outcome.%1").arg(outcome));
        toggle->setCheckable(true);
        toggle->setChecked(true);
        toggle->setToolTip(tr("Show these trials in all views"));
        toggle->hide();
        line.addWidget(toggle);
        m_toggles.push_back(toggle);
    }
}

QWidget* ComparePage::buildBody() {
    m_list = new CompareList(&m_selection);
    m_list->setContextMenuPolicy(Qt::ActionsContextMenu);
    m_list->addActions(commands());
    auto* cards = new QWidget;
    m_grid = new QGridLayout(cards);
    m_grid->setContentsMargins(0, 0, 0, 0);
    m_grid->setSpacing(space::kMedium);
    m_scroll = new QScrollArea;
    m_scroll->setObjectName("compareCards");
    m_scroll->setAccessibleName(tr("Views of the compared trials"));
    m_scroll->setWidgetResizable(true);
    m_scroll->setFrameShape(QFrame::NoFrame);
    m_scroll->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    m_scroll->setWidget(cards);
    m_splitter = new QSplitter;
    m_splitter->setChildrenCollapsible(false);
    m_splitter->addWidget(m_list);
    m_splitter->addWidget(m_scroll);
    m_splitter->setStretchFactor(1, 1);
    m_splitter->setSizes({280, 900});
    connect(m_splitter, &QSplitter::splitterMoved, this, &ComparePage::arrangeCards);
    return m_splitter;
}

void ComparePage::addCard(CompareView* view, bool isWide) {
    auto* card = new CompareCard(view, isWide, m_scroll->widget());  // never a window of its own
    m_cards.push_back(card);
    calmWheel(*card);
    connect(view, &CompareView::openWanted, this, &ComparePage::openRequested);
    connect(card, &CompareCard::enlargeWanted, this, [this, card](bool isEnlarged) { enlarge(card, isEnlarged); });
    connect(card, &CompareCard::notSaved, this, [this](const QString& file) {
        showProblem(tr("%1 could not be written. Choose another place.").arg(file));
    });
}

// Wide cards have a row of their own, others stand in pairs where there is room.
void ComparePage::arrangeCards() {
    const int columns = m_enlarged || m_scroll->width() < kTwoColumns ? 1 : 2;
    std::vector<CompareCard*> shown;
    for (CompareCard* card : m_cards)
        if (m_enlarged ? card == m_enlarged : card->view().isOffered()) shown.push_back(card);
    if (m_columns == columns && m_arranged == shown) return;
    m_columns = columns;
    m_arranged = shown;
    for (CompareCard* card : m_cards) {
        card->setVisible(std::ranges::find(shown, card) != shown.end());
    }
    while (QLayoutItem* item = m_grid->takeAt(0)) delete item;
    int row = 0, column = 0;
    for (CompareCard* card : shown) {
        const bool isWide = card->isWide() || columns == 1;
        if (isWide && column > 0) ++row, column = 0;
        m_grid->addWidget(card, row, column, 1, isWide ? columns : 1);
        if (isWide || ++column == columns) ++row, column = 0;
    }
    for (int i = 0; i < m_grid->columnCount(); ++i) m_grid->setColumnStretch(i, i < columns ? 1 : 0);
}

}  // namespace lockstep::ui
