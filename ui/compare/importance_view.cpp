#include "ui/compare/importance_view.h"

#include <QCheckBox>
#include <QCoreApplication>
#include <QMouseEvent>
#include <QPainter>
#include <QPointer>
#include <QThreadPool>
#include <QVBoxLayout>
#include <algorithm>
#include <numeric>

#include "ui/plot/csv_field.h"
#include "ui/style/theme.h"

namespace lockstep::ui {

namespace {

constexpr double kNamePart = 0.28;  // of the width

}  // namespace

ImportanceView::ImportanceView(TrialSelection* selection, QWidget* parent)
    : CompareView(selection, parent), m_brushed(new QCheckBox(tr("Of brushed trials alone"))) {
    setObjectName("importanceView");
    setMinimumHeight(200);
    m_brushed->setObjectName("importanceBrushed");
    connect(m_brushed, &QCheckBox::toggled, this, &ImportanceView::ask);
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 0);
    column->addWidget(m_brushed);
    column->addStretch(1);
}

void ImportanceView::sceneChanged() {
    m_brushed->setEnabled(scene()->passing() < scene()->passes.size());
    if (m_of == scene()->table && !m_brushed->isChecked()) return update();
    ask();
}

// One computation at a time; of those asked for meanwhile the last.
void ImportanceView::ask() {
    if (!scene()) return;
    m_wanted = scene();
    if (m_asked) return;
    m_asked = std::exchange(m_wanted, nullptr);
    const bool ofBrushed = m_brushed->isChecked() && m_brushed->isEnabled();
    QThreadPool::globalInstance()->start([asked = m_asked, ofBrushed, view = QPointer(this)] {
        auto found = std::make_shared<const SettingImportance>(settingImportance(*asked, ofBrushed));
        QMetaObject::invokeMethod(
            qApp,
            [asked, found, view] {
                if (view) view->take(asked, found);
            },
            Qt::QueuedConnection);
    });
}

void ImportanceView::take(const SharedScene& of, std::shared_ptr<const SettingImportance> found) {
    m_asked.reset();
    m_found = std::move(found);
    m_of = of->table;
    if (!m_found->isOfBrushed) emit known(of->table, m_found->byAxis(*of->table));
    update();
    emit wordsChanged();
    if (m_wanted) ask();
}

QString ImportanceView::emptyText() const {
    const auto& axes = scene()->table->axes;
    return std::ranges::any_of(axes, [](const CompareAxis& each) { return each.isSetting; })
               ? QString()
               : tr("These trials differ in no setting.");
}

std::vector<std::size_t> ImportanceView::order() const {
    std::vector<std::size_t> order(m_found ? m_found->axes.size() : 0);
    std::iota(order.begin(), order.end(), std::size_t{0});
    if (order.empty()) return order;
    const auto by = m_found->byAxis(*m_of);
    std::ranges::stable_sort(order, std::greater(), [&](std::size_t i) { return by[m_found->axes[i]]; });
    return order;
}

QString ImportanceView::settingName(std::size_t i) const { return m_of->axes[m_found->axes[i]].name; }

QString ImportanceView::explainsText(std::size_t i) const {
    const auto& share = m_found->explains.shares[i];
    if (m_found->explains.verdict != ImportanceVerdict::Sound || !share) return QStringLiteral("–");
    return tr("%1 % ± %2").arg(100 * share->mean, 0, 'f', 1).arg(100 * share->deviation, 0, 'f', 1);
}

QString ImportanceView::decidesText(std::size_t i) const {
    if (m_found->decides.verdict != ImportanceVerdict::Sound) return QStringLiteral("–");
    return tr("%1 %").arg(100 * m_found->decides.shares()[i], 0, 'f', 1);
}

QString ImportanceView::verdictText(ImportanceVerdict verdict, std::size_t tried) const {
    switch (verdict) {
        case ImportanceVerdict::Sound: return {};
        case ImportanceVerdict::NothingVaried: return tr("Nothing to say: no setting has two values.");
        case ImportanceVerdict::TooFewTried:
            return tr("Too few trials to say: %1 of at least %2 have a result.").arg(tried).arg(kFewestTried);
        case ImportanceVerdict::AllAlike: return tr("Nothing to say: too many came to the same.");
        case ImportanceVerdict::Unpredictable:
            return tr("Too few trials to say: what was not seen can hardly be predicted from them.");
        case ImportanceVerdict::Chance: return tr("Too few trials to say: chance alone makes as much of a setting.");
    }
    return {};
}

QString ImportanceView::summary() const {
    if (!m_found) return tr("Being computed.");
    QStringList explains, decides;
    for (const auto i : order()) {
        explains << settingName(i) + ' ' + explainsText(i);
        decides << settingName(i) + ' ' + decidesText(i);
    }
    const QString first = verdictText(m_found->explains.verdict, m_found->explains.tried);
    const QString second = verdictText(m_found->decides.verdict, m_found->decides.tried);
    return tr("Explains the differences between all trials: %1 Decides on the best tenth: %2")
        .arg(first.isEmpty() ? explains.join(", ") + '.' : first, second.isEmpty() ? decides.join(", ") + '.' : second);
}

QByteArray ImportanceView::csv() const {
    QString text = "setting,explains,deviation,decides\r\n";
    const auto deciding = m_found ? m_found->decides.shares() : std::vector<double>();
    for (const auto i : order()) {
        const auto& share = m_found->explains.shares[i];
        const auto number = [](double value) { return QString::number(value, 'g', 17); };
        text += csvField(QString::fromStdString(m_of->axes[m_found->axes[i]].key)) + ',' +
                (share ? number(share->mean) + ',' + number(share->deviation) : QString(",")) + ',' +
                number(deciding[i]) + "\r\n";
    }
    return text.toUtf8();
}

