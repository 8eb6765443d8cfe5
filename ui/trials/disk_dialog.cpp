#include "ui/trials/disk_dialog.h"

#include <QCheckBox>
#include <QComboBox>
#include <QGridLayout>
#include <QHBoxLayout>
#include <QHeaderView>
#include <QLabel>
#include <QLineEdit>
#include <QPushButton>
#include <QSpinBox>
#include <QTableWidget>
#include <QVBoxLayout>
#include <algorithm>
#include <map>

#include "ui/style/theme.h"

namespace lockstep::ui {

namespace {

enum DiskColumn { kTrial, kName, kState, kOnDisk, kCheckpoints, kTimeline, kFreed, kDiskColumns };
constexpr std::size_t kMostShown = 100;
constexpr int kDiskDialogWidth = 860, kDiskDialogHeight = 660;

QLabel* textLabel(const char* role) {
    auto* label = new QLabel;
    label->setProperty("role", role);
    label->setWordWrap(true);
    label->setTextInteractionFlags(Qt::TextSelectableByMouse);
    return label;
}

QTableWidgetItem* cell(const QString& text, bool isNumber) {
    auto* item = new QTableWidgetItem(text);
    item->setFlags(Qt::ItemIsEnabled | Qt::ItemIsSelectable);
    item->setTextAlignment(Qt::AlignVCenter | (isNumber ? Qt::AlignRight : Qt::AlignLeft));
    return item;
}

void fitColumn(QTableWidget& table, int column) {
    table.resizeColumnToContents(column);
    table.setColumnWidth(column, table.columnWidth(column) + space::kLarge);
}

QTableWidget* heaviestTable() {
    auto* table = new QTableWidget(0, kDiskColumns);
    table->setAccessibleName(DiskDialog::tr("The heaviest trials"));
    table->setHorizontalHeaderLabels({DiskDialog::tr("Trial"), DiskDialog::tr("Title"), DiskDialog::tr("State"),
                                      DiskDialog::tr("On disk"), DiskDialog::tr("Checkpoints"),
                                      DiskDialog::tr("Timeline"), DiskDialog::tr("Would go")});
    for (const int column : {kTrial, kOnDisk, kCheckpoints, kTimeline, kFreed})
        table->horizontalHeaderItem(column)->setTextAlignment(Qt::AlignVCenter | Qt::AlignRight);
    for (const int column : {kName, kState})
        table->horizontalHeaderItem(column)->setTextAlignment(Qt::AlignVCenter | Qt::AlignLeft);
    table->verticalHeader()->hide();
    table->setShowGrid(false);
    table->setAlternatingRowColors(true);
    table->setSelectionBehavior(QAbstractItemView::SelectRows);
    table->setTabKeyNavigation(false);
    table->setWordWrap(false);
    table->horizontalHeader()->setHighlightSections(false);
    table->horizontalHeader()->setSectionResizeMode(kName, QHeaderView::Stretch);
    return table;
}

}  // namespace

DiskDialog::DiskDialog(DiskFeed* feed, const std::vector<std::int64_t>& selected, Explain explain, QWidget* parent)
    : QDialog(parent),
      m_feed(*feed),
      m_explain(std::move(explain)),
      m_line(textLabel("heading")),
      m_parts(textLabel("muted")),
      m_told(textLabel("")),
      m_spared(textLabel("muted")),
      m_problem(textLabel("problem")),
      m_failed(textLabel("problem")),
      m_done(textLabel("heading")),
      m_table(heaviestTable()) {
    setObjectName("diskDialog");
    setWindowTitle(tr("Free disk space"));
    setAttribute(Qt::WA_DeleteOnClose);
    resize(kDiskDialogWidth, kDiskDialogHeight);
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(space::kLarge, space::kLarge, space::kLarge, space::kLarge);
    layout->setSpacing(space::kMedium);
    layout->addWidget(m_line);
    layout->addWidget(m_parts);
    layout->addWidget(m_table, 1);
    layout->addLayout(buildChoices(rangesOf(selected)));
    for (QLabel* label : {m_told, m_spared, m_problem, m_failed, m_done}) layout->addWidget(label);
    layout->addLayout(buildButtons());
    m_problem->hide();
    m_done->hide();
    showFailure();
    connectFeed();
    showWeight();
    choose();
    m_feed.weigh();
    m_checkpoints->setFocus();
}

QLayout* DiskDialog::buildChoices(const QString& selected) {
    const auto box = [this](const QString& text, bool isOn = false) {
        auto* made = new QCheckBox(text);
        made->setChecked(isOn);
        connect(made, &QCheckBox::toggled, this, &DiskDialog::choose);
        return made;
    };
    const auto spin = [this](int low, int high, int value, const QString& name) {
        auto* made = new QSpinBox;
        made->setRange(low, high);
        made->setValue(value);
        made->setAccessibleName(name);
        connect(made, &QSpinBox::valueChanged, this, &DiskDialog::choose);
        return made;
    };
    m_checkpoints = box(tr("Checkpoints of trials that have ended; what stays:"), true);
    m_keep = new QComboBox;
    m_keep->setAccessibleName(tr("Which checkpoints stay"));
    m_keep->addItems({tr("the newest"), tr("the newest and the best"), tr("none")});  // as DiskChoices::Keep
    connect(m_keep, &QComboBox::currentIndexChanged, this, &DiskDialog::choose);
    m_best = spin(1, 1000, 1, tr("How many of the best stay"));
    m_traces = box(tr("Timelines of trials that have ended"));
    m_older = box(tr("Only what ended more days ago than"));
    m_days = spin(1, 10'000, 30, tr("Days"));
    m_these = box(tr("Only these trials"));
    m_trials = new QLineEdit(selected);
    m_trials->setAccessibleName(tr("Numbers of trials"));
    m_trials->setPlaceholderText("3,5,7-9");
    connect(m_trials, &QLineEdit::textChanged, this, &DiskDialog::choose);
    m_caches = box(tr("Caches: decoded images and timings of kernels, made again when they are needed"));
    m_orphans = box(tr("Run folders that the history does not know"));
    auto* keep = new QHBoxLayout;
    keep->addWidget(m_keep, 1);
    keep->addWidget(m_best);
    auto* grid = new QGridLayout;
    grid->setHorizontalSpacing(space::kLarge);
    grid->setVerticalSpacing(space::kSmall);
    grid->addWidget(m_checkpoints, 0, 0);
    grid->addLayout(keep, 0, 1);
    grid->addWidget(m_older, 1, 0);
    grid->addWidget(m_days, 1, 1);
    grid->addWidget(m_these, 2, 0);
    grid->addWidget(m_trials, 2, 1);
    grid->addWidget(m_traces, 3, 0);
    grid->addWidget(m_orphans, 3, 1);
    grid->addWidget(m_caches, 4, 0, 1, 2);
    grid->setColumnStretch(1, 1);
    return grid;
}

QLayout* DiskDialog::buildButtons() {
    m_free = new QPushButton(disk_text::button(nullptr));
    m_free->setAutoDefault(false);
    m_again = new QPushButton(tr("Look again"));
    m_again->setAutoDefault(false);
    m_close = new QPushButton(tr("Close"));
    m_close->setDefault(true);  // Enter frees nothing
    connect(m_free, &QPushButton::clicked, this, &DiskDialog::free);
    connect(m_close, &QPushButton::clicked, this, &QDialog::accept);
    auto* line = new QHBoxLayout;
    line->addWidget(m_again);
    line->addStretch(1);
    line->addWidget(m_free);
    line->addWidget(m_close);
    return line;
}

void DiskDialog::connectFeed() {
    connect(&m_feed, &DiskFeed::weighed, this, [this] {
        showWeight();
        choose();
    });
    connect(&m_feed, &DiskFeed::planned, this, [this](const std::shared_ptr<const FreePlan>& plan) {
        m_plan = plan;
        showPlan();
    });
    connect(&m_feed, &DiskFeed::freed, this, &DiskDialog::showFreed);
    connect(&m_feed, &DiskFeed::failed, this, [this](const Problem& problem) {
        m_failure = problem;
        m_done->hide();
        showFailure();
    });
    connect(m_again, &QPushButton::clicked, this, [this] {
        m_failure.reset();
        showFailure();
        m_feed.weigh();
    });
}

DiskChoices DiskDialog::choices() const {
    return {m_checkpoints->isChecked(),
            static_cast<DiskChoices::Keep>(m_keep->currentIndex()),
            m_best->value(),
            m_traces->isChecked(),
            m_older->isChecked(),
            m_days->value(),
            m_these->isChecked(),
            m_trials->text(),
            m_caches->isChecked(),
            m_orphans->isChecked()};
}

// What was planned before is not what is chosen now: nothing can be freed until the answer comes.
void DiskDialog::choose() {
    const DiskChoices now = choices();
    m_keep->setEnabled(now.freesCheckpoints);
    m_best->setVisible(now.keep == DiskChoices::Keep::Best);
    m_best->setEnabled(now.freesCheckpoints);
    m_days->setEnabled(now.onlyOlder);
    m_trials->setEnabled(now.onlyThese);
    m_free->setEnabled(false);
    m_problem->hide();
    const auto request = requestOf(now);
    if (request.ok()) return m_feed.plan(request.value());
    m_plan.reset();
    showPlan();
    showProblem(request.problems().front());
}

void DiskDialog::showWeight() {
    const auto& weight = m_feed.weight();
    m_line->setText(weight ? disk_text::line(*weight) : tr("Looking at the disk …"));
    m_parts->setText(weight ? disk_text::parts(*weight) : QString());
    const std::size_t shown = weight ? std::min(weight->trials.size(), kMostShown) : 0;
    m_table->setRowCount(static_cast<int>(shown));
    for (std::size_t i = 0; i < shown; ++i) {
        const TrialWeight& trial = weight->trials[i];
        const int row = static_cast<int>(i);
        const QString state = QString::fromStdString(std::string(text(trial.state)));
        m_table->setItem(row, kTrial, cell(QString::number(trial.run.trial), true));
        m_table->setItem(row, kName, cell(disk_text::name(trial), false));
        m_table->setItem(row, kState, cell(trial.inTrash ? tr("%1, in the trash").arg(state) : state, false));
        m_table->setItem(row, kOnDisk, cell(disk_text::bytes(trial.run.total()), true));
        m_table->setItem(row, kCheckpoints, cell(disk_text::bytes(trial.run.checkpoints), true));
        m_table->setItem(row, kTimeline, cell(disk_text::bytes(trial.run.traces), true));
        m_table->setItem(row, kFreed, cell({}, true));
    }
    for (const int column : {kTrial, kState, kOnDisk, kCheckpoints, kTimeline, kFreed}) fitColumn(*m_table, column);
}

void DiskDialog::showPlan() {
    m_told->setText(m_plan ? disk_text::plan(*m_plan) : QString());
    m_spared->setText(m_plan ? disk_text::spared(*m_plan) : QString());
    m_spared->setVisible(!m_spared->text().isEmpty());
    m_free->setText(disk_text::button(m_plan.get()));
    m_free->setEnabled(m_plan && !m_plan->items.empty());
    if (m_plan && m_plan->refused) showProblem(*m_plan->refused);
    std::map<std::int64_t, std::uint64_t> goes;
    if (m_plan) {
        for (const FreeItem& each : m_plan->items)
            if (each.kind == FreeItem::Kind::Trial) goes[each.trial] = bytesFreedBy(each.files);
    }
    for (int row = 0; row < m_table->rowCount(); ++row) {
        const auto found = goes.find(m_table->item(row, kTrial)->text().toLongLong());
        m_table->item(row, kFreed)->setText(found == goes.end() ? QString() : disk_text::bytes(found->second));
    }
    fitColumn(*m_table, kFreed);
}

void DiskDialog::showFreed(const Freed& freed) {
    QString told = disk_text::freed(freed);
    if (!freed.problems.empty()) {
        const Explanation words = m_explain(freed.problems.front());
        told += ' ' + words.inOneLine();
    }
    m_done->setText(told);
    m_done->show();
}

void DiskDialog::showProblem(const Problem& problem) {
    const Explanation words = m_explain(problem);
    m_problem->setText(words.inOneLine());
    m_problem->show();
}

// What the disk or the history says, apart from what is wrong with the choices: it stays until there is another answer.
void DiskDialog::showFailure() {
    m_failed->setText(m_failure ? m_explain(*m_failure).inOneLine() : QString());
    m_failed->setVisible(m_failure.has_value());
    m_again->setVisible(m_failure.has_value());
}

void DiskDialog::free() {
    if (!m_plan) return;
    m_free->setEnabled(false);
    m_done->setText(tr("Freeing…"));
    m_done->show();
    m_feed.free(m_plan);
}

}  // namespace lockstep::ui
