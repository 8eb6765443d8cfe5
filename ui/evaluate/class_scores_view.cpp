#include "ui/evaluate/class_scores_view.h"

#include <QHelpEvent>
#include <QKeyEvent>
#include <QPainter>
#include <QScrollBar>
#include <QToolTip>
#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <utility>

#include "ui/plot/run_text.h"
#include "ui/style/theme.h"

namespace lockstep::ui {

namespace {

constexpr int kMostClassName = 120, kColumns = 3;

double orZero(double score) { return std::isfinite(score) ? score : 0; }

}  // namespace

ClassScoresView::ClassScoresView(QWidget* parent) : QAbstractScrollArea(parent) {
    setObjectName("classScores");
    setAccessibleName(tr("Precision, recall and F1 of each class, the worst first"));
    setFrameShape(QFrame::NoFrame);
    setFocusPolicy(Qt::StrongFocus);
    setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
}

void ClassScoresView::setScores(std::vector<ClassScore> scores, QStringList classes) {
    m_scores = std::move(scores);
    m_classes = std::move(classes);
    m_order.resize(m_scores.size());
    std::iota(m_order.begin(), m_order.end(), 0);
    std::ranges::stable_sort(m_order, {}, [&](int id) {
        const ClassScore& score = m_scores[static_cast<std::size_t>(id)];
        return std::pair(score.samples == 0, orZero(score.f1));  // those of which nothing was asked come last
    });
    m_chosen = -1;
    arrange();
}

int ClassScoresView::rowHeight() const { return fontMetrics().height() + 4; }

void ClassScoresView::arrange() {
    const int all = rowHeight() * (static_cast<int>(m_order.size()) + 1);
    verticalScrollBar()->setRange(0, std::max(0, all - viewport()->height()));
    verticalScrollBar()->setPageStep(viewport()->height());
    verticalScrollBar()->setSingleStep(rowHeight());
    viewport()->update();
}

void ClassScoresView::resizeEvent(QResizeEvent* event) {
    QAbstractScrollArea::resizeEvent(event);
    arrange();
}

void ClassScoresView::paintEvent(QPaintEvent*) {
    QPainter painter(viewport());
    const auto& theme = currentTheme();
    if (m_scores.empty()) {
        painter.setPen(theme.muted);
        painter.drawText(viewport()->rect(), Qt::AlignCenter | Qt::TextWordWrap,
                         tr("Scores of each class come with the first evaluation."));
        return;
    }
    const auto metrics = fontMetrics();
    const int row = rowHeight(), width = viewport()->width();
    int name = 0;
    for (const int id : m_order)
        name = std::max(name, metrics.horizontalAdvance(m_classes.value(id, QString::number(id))) + 2);
    name = std::min({name, kMostClassName, width / 3}) + space::kMedium;
    const int column = (width - name) / kColumns, number = metrics.horizontalAdvance("100.0") + space::kMedium;
    const std::array names{tr("Precision %"), tr("Recall %"), tr("F1 %")};
    const std::array colors{theme.load, theme.compute, theme.good};
    for (std::size_t i = 0; i < m_order.size(); ++i) {
        const int y = row * (static_cast<int>(i) + 1) - verticalScrollBar()->value();
        if (y < 0 || y > viewport()->height()) continue;
        const int id = m_order[i];
        const ClassScore& score = m_scores[static_cast<std::size_t>(id)];
        if (static_cast<int>(i) == m_chosen) painter.fillRect(0, y, width, row, theme.raised);
        painter.setPen(theme.text);
        painter.drawText(
            QRect(0, y, name, row), Qt::AlignVCenter,
            metrics.elidedText(m_classes.value(id, QString::number(id)), Qt::ElideRight, name - space::kMedium));
        const std::array values{score.precision, score.recall, score.f1};
        for (std::size_t k = 0; k < values.size(); ++k) {
            const int x = name + static_cast<int>(k) * column, room = std::max(0, column - number - space::kMedium);
            painter.fillRect(QRect(x, y + 5, room, row - 10), theme.grid);
            painter.fillRect(QRect(x, y + 5, static_cast<int>(room * orZero(values[k])), row - 10), colors[k]);
            painter.setPen(theme.muted);
            painter.drawText(QRect(x, y, column - space::kMedium, row), Qt::AlignVCenter | Qt::AlignRight,
                             std::isfinite(values[k]) ? QString::number(100 * values[k], 'f', 1) : QString("–"));
        }
    }
    painter.fillRect(0, 0, width, row, theme.surface);
    painter.setPen(theme.muted);
    for (int k = 0; k < kColumns; ++k)
        painter.drawText(QRect(name + k * column, 0, column, row), Qt::AlignVCenter,
                         names[static_cast<std::size_t>(k)]);
}

int ClassScoresView::rowAt(int y) const {
    if (y < rowHeight()) return -1;
    const int row = (y + verticalScrollBar()->value()) / rowHeight() - 1;
    return row < static_cast<int>(m_order.size()) ? row : -1;
}

void ClassScoresView::choose(int row) {
    m_chosen = row;
    const int top = (row + 1) * rowHeight();
    const int first = verticalScrollBar()->value() + rowHeight();
    if (top < first) verticalScrollBar()->setValue(top - rowHeight());
    else if (top + rowHeight() > verticalScrollBar()->value() + viewport()->height())
        verticalScrollBar()->setValue(top + rowHeight() - viewport()->height());
    viewport()->update();
    emit classChosen(m_order[static_cast<std::size_t>(row)]);
}

void ClassScoresView::mousePressEvent(QMouseEvent* event) {
    if (const int row = rowAt(event->pos().y()); row >= 0) choose(row);
}

void ClassScoresView::keyPressEvent(QKeyEvent* event) {
    const int by = event->key() == Qt::Key_Down ? 1 : event->key() == Qt::Key_Up ? -1 : 0;
    if (by == 0 || m_order.empty()) return QAbstractScrollArea::keyPressEvent(event);
    choose(std::clamp(m_chosen + by, 0, static_cast<int>(m_order.size()) - 1));
}

bool ClassScoresView::viewportEvent(QEvent* event) {
    if (event->type() != QEvent::ToolTip) return QAbstractScrollArea::viewportEvent(event);
    const auto* help = static_cast<QHelpEvent*>(event);
    const int row = rowAt(help->pos().y());
    if (row < 0) {
        QToolTip::hideText();
        return true;
    }
    const int id = m_order[static_cast<std::size_t>(row)];
    const auto samples = static_cast<double>(m_scores[static_cast<std::size_t>(id)].samples);
    QToolTip::showText(
        help->globalPos(),
        tr("%1, samples: %2. Precision: of those taken for it, how many are. Recall: of its own, how many "
           "were found. F1: their harmonic mean.")
            .arg(m_classes.value(id, QString::number(id)), runCount(samples)),
        this);
    return true;
}

}  // namespace lockstep::ui
