#include <QAction>
#include <QComboBox>
#include <QDesktopServices>
#include <QFileInfo>
#include <QFrame>
#include <QGridLayout>
#include <QHBoxLayout>
#include <QLabel>
#include <QLineEdit>
#include <QMenu>
#include <QPushButton>
#include <QSlider>
#include <QStyleOptionComboBox>
#include <QStylePainter>
#include <QTabWidget>
#include <QUrl>
#include <QVBoxLayout>

#include "engine/spec/trial_fields.h"
#include "ui/evaluate/beside_card.h"
#include "ui/evaluate/calibration_view.h"
#include "ui/evaluate/class_scores_view.h"
#include "ui/evaluate/confusion_view.h"
#include "ui/evaluate/evaluate_page.h"
#include "ui/style/elided_label.h"
#include "ui/style/line_icon.h"
#include "ui/style/theme.h"

// Where everything of the page stands.
namespace lockstep::ui {

namespace {

// Says by "…" that its text goes on.
class ElidedCombo : public QComboBox {
    void paintEvent(QPaintEvent*) override {
        QStylePainter painter(this);
        QStyleOptionComboBox option;
        initStyleOption(&option);
        const QRect room = style()->subControlRect(QStyle::CC_ComboBox, &option, QStyle::SC_ComboBoxEditField, this);
        option.currentText = fontMetrics().elidedText(option.currentText, Qt::ElideRight, room.width() - kTextMargin);
        painter.drawComplexControl(QStyle::CC_ComboBox, option);
        painter.drawControl(QStyle::CE_ComboBoxLabel, option);
    }
    static constexpr int kTextMargin = 4;
};

QComboBox* combo(const QString& name, const QString& accessible, const QStringList& items = {}) {
    auto* box = new ElidedCombo;
    box->setObjectName(name);
    box->setAccessibleName(accessible);
    box->addItems(items);
    box->setSizeAdjustPolicy(QComboBox::AdjustToMinimumContentsLengthWithIcon);
    box->setMinimumContentsLength(10);
    return box;
}

QFrame* card(QVBoxLayout*& column) {
    auto* frame = new QFrame;
    frame->setProperty("card", true);
    column = new QVBoxLayout(frame);
    column->setContentsMargins(space::kMedium, space::kMedium, space::kMedium, space::kMedium);
    column->setSpacing(space::kSmall);
    return frame;
}

QLabel* wrapped(const char* role) {
    auto* label = new QLabel;
    label->setProperty("role", role);
    label->setWordWrap(true);
    return label;
}

QIcon evaluateIcon() {
    QPainterPath lines;
    for (const int at : {4, 14}) {
        for (const int to : {4, 14}) lines.addRect(at, to, 6, 6);
    }
    return lineIcon(lines);
}

}  // namespace

PageFace EvaluatePage::face() { return {"evaluate", tr("&Evaluate"), &evaluateIcon}; }

QWidget* EvaluatePage::buildHead() {
    auto* title = new QLabel(tr("Evaluate"));
    title->setProperty("role", "title");
    m_trials = combo("evaluatedTrial", tr("Trial"));
    m_devices = new QLineEdit;
    m_devices->setObjectName("evaluateDevices");
    m_devices->setAccessibleName(tr("Devices"));
    m_devices->setPlaceholderText(tr("its devices"));
    m_devices->setToolTip(
        tr("Devices to evaluate and to ask on, such as cpu:2x1; each takes its share. The trial's unless named"));
    const int words = m_devices->fontMetrics().horizontalAdvance(m_devices->placeholderText());
    m_devices->setMinimumWidth(words + 2 * space::kMedium);
    m_devices->setMaximumWidth(150);
    m_precision = combo("evaluatePrecision", tr("Precision"), {tr("as trained")});
    for (const std::string& each : findTrialField("precision")->field.choices)
        m_precision->addItem(QString::fromStdString(each), QString::fromStdString(each));
    m_precision->setMinimumContentsLength(7);
    m_precision->setToolTip(tr("The precision to compute in; auto takes what is fastest here"));
    m_evaluateButton = new QPushButton(tr("Evaluate"));
    m_evaluateButton->setObjectName("evaluateMenu");
    m_evaluateButton->setToolTip(tr("Run the model over test data, training data or others"));
    m_exportButton = new QPushButton(tr("Export"));
    m_exportButton->setObjectName("exportMenu");
    m_exportButton->setToolTip(tr("The model and its curves for other programs, and commands to copy"));
    m_cancel = new QPushButton(tr("Cancel"));
    m_cancel->setObjectName("cancelEvaluation");
    m_cancel->hide();
    auto* line = new QHBoxLayout;
    line->addWidget(title);
    line->addSpacing(space::kMedium);
    line->addWidget(m_trials, 2);
    line->addWidget(buildBesideChoice(), 2);
    line->addWidget(m_devices, 1);
    line->addWidget(m_precision);
    line->addWidget(m_evaluateButton);
    line->addWidget(m_cancel);
    line->addWidget(m_exportButton);
    auto* head = new QWidget;
    auto* column = new QVBoxLayout(head);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(space::kSmall);
    column->addLayout(line);
    column->addWidget(buildSourceRow());
    m_changed = new QLabel;
    m_changed->setObjectName("dataChanged");
    m_changed->setWordWrap(true);
    m_changed->hide();
    column->addWidget(m_changed);
    return head;
}

QWidget* EvaluatePage::buildBesideChoice() {
    m_others = combo("besideTrial", tr("Another trial beside it"));
    m_others->setPlaceholderText(tr("no other trial"));
    auto* beside = new QLabel(tr("beside"));
    beside->setProperty("role", "muted");
    m_besideChoice = new QWidget;
    auto* line = new QHBoxLayout(m_besideChoice);
    line->setContentsMargins(0, 0, 0, 0);
    line->addWidget(beside);
    line->addWidget(m_others, 1);
    return m_besideChoice;
}

QWidget* EvaluatePage::buildSourceRow() {
    m_source = combo("source", tr("Which evaluation is shown"));
    m_source->setMinimumContentsLength(20);
    m_epoch = new QSlider(Qt::Horizontal);
    m_epoch->setObjectName("epoch");
    m_epoch->setAccessibleName(tr("Epoch"));
    m_epoch->setToolTip(tr("The matrix after each epoch's evaluation"));
    m_epoch->setPageStep(1);
    m_epoch->setRange(0, 0);
    m_epoch->setMinimumWidth(120);
    m_epochText = wrapped("muted");
    m_epochText->setWordWrap(false);
    m_figures = new ElidedLabel;
    m_figures->setObjectName("figures");
    m_figures->setProperty("role", "muted");
    auto* row = new QWidget;
    auto* line = new QHBoxLayout(row);
    line->setContentsMargins(0, 0, 0, 0);
    line->addWidget(m_source, 2);
    line->addWidget(m_epoch, 1);
    line->addWidget(m_epochText);
    line->addSpacing(space::kMedium);
    line->addWidget(m_figures);
    return row;
}

QFrame* EvaluatePage::buildNotice() {
    m_notice = new QFrame;
    m_notice->setProperty("card", true);
    m_notice->setObjectName("notice");
    m_noticeText = wrapped("muted");
    m_noticeText->setTextInteractionFlags(Qt::TextSelectableByMouse);
    m_noticeCopy = new QPushButton(tr("Copy command"));
    m_noticeCopy->setObjectName("copyNotice");
    connect(m_noticeCopy, &QPushButton::clicked, this, [this] { copy(m_command); });
    m_noticeShow = new QPushButton(tr("Show folder"));
    connect(m_noticeShow, &QPushButton::clicked, this,
            [this] { QDesktopServices::openUrl(QUrl::fromLocalFile(QFileInfo(m_written).absolutePath())); });
    auto* close = new QPushButton(tr("Dismiss"));
    auto* line = new QHBoxLayout(m_notice);
    line->addWidget(m_noticeText, 1);
    line->addWidget(m_noticeShow, 0, Qt::AlignTop);
    line->addWidget(m_noticeCopy, 0, Qt::AlignTop);
    line->addWidget(close, 0, Qt::AlignTop);
    connect(close, &QPushButton::clicked, m_notice, &QFrame::hide);
    m_notice->hide();
    return m_notice;
}

QWidget* EvaluatePage::buildMatrix() {
    QVBoxLayout* column = nullptr;
    m_matrixCard = card(column);
    m_matrixCard->setObjectName("matrixCard");
    auto* title = new QLabel(tr("Confusion matrix"));
    title->setProperty("role", "heading");
    m_order = combo("classOrder", tr("Which classes, in which order"),
                    {tr("In class order"), tr("Most confused first"), tr("20 most confused")});
    m_numbers = combo("matrixNumbers", tr("What the numbers are"), {tr("Counts"), tr("Row shares in %")});
    for (QComboBox* each : {m_order, m_numbers}) each->setSizeAdjustPolicy(QComboBox::AdjustToContents);
    m_mistakes = new QPushButton(tr("All mistakes"));
    m_mistakes->setObjectName("allMistakes");
    m_mistakes->setToolTip(tr("Every sample that was taken for another class, the surest mistake first"));
    auto* head = new QHBoxLayout;
    head->addWidget(title);
    head->addStretch();
    head->addWidget(m_mistakes);
    head->addWidget(m_order);
    head->addWidget(m_numbers);
    m_matrix = new ConfusionView;
    m_matrixHint = wrapped("muted");
    m_matrixHint->setAlignment(Qt::AlignCenter);
    m_matrixHint->hide();
    m_told = new ElidedLabel;
    m_told->setObjectName("matrixTold");
    m_told->setProperty("role", "muted");
    m_told->setFixedHeight(fontMetrics().height() + space::kSmall);  // also while there is nothing to tell
    column->addLayout(head);
    column->addWidget(m_matrixHint, 1);
    column->addWidget(m_matrix, 1);
    column->addWidget(m_told);
    return m_matrixCard;
}

QWidget* EvaluatePage::buildSide() {
    m_scores = new ClassScoresView;
    m_calibration = new CalibrationView;
    m_tabs = new QTabWidget;
    m_tabs->setObjectName("evaluateTabs");
    m_tabs->setDocumentMode(true);
    m_tabs->addTab(m_scores, tr("Classes"));
    m_tabs->addTab(m_calibration, tr("Calibration"));
    m_tabs->addTab(m_beside = new BesideCard(&m_history), tr("Beside"));
    QVBoxLayout* column = nullptr;
    m_classCard = card(column);
    column->addWidget(m_tabs);
    m_noClasses = wrapped("muted");
    m_noClasses->setObjectName("noClasses");
    m_noClasses->setText(
        tr("A language model has no classes to confuse: give it a prompt, or evaluate it for its perplexity."));
    auto* side = new QWidget;
    auto* all = new QVBoxLayout(side);
    all->setContentsMargins(0, 0, 0, 0);
    all->setSpacing(space::kMedium);
    all->addWidget(m_noClasses);
    all->addWidget(m_classCard, 1);
    all->addWidget(m_ask);
    return side;
}

}  // namespace lockstep::ui