QRectF ImportanceView::canvas() const { return QRectF(rect()).adjusted(0, m_brushed->height() + space::kSmall, 0, 0); }

double ImportanceView::rowHeight(const QRectF& area) const {
    const double line = QFontMetricsF(font()).height();
    const double room = area.height() - 2.5 * line;
    return std::clamp(room / std::max<double>(1, static_cast<double>(m_found->axes.size())), line + 2, 2 * line);
}

// Two columns of bars behind the names: they answer two questions, and are not to be added.
void ImportanceView::paintPicture(QPainter& painter, const QRectF& area) const {
    if (!m_found) return;
    const Theme& theme = currentTheme();
    const QFontMetricsF metrics(font());
    const double names = area.width() * kNamePart, width = (area.width() - names) / 2 - space::kLarge;
    const double high = rowHeight(area), line = metrics.height();
    painter.save();
    painter.setFont(font());
    const auto columnAt = [&](int column) { return area.left() + names + column * (width + space::kLarge); };
    const auto write = [&](const QRectF& box, int how, const QColor& color, const QString& text) {
        painter.setPen(color);
        painter.drawText(box, how | Qt::AlignVCenter, metrics.elidedText(text, Qt::ElideRight, box.width()));
    };
    write({columnAt(0), area.top(), width, line}, Qt::AlignLeft, theme.muted, tr("Explains the differences"));
    write({columnAt(1), area.top(), width, line}, Qt::AlignLeft, theme.muted, tr("Decides on the best 10 %"));
    const auto bar = [&](const QRectF& row, double share, double deviation, const QColor& color) {
        const QRectF track = row.adjusted(0, high * 0.62, 0, -high * 0.12);
        painter.fillRect(track, theme.grid);
        painter.fillRect(QRectF(track.topLeft(), QSizeF(track.width() * std::clamp(share, 0.0, 1.0), track.height())),
                         color);
        if (deviation <= 0) return;
        const double middle = track.center().y(),
                     from = track.left() + track.width() * std::max(0.0, share - deviation);
        const double to = track.left() + track.width() * std::min(1.0, share + deviation);
        painter.setPen(QPen(theme.text, 1.5));
        painter.drawLine(QPointF(from, middle), QPointF(to, middle));
    };
    const auto deciding = m_found->decides.shares();
    double top = area.top() + 1.3 * line;
    for (const auto i : order()) {
        if (top + high > area.bottom()) break;
        write({area.left(), top, names - space::kMedium, high}, Qt::AlignLeft, theme.text, settingName(i));
        const QRectF first(columnAt(0), top, width, high), second(columnAt(1), top, width, high);
        write(first.adjusted(0, 0, 0, -high * 0.38), Qt::AlignRight, theme.text, explainsText(i));
        write(second.adjusted(0, 0, 0, -high * 0.38), Qt::AlignRight, theme.text, decidesText(i));
        const auto& share = m_found->explains.shares[i];
        const bool isSound = m_found->explains.verdict == ImportanceVerdict::Sound && share;
        bar(first, isSound ? share->mean : 0, isSound ? share->deviation : 0, theme.accent);
        bar(second, m_found->decides.verdict == ImportanceVerdict::Sound ? deciding[i] : 0, 0, theme.good);
        top += high;
    }
    QStringList words;
    if (m_found->atEpoch == 1) words << tr("With what %1 cells had come to after 1 epoch").arg(m_found->asked);
    if (m_found->atEpoch > 1)
        words << tr("With what %1 cells had come to after %2 epochs").arg(m_found->asked).arg(m_found->atEpoch);
    if (m_found->explains.outOfBag && m_found->explains.verdict == ImportanceVerdict::Sound)
        words << tr("R² out of bag %1").arg(*m_found->explains.outOfBag, 0, 'f', 2);
    for (const auto& [verdict, tried] : {std::pair(m_found->explains.verdict, m_found->explains.tried),
                                         std::pair(m_found->decides.verdict, m_found->decides.tried)}) {
        const QString said = verdictText(verdict, tried);
        if (!said.isEmpty() && !words.contains(said)) words << said;
    }
    write({area.left(), area.bottom() - line, area.width(), line}, Qt::AlignLeft, theme.muted, words.join(". "));
    painter.restore();
}

void ImportanceView::paintEvent(QPaintEvent*) {
    if (!scene()) return;
    QPainter painter(this);
    if (m_found) return paintPicture(painter, canvas());
    painter.setPen(currentTheme().muted);
    painter.drawText(canvas(), Qt::AlignCenter, tr("Being computed…"));
}

void ImportanceView::mouseMoveEvent(QMouseEvent* event) {
    if (!m_found) return;
    const QRectF area = canvas();
    const double row = (event->position().y() - area.top() - 1.3 * QFontMetricsF(font()).height()) / rowHeight(area);
    const auto rows = order();
    if (row < 0 || row >= static_cast<double>(rows.size())) return setToolTip({});
    const auto i = rows[static_cast<std::size_t>(row)];
    setToolTip(
        tr("%1\nexplains %2 of the differences between all trials,\nand makes %3 of what sets the best tenth apart")
            .arg(QString::fromStdString(m_of->axes[m_found->axes[i]].key), explainsText(i), decidesText(i)));
}

}  // namespace lockstep::ui
