#include "ui/run/device_tile.h"

#include <QEvent>
#include <QHBoxLayout>
#include <QLabel>
#include <QVBoxLayout>
#include <array>
#include <limits>

#include "ui/plot/parts_bar.h"
#include "ui/plot/run_text.h"
#include "ui/style/theme.h"

namespace lockstep::ui {

namespace {

struct Part {
    const char* name;
    const char* meaning;
    double RankLoad::*seconds;
    QColor Theme::*color;
};
constexpr std::array<Part, 3> kParts{{
    {QT_TRANSLATE_NOOP("lockstep::ui::DeviceTile", "compute"),
     QT_TRANSLATE_NOOP("lockstep::ui::DeviceTile", "Time spent computing: forward, backward and update"),
     &RankLoad::compute, &Theme::compute},
    {QT_TRANSLATE_NOOP("lockstep::ui::DeviceTile", "all-reduce"),
     QT_TRANSLATE_NOOP("lockstep::ui::DeviceTile",
                       "Time spent adding up gradients with the other devices, or waiting for them to be ready"),
     &RankLoad::reduce, &Theme::reduce},
    {QT_TRANSLATE_NOOP("lockstep::ui::DeviceTile", "waiting"),
     QT_TRANSLATE_NOOP("lockstep::ui::DeviceTile", "Time spent waiting for the next batch of data"), &RankLoad::wait,
     &Theme::wait},
}};

double shareOf(const RankLoad& load, const Part& part) {
    return load.total() > 0 ? load.*part.seconds / load.total() : std::numeric_limits<double>::quiet_NaN();
}

// None before the first step.
std::vector<PartsBar::Part> partsOf(const RankLoad& load) {
    std::vector<PartsBar::Part> parts;
    for (const Part& each : kParts) {
        if (load.total() > 0) parts.push_back({shareOf(load, each), each.color});
    }
    return parts;
}

}  // namespace

DeviceTile::DeviceTile(int rank, const QString& device, bool isVirtual, QWidget* parent)
    : QFrame(parent), m_name(tr("Device %1, %2").arg(rank).arg(device)) {
    setProperty("card", true);
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(space::kMedium, space::kMedium, space::kMedium, space::kMedium);
    column->setSpacing(space::kSmall);
    auto* head = new QHBoxLayout;
    auto* name = new QLabel(device);
    name->setProperty("role", "heading");
    m_time = new QLabel;
    head->addWidget(name);
    if (isVirtual) {
        auto* mark = new QLabel(tr("virtual"));
        mark->setProperty("role", "muted");
        mark->setToolTip(
            tr("There are more devices than cores or cards: this one shares its hardware with others.\n"
               "Good for trying out data parallelism, not for speed."));
        head->addWidget(mark);
    }
    head->addStretch();
    head->addWidget(m_time);
    m_time->setToolTip(tr("Time of a step on this device"));
    column->addLayout(head);
    m_bar = new PartsBar;
    m_bar->setAccessibleName(tr("Shares of a step"));
    column->addWidget(m_bar);
    auto* shares = new QHBoxLayout;
    const QString whole =
        tr("As a share of the newest steps. The timeline has shares of all the time that it shows, evaluations and\n"
           "pauses included, and tells apart adding up gradients and waiting for them.");
    for (std::size_t i = 0; i < kParts.size(); ++i) {
        m_shares[i] = new QLabel;
        m_shares[i]->setTextFormat(Qt::RichText);
        m_shares[i]->setToolTip(tr(kParts[i].meaning) + '\n' + whole);
        shares->addWidget(m_shares[i]);
        if (i + 1 < kParts.size()) shares->addStretch();
    }
    column->addLayout(shares);
    setLoad({});
}

void DeviceTile::setLoad(const RankLoad& load) {
    m_load = load;
    m_bar->setParts(partsOf(load));
    m_time->setText(load.total() > 0 ? tr("%1 per step").arg(runStepTime(load.total())) : tr("no step yet"));
    colour();
    QString words = m_name + ": " + m_time->text();
    for (const Part& part : kParts) words += QString(", %1 %2").arg(tr(part.name), runShare(shareOf(load, part)));
    setAccessibleName(words);
}

void DeviceTile::colour() {
    for (std::size_t i = 0; i < kParts.size(); ++i) {
        m_shares[i]->setText(QString("<span style='color:%1'>\u25A0</span> %2 %3")
                                 .arg((currentTheme().*kParts[i].color).name(), tr(kParts[i].name),
                                      runShare(shareOf(m_load, kParts[i]))));
    }
}

void DeviceTile::changeEvent(QEvent* event) {
    QFrame::changeEvent(event);
    if (event->type() == QEvent::PaletteChange && m_bar) colour();
}

}  // namespace lockstep::ui
