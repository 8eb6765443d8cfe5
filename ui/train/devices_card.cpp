#include "ui/train/devices_card.h"

#include <QCheckBox>
#include <QGridLayout>
#include <QHBoxLayout>
#include <QPushButton>
#include <QSpinBox>
#include <QWheelEvent>

#include "ui/style/theme.h"
#include "ui/train/field_places.h"
#include "ui/train/sweep_form.h"
#include "ui/train/vary_room.h"
#include "ui/train/vary_toggle.h"

namespace lockstep::ui {

namespace {

constexpr int kTilesPerRow = 4;

CalmSpinBox* makeSpin(int low, int high, const QString& name) {
    auto* spin = new CalmSpinBox;
    spin->setRange(low, high);
    spin->setAlignment(Qt::AlignRight);
    spin->setKeyboardTracking(false);
    spin->setAccessibleName(name);
    return spin;
}

void setQuietly(QSpinBox& spin, std::int64_t value) {
    const QSignalBlocker quiet(&spin);
    spin.setValue(static_cast<int>(value));
}

QString tileText(const DeviceTile& tile) {
    QStringList about;
    if (!tile.detail.isEmpty()) about << tile.detail;
    if (tile.isVirtual) about << DevicesCard::tr("virtual");
    return (tile.on ? "✓ " : "") + tile.id + '\n' + (about.isEmpty() ? DevicesCard::tr("off") : about.join(", "));
}

QString tileStyle(const DeviceTile& tile) {
    const auto& theme = currentTheme();
    const auto line = QString("%1px %2 %3")
                          .arg(tile.on ? 2 : 1)
                          .arg(tile.isVirtual ? "dashed" : "solid", (tile.on ? theme.accent : theme.border).name());
    return QString(
               "QPushButton { border: %1; border-radius: 6px; padding: 6px; background: %2; color: %3; }"
               "QPushButton:hover { background: %4; } QPushButton:focus { border: 3px solid %5; }")
        .arg(line, (tile.on ? theme.raised : theme.surface).name(), (tile.on ? theme.text : theme.muted).name(),
             theme.raised.name(), theme.text.name());
}

QString virtualHelp() {
    return DevicesCard::tr(
        "Virtual devices share cores or a card: they show how data-parallel training works, not how fast it is.");
}

QString helpOf(const SpecForm& form, const QString& field, const QString& more) {
    const auto* known = form.trialField(field);
    return known ? known->help() + (more.isEmpty() ? QString() : '\n' + more) : more;
}

}  // namespace

DevicesCard::DevicesCard(SpecForm& form, const Explain& explain, QAction& findsBatch, QWidget* parent)
    : QWidget(parent), m_form(form), m_explain(explain) {
    auto* outer = new QVBoxLayout(this);
    outer->setContentsMargins(0, 0, 0, 0);
    auto* card = addCard(*outer, tr("Devices and batch"));
    m_grid = new QGridLayout;
    m_grid->setSpacing(space::kMedium);
    card->addLayout(m_grid);
    m_missing = mutedLabel({});
    m_virtual = mutedLabel(virtualHelp());
    m_problem = new ProblemLabel;
    card->addWidget(makeTextRow());
    card->addWidget(m_problem);
    card->addWidget(m_virtual);
    card->addWidget(m_missing);
    card->addWidget(makeEquation(findsBatch));
    addRooms(*card);
    m_remark = mutedLabel({});
    card->addWidget(m_remark);
    m_batchProblem = new ProblemLabel;
    card->addWidget(m_batchProblem);
    m_keepBatch = new QCheckBox(tr("Keep the global batch when devices change"));
    m_keepBatch->setToolTip(
        tr("On: the same training on any number of devices. Off: each device keeps its part, and the "
           "global batch grows with the devices.\nDefault: on\nRange: on or off"));
    m_keepBatch->setChecked(form.hold() == Hold::GlobalBatch);
    card->addWidget(m_keepBatch);
    card->addWidget(m_parts = new FieldList(form, explain));
    connect(m_keepBatch, &QCheckBox::toggled, this,
            [this](bool on) { m_form.setHold(on ? Hold::GlobalBatch : Hold::PerDevice); });
    connect(&form, &SpecForm::changed, this, [this] { refresh(); });
    connect(&form, &SpecForm::problemsChanged, this, [this] { refresh(); });
    connect(&form, &SpecForm::catalogChanged, this, [this] { explainFields(); });
    explainFields();
    refresh();
}

// What the engine says of its fields, beside what the equation makes of them.
void DevicesCard::explainFields() {
    m_text->setToolTip(helpOf(m_form, "devices", tr("cuda:0,0: two on one card.")));
    m_batch->setToolTip(helpOf(m_form, "batch", {}));
    m_passes->setToolTip(
        helpOf(m_form, "accumulation", tr("Reproducible mode: shards of the batch that each device takes.")));
    m_perDevice->setToolTip(
        tr("Images that a device takes through the network at once.\n"
           "Default: as many as the global batch needs\nRange: at least 1"));
    m_count->setToolTip(
        tr("Each device holds a copy of the network and takes its part of every batch.\nDefault: 2\n"
           "Range: 1 … 256"));
    m_coresEach->setToolTip(
        tr("How many cores each CPU device computes with.\nDefault: shared evenly\nRange: 0 … 1024"));
    for (QWidget* each : std::initializer_list<QWidget*>{m_text, m_batch, m_passes, m_perDevice, m_count, m_coresEach})
        each->setAccessibleDescription(each->toolTip());
}

QWidget* DevicesCard::makeTextRow() {
    auto* row = new QWidget;
    auto* layout = new QHBoxLayout(row);
    layout->setContentsMargins(0, 0, 0, 0);
    m_text = new FormLine;
    m_text->setObjectName("devices");
    m_text->setAccessibleName(tr("Devices as text"));
    m_coresEach = makeSpin(0, 1024, tr("Cores of each device"));
    m_coresEach->setSpecialValueText(tr("shared evenly"));
    auto* label = new QLabel(tr("Cores each"));
    label->setBuddy(m_coresEach);
    layout->addWidget(m_text, 1);
    layout->addWidget(label);
    layout->addWidget(m_coresEach);
    layout->addWidget(new VaryToggle(m_form, "devices", tr("Devices")));
    connect(m_text, &QLineEdit::textEdited, this,
            [this](const QString& text) { m_form.setDevices(text, Edit::Typing); });
    connect(m_text, &QLineEdit::editingFinished, this, [this] { m_form.endTyping(); });
    connect(m_coresEach, &QSpinBox::valueChanged, this,
            [this](int cores) { m_form.setDevices(m_form.devices().withCoresEach(cores)); });
    return row;
}

QSpinBox* DevicesCard::addFactor(QHBoxLayout& into, const QString& name, const QString& signAfter, QLabel** shown,
                                 const QString& path, QAction* beside) {
    auto* column = new QVBoxLayout;
    column->setSpacing(2);
    auto* label = mutedLabel(name);
    label->setWordWrap(false);
    auto* heading = new QHBoxLayout;
    heading->addWidget(label, 1);
    auto* spin = makeSpin(1, 1 << 24, name);
    connect(spin, &QSpinBox::editingFinished, this, [this] { m_form.endTyping(); });
    label->setBuddy(spin);
    column->addLayout(heading);
    auto* field = new QHBoxLayout;
    field->addWidget(spin, 1);
    if (beside) field->addWidget(besideButton(*beside, path + ".find"));
    column->addLayout(field);
    if (!path.isEmpty()) heading->addWidget(new VaryToggle(m_form, path, name));
    into.addLayout(column, 1);
    if (shown) *shown = label;
    if (signAfter.isEmpty()) return spin;
    auto* sign = new QLabel('\n' + signAfter);
    sign->setProperty("role", "heading");
    into.addWidget(sign);
    return spin;
}

QWidget* DevicesCard::makeEquation(QAction& findsBatch) {
    auto* bar = new QWidget;
    auto* layout = new QHBoxLayout(bar);
    layout->setContentsMargins(0, space::kMedium, 0, 0);
    m_perDevice = addFactor(*layout, tr("Per device"), "×");
    m_count = addFactor(*layout, tr("Devices"), "×");
    m_passes = addFactor(*layout, tr("Accumulation"), "=", &m_passesName, "accumulation");
    m_batch = addFactor(*layout, tr("Global batch"), {}, nullptr, "batch", &findsBatch);
    m_batch->setObjectName("batch");
    m_count->setMaximum(256);
    connect(m_perDevice, &QSpinBox::valueChanged, this, [this](int value) { m_form.setPerDevice(value); });
    connect(m_count, &QSpinBox::valueChanged, this,
            [this](int value) { m_form.setDevices(m_form.devices().withCount(value), Edit::Typing); });
    connect(m_passes, &QSpinBox::valueChanged, this, [this](int value) { m_form.setPasses(value); });
    connect(m_batch, &QSpinBox::valueChanged, this,
            [this](int value) { m_form.setValue("batch", value, Edit::Typing); });
    return bar;
}

void DevicesCard::addRooms(QLayout& into) {
    for (const char* path : {"devices", "accumulation", "batch"})
        into.addWidget(new VaryRoom(m_form, path, VaryRoom::Name::Shown));
}

void DevicesCard::refresh() {
    const auto devices = m_form.devices();
    showTiles(devices);
    showEquation(devices);
    showVaried(devices);
    m_parts->setFields(FieldPlaces(m_form).devices);
    showMissing();
    m_virtual->setVisible(devices.anyVirtual());
    if (m_text->text() != m_form.value("devices").toString()) m_text->setText(m_form.value("devices").toString());
    setQuietly(*m_coresEach, devices.coresEach());
    const auto told = m_form.problemsAt("devices");
    m_problem->tell(told.empty() ? devices.problems() : told, m_explain);
    auto ofBatch = m_form.problemsAt("batch");
    for (const auto& problem : m_form.problemsAt("accumulation")) ofBatch.push_back(problem);
    m_batchProblem->tell(ofBatch, m_explain);
}

void DevicesCard::showTiles(const DeviceTiles& devices) {
    const auto& tiles = devices.tiles();
    while (m_tiles.size() > tiles.size()) delete m_tiles.takeLast();
    while (m_tiles.size() < tiles.size()) {
        const int index = static_cast<int>(m_tiles.size());
        auto* button = new QPushButton;
        button->setCheckable(true);
        button->setMinimumHeight(48);
        connect(button, &QPushButton::clicked, this, [this, index] {
            m_form.setDevices(m_form.devices().toggled(index));
            refresh();  // the last device stays on
        });
        m_grid->addWidget(button, index / kTilesPerRow, index % kTilesPerRow);
        m_tiles << button;
    }
    for (int i = 0; i < tiles.size(); ++i) {
        m_tiles[i]->setChecked(tiles[i].on);
        m_tiles[i]->setText(tileText(tiles[i]));
        m_tiles[i]->setStyleSheet(tileStyle(tiles[i]));
        const auto mark = tiles[i].isVirtual ? tr(", virtual") : QString();
        m_tiles[i]->setAccessibleName(tiles[i].id + (tiles[i].on ? tr(", on") : tr(", off")) + mark);
        const auto click = tiles[i].on ? tr("Click to switch it off.") : tr("Click to train on it too.");
        QStringList about{tiles[i].isVirtual ? virtualHelp() : tiles[i].detail,
                          m_form.catalog().deviceFacts.value(tiles[i].id), click};
        about.removeAll(QString());
        m_tiles[i]->setToolTip(about.join('\n'));
    }
}

void DevicesCard::showEquation(const DeviceTiles& devices) {
    const auto equation = m_form.equation();
    setQuietly(*m_perDevice, equation.largestPart());
    setQuietly(*m_count, devices.count());
    setQuietly(*m_passes, equation.passes);
    setQuietly(*m_batch, equation.batch);
    m_passesName->setText(m_form.isReproducible() ? tr("Shards each") : tr("Accumulation"));
    QString remark;
    if (!m_form.isReproducible() && !m_form.value("shares").toString().isEmpty()) {
        remark = tr("The devices take unequal parts of the batch; “Per device” is what equal ones would be.");
    } else if (!equation.divides()) {
        remark = tr("%1 samples do not divide evenly: each part is %2. The update is exact all the same.")
                     .arg(equation.batch)
                     .arg(equation.partText());
    }
    m_remark->setText(remark);
    m_remark->setVisible(!remark.isEmpty());
}

// What is varied has no one value to be edited; it is given below.
void DevicesCard::showVaried(const DeviceTiles& devices) {
    const auto& sweep = m_form.sweep();
    const bool oneSet = !sweep.isVaried("devices"), oneBatch = !sweep.isVaried("batch"),
               onePass = !sweep.isVaried("accumulation");
    for (auto* tile : m_tiles) tile->setEnabled(oneSet);
    m_text->setEnabled(oneSet);
    m_count->setEnabled(oneSet);
    m_coresEach->setEnabled(oneSet && devices.onCpu());
    m_passes->setEnabled(onePass && !m_form.isReproducible());
    m_batch->setEnabled(oneBatch);
    m_perDevice->setEnabled(oneSet && oneBatch && onePass);
}

void DevicesCard::changeEvent(QEvent* event) {
    if (event->type() == QEvent::PaletteChange && !m_tiles.isEmpty()) showTiles(m_form.devices());
    QWidget::changeEvent(event);
}

// A person who misses a card reads why, and what to do about it.
void DevicesCard::showMissing() {
    QStringList lines;
    for (const auto& [backend, problem] : m_form.catalog().devices.missing) {
        const auto words = m_explain(problem);
        lines << tr("%1 is not available. %2 %3")
                     .arg(QString::fromStdString(backend).toUpper(), words.what, words.remedy);
    }
    m_missing->setText(lines.join('\n'));
    m_missing->setVisible(!lines.isEmpty());
}

}  // namespace lockstep::ui
