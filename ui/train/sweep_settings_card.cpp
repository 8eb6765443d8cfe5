#include "ui/train/sweep_settings_card.h"

#include <QHBoxLayout>

#include "engine/spec/metrics.h"
#include "ui/plot/run_text.h"
#include "ui/style/theme.h"
#include "ui/train/sweep_constraints.h"
#include "ui/train/sweep_form.h"

namespace lockstep::ui {

namespace {

constexpr int kMostSweepTrials = 100'000, kMostSeeds = 1000, kMostAtOnce = 1024;

QString settingLine(const SweepForm& sweep, const QString& path) {
    const auto field = sweep.field(path);
    const auto dimension = dimensionOf(field, sweep.variation(path));
    QStringList words{dimension.ok() ? rangeText(dimension.value()) : SweepSettingsCard::tr("not understood yet")};
    for (const auto& each : sweep.allConditions(path))
        words << conditionText(sweep.field(QString::fromStdString(each.path)).label, each.values);
    return field.label + ": " + words.join(", ");
}

// Fields beside each other, each below its name.
class FieldRow : public QWidget {
public:
    FieldRow() : m_row(new QHBoxLayout(this)) {
        m_row->setContentsMargins(0, 0, 0, 0);
        m_row->setSpacing(space::kLarge);
    }
    void add(const QString& name, QWidget* editor) {
        auto* column = new QVBoxLayout;
        column->setSpacing(2);
        auto* label = mutedLabel(name);
        label->setWordWrap(false);
        label->setBuddy(editor);
        column->addWidget(label);
        column->addWidget(editor);
        m_row->addLayout(column);
    }
    void add(QWidget* more) { m_row->addWidget(more); }
    void end() { m_row->addStretch(1); }

private:
    QHBoxLayout* m_row;
};

void setSpinQuietly(QSpinBox& spin, std::int64_t value) {
    const QSignalBlocker quiet(&spin);
    spin.setValue(static_cast<int>(value));
}

}  // namespace

SweepSettingsCard::SweepSettingsCard(SpecForm& form, FormAnswers& answers, const Explain& explain, QWidget* parent)
    : QWidget(parent), m_form(form), m_answers(answers), m_explain(explain) {
    auto* outer = new QVBoxLayout(this);
    outer->setContentsMargins(0, 0, 0, 0);
    auto* card = addCard(*outer, tr("Sweep"));
    m_varied = new QLabel;
    m_varied->setWordWrap(true);
    m_varied->setObjectName("sweep.varied");
    m_choosing = mutedLabel({});
    m_choosing->setObjectName("sweep.choosing");
    m_problem = new ProblemLabel;
    auto* constraints = new SweepConstraints(form, explain);
    for (QWidget* each :
         std::initializer_list<QWidget*>{m_varied, constraints, makePlan(), makeStopping(), m_choosing, m_problem})
        card->addWidget(each);
    hide();
    for (const auto change : {&SpecForm::changed, &SpecForm::problemsChanged, &SpecForm::catalogChanged})
        connect(&form, change, this, [this] { follow(); });
    connect(&answers, &FormAnswers::samplesChanged, this, [this] { showChoosing(); });
}

QWidget* SweepSettingsCard::makePlan() {
    auto* row = new FieldRow;
    m_method = makeMethod();
    m_trials = makeNumber(
        "sweep.trials", tr("Trials"),
        tr("How many settings to try; of a grid at most so many.\nDefault: all of a grid, otherwise 20\nRange: at "
           "least 1; of a grid 0 means all"),
        &SweepSpec::trials);
    m_repeats = makeNumber("sweep.repeats", tr("Seeds each"),
                           tr("Trials of the same settings that differ in their seeds: what is luck shows.\nDefault: "
                              "1\nRange: 1 … 1000"),
                           &SweepSpec::repeats);
    m_parallel = makeNumber("sweep.parallel", tr("At once"),
                            tr("Trials that run side by side, as far as the machine has room.\nDefault: 1\nRange: 1 … "
                               "1024"),
                            &SweepSpec::parallel);
    m_trials->setMaximum(kMostSweepTrials);
    m_repeats->setRange(1, kMostSeeds);
    m_parallel->setRange(1, kMostAtOnce);
    m_objective = makeObjective();
    row->add(tr("Method"), m_method);
    row->add(tr("Trials"), m_trials);
    row->add(tr("Seeds each"), m_repeats);
    row->add(tr("At once"), m_parallel);
    row->add(tr("Best by"), m_objective);
    row->end();
    return row;
}

// Whether trials stop early, and what that comes to.
QWidget* SweepSettingsCard::makeStopping() {
    auto* whole = new QWidget;
    auto* column = new QVBoxLayout(whole);
    column->setContentsMargins(0, 0, 0, 0);
    auto* row = new FieldRow;
    row->add(tr("Stop early"), m_scheduler = makeScheduler());
    row->add(m_rungs = makeRungs());
    row->end();
    column->addWidget(row);
    column->addWidget(m_rungShare = mutedLabel({}));
    column->addWidget(m_rungTable = mutedLabel({}));
    m_rungShare->setObjectName("sweep.rungShare");
    m_rungTable->setObjectName("sweep.rungTable");
    m_rungTable->setTextFormat(Qt::RichText);
    return whole;
}

QWidget* SweepSettingsCard::makeRungs() {
    auto* row = new FieldRow;
    m_firstRung = makeNumber("sweep.first_rung", tr("First rung (epochs)"),
                             tr("After how many epochs cells pause for the first time.\nDefault: 1\nRange: at least 1, "
                                "below the trial's epochs"),
                             &SweepSpec::firstRung);
    m_reduction = makeNumber("sweep.reduction", tr("Keep one of"),
                             tr("Of so many cells at a rung one goes on; each rung has as many times the epochs of the "
                                "one below.\nDefault: 3\nRange: at least 2"),
                             &SweepSpec::reduction);
    m_firstRung->setRange(1, kMostSweepTrials);
    m_reduction->setRange(2, kMostSweepTrials);
    row->add(tr("First rung (epochs)"), m_firstRung);
    row->add(tr("Keep one of"), m_reduction);
    return row;
}

QComboBox* SweepSettingsCard::makeMethod() {
    auto* box = makeChoice("sweep.method", tr("Method of the sweep"), sweepMethods());
    connect(box, &QComboBox::activated, this,
            [this, box](int index) { m_form.sweep().setMethod(box->itemData(index).toString()); });
    return box;
}

QComboBox* SweepSettingsCard::makeScheduler() {
    auto* box = makeChoice("sweep.scheduler", tr("Whether trials of the sweep stop early"), sweepSchedulers());
    connect(box, &QComboBox::activated, this,
            [this, box](int index) { m_form.sweep().setScheduler(box->itemData(index).toString()); });
    return box;
}

QComboBox* SweepSettingsCard::makeChoice(const QString& name, const QString& words,
                                         const QVector<SweepChoice>& choices) {
    auto* box = new CalmComboBox;
    for (const SweepChoice& each : choices) box->addItem(each.name, each.id);
    box->setObjectName(name);
    box->setAccessibleName(words);
    box->setToolTip(choiceHelp(choices));
    box->setAccessibleDescription(box->toolTip());
    return box;
}

QComboBox* SweepSettingsCard::makeObjective() {
    auto* box = new CalmComboBox;
    box->setObjectName("sweep.objective");
    box->setAccessibleName(tr("What the best is chosen by"));
    box->setToolTip(
        tr("The figure that tells which settings are best.\nDefault: what counts for the model\nOne of: what counts "
           "for the model, accuracy or loss of the validation or the test samples"));
    box->setAccessibleDescription(box->toolTip());
    box->addItem(tr("What counts for the model"), QString());
    for (const Split split : {Split::Validation, Split::Test}) {
        for (const Metric& each : metrics()) {
            if (each.kept && each.split == split)
                box->addItem(metricText(each.title), QString::fromUtf8(each.key.data(), std::ssize(each.key)));
        }
    }
    connect(box, &QComboBox::activated, this, [this, box](int index) {
        auto plan = m_form.sweep().plan();
        plan.objective = box->itemData(index).toString().toStdString();
        m_form.sweep().setPlan(plan, tr("What the best is chosen by"), Edit::Single);
    });
    return box;
}

QSpinBox* SweepSettingsCard::makeNumber(const QString& name, const QString& words, const QString& help,
                                        std::int64_t SweepSpec::*at) {
    auto* spin = new CalmSpinBox;
    spin->setObjectName(name);
    spin->setAccessibleName(tr("Sweep: %1").arg(words));
    spin->setAlignment(Qt::AlignRight);
    spin->setKeyboardTracking(false);
    spin->setToolTip(help);
    spin->setAccessibleDescription(help);
    connect(spin, &QSpinBox::valueChanged, this, [this, words, at](int value) {
        auto plan = m_form.sweep().plan();
        plan.*at = value;
        m_form.sweep().setPlan(plan, words, Edit::Typing);
    });
    connect(spin, &QSpinBox::editingFinished, this, [this] { m_form.endTyping(); });
    return spin;
}

void SweepSettingsCard::follow() {
    const auto& sweep = m_form.sweep();
    setVisible(sweep.isSweep());
    if (!sweep.isSweep()) return;
    QStringList lines;
    for (const QString& path : sweep.paths()) lines << settingLine(sweep, path);
    m_varied->setText(lines.join('\n'));
    showPlan();
    showChoosing();
    m_problem->tell(sweep.otherProblems(), m_explain);
}

void SweepSettingsCard::showPlan() {
    const auto& plan = m_form.sweep().plan();
    const bool isGrid = plan.method == "grid";
    const auto objective = QString::fromStdString(plan.objective);
    m_method->setCurrentIndex(m_method->findData(QString::fromStdString(plan.method)));
    if (m_objective->findData(objective) < 0) m_objective->addItem(objective, objective);  // of a sweep's file
    m_objective->setCurrentIndex(m_objective->findData(objective));
    {
        const QSignalBlocker quiet(m_trials);
        m_trials->setMinimum(isGrid ? 0 : 1);
        m_trials->setSpecialValueText(isGrid ? tr("all") : QString());
    }
    setSpinQuietly(*m_trials, plan.trials);
    setSpinQuietly(*m_repeats, plan.repeats);
    setSpinQuietly(*m_parallel, plan.parallel);
    m_scheduler->setCurrentIndex(m_scheduler->findData(QString::fromStdString(plan.scheduler)));
    m_rungs->setVisible(!plan.scheduler.empty());
    setSpinQuietly(*m_firstRung, plan.firstRung);
    setSpinQuietly(*m_reduction, plan.reduction);
    showRungs();
}

void SweepSettingsCard::showRungs() {
    const auto& sweep = m_form.sweep();
    const auto estimate = sweep.made() ? rungEstimate(*sweep.made(), sweep.cells()) : std::nullopt;
    for (QLabel* each : {m_rungShare, m_rungTable}) each->setVisible(estimate.has_value());
    if (!estimate) return;
    m_rungShare->setText(rungShareText(*estimate, sweep.made()->repeats));
    m_rungTable->setText(rungPlanTable(estimate->plan));
    m_rungTable->setAccessibleName(rungPlanSpoken(estimate->plan));
}

void SweepSettingsCard::showChoosing() {
    const auto& samples = m_answers.samples();
    m_choosing->setText(choosingText(m_form.value("validation_share").toDouble(),
                                     samples ? std::optional(samples->data.validationCount) : std::nullopt));
}

}  // namespace lockstep::ui
