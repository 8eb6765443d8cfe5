#include "ui/trials/trial_cell_delegate.h"

#include <QHeaderView>
#include <QKeyEvent>
#include <QPainter>
#include <QTableView>
#include <algorithm>
#include <cmath>

#include "ui/plot/plot_marks.h"
#include "ui/trials/trial_table_model.h"

namespace lockstep::ui {

namespace {

constexpr int kStripe = 3;
constexpr QChar kGap(0x2002);  // keeps a right-aligned number off the next column

QPolygonF starAt(QPointF center, qreal radius, qreal inner) {
    QPolygonF points;
    for (int i = 0; i < 10; ++i) {
        const qreal angle = M_PI * i / 5 - M_PI / 2, reach = i % 2 == 1 ? inner : radius;
        points << center + QPointF(reach * std::cos(angle), reach * std::sin(angle));
    }
    return points;
}

QColor colorOf(const QString& state, const Theme& theme) {
    if (state == "finished") return theme.good;
    if (state == "failed" || state == "crashed") return theme.bad;
    if (state == "stopped" || state == "cancelled") return theme.warn;
    return theme.accent;  // something still happens
}

void paintStar(QPainter& painter, const QRect& cell, bool set, const QColor& color) {
    painter.setPen(QPen(color, 1));
    painter.setBrush(set ? QBrush(color) : QBrush(Qt::NoBrush));
    painter.drawPolygon(starAt(QRectF(cell).center(), 7, 3));
}

bool isSweep(const QModelIndex& index) { return index.data(TrialTableModel::SweepRole).isValid(); }

// The whole row, as far as its line may reach: it does not move against its cells, which are scrolled as pixels.
QRect rowOf(const QStyleOptionViewItem& option) {
    const auto* table = qobject_cast<const QTableView*>(option.widget);
    if (!table) return option.rect;
    const int width = std::min(table->horizontalHeader()->length(), table->viewport()->width());
    return {-table->horizontalHeader()->offset(), option.rect.top(), width, option.rect.height()};
}

void paintTriangle(QPainter& painter, QPointF center, bool folded, const QColor& color) {
    constexpr qreal kLong = 5, kShort = 3;
    QPolygonF points;
    if (folded) points << QPointF(-kShort, -kLong) << QPointF(kShort, 0) << QPointF(-kShort, kLong);
    else points << QPointF(-kLong, -kShort) << QPointF(kLong, -kShort) << QPointF(0, kShort);
    painter.setPen(Qt::NoPen);
    painter.setBrush(color);
    painter.drawPolygon(points.translated(center));
}

}  // namespace

void TrialCellDelegate::initStyleOption(QStyleOptionViewItem* option, const QModelIndex& index) const {
    QStyledItemDelegate::initStyleOption(option, index);
    const Theme& theme = currentTheme();
    const QColor text = index.column() == kStateColumn ? colorOf(option->text, theme) : theme.text;
    option->palette.setColor(QPalette::Text, text);
    option->palette.setColor(QPalette::HighlightedText, text);
    option->palette.setColor(QPalette::Highlight, selectionColor(theme));
    option->state.setFlag(QStyle::State_HasFocus, false);  // painted here, around the whole cell
    if (index.column() == kStarColumn) option->text.clear();
    else if (isNumeric(index.column())) option->text += kGap;
}

void TrialCellDelegate::paint(QPainter* painter, const QStyleOptionViewItem& option, const QModelIndex& index) const {
    if (isSweep(index)) return paintSweep(*painter, option, index);
    QStyledItemDelegate::paint(painter, option, index);
    const Theme& theme = currentTheme();
    painter->save();
    const bool isLeftmost = option.rect.left() == rowOf(option).left();
    if (isLeftmost && index.data(TrialTableModel::MemberRole).toBool())
        painter->fillRect(QRect(option.rect.topLeft(), QSize(kStripe, option.rect.height())), theme.outline);
    if (option.state.testFlag(QStyle::State_HasFocus)) {
        painter->setPen(theme.accent);
        painter->drawRect(option.rect.adjusted(0, 0, -1, -1));
    }
    painter->setRenderHint(QPainter::Antialiasing);
    if (index.column() == kStarColumn) {
        const bool set = index.data(Qt::EditRole).toBool();
        paintStar(*painter, option.rect, set, set ? theme.warn : theme.wait);
    } else if (index.column() == kIdColumn) {
        paintMark(*painter, option.rect, index.data(TrialTableModel::TrialRole).toLongLong());
    }
    painter->restore();
}

// Each cell paints its part of the line.
void TrialCellDelegate::paintSweep(QPainter& painter, const QStyleOptionViewItem& option,
                                   const QModelIndex& index) const {
    const Theme& theme = currentTheme();
    const QRect row = rowOf(option);
    painter.save();
    painter.setClipRect(option.rect, Qt::IntersectClip);
    painter.fillRect(option.rect, theme.raised);
    QFont font = option.font;
    font.setWeight(QFont::DemiBold);
    painter.setFont(font);
    painter.setPen(theme.text);
    const QRect line = row.adjusted(kFoldWidth, 0, -space::kMedium, 0);
    const QString words =
        QFontMetrics(font).elidedText(index.data(Qt::DisplayRole).toString(), Qt::ElideRight, line.width());
    painter.drawText(line, Qt::AlignLeft | Qt::AlignVCenter | Qt::TextSingleLine, words);
    if (option.state.testFlag(QStyle::State_HasFocus)) {
        painter.setPen(theme.accent);
        painter.setBrush(Qt::NoBrush);
        painter.drawRect(option.rect.adjusted(0, 0, -1, -1));
    }
    painter.setRenderHint(QPainter::Antialiasing);
    paintTriangle(painter, {row.left() + kFoldWidth / 2.0, QRectF(row).center().y()},
                  index.data(TrialTableModel::FoldedRole).toBool(), theme.text);
    painter.restore();
}

QSize TrialCellDelegate::sizeHint(const QStyleOptionViewItem& option, const QModelIndex& index) const {
    const QSize size = QStyledItemDelegate::sizeHint(option, index);
    if (isSweep(index)) return {0, size.height()};  // no column is as wide as that
    return index.column() == kIdColumn ? size + QSize(kSwatchWidth, 0) : size;
}

bool TrialCellDelegate::editorEvent(QEvent* event, QAbstractItemModel* model, const QStyleOptionViewItem& option,
                                    const QModelIndex& index) {
    if (index.column() != kStarColumn) return QStyledItemDelegate::editorEvent(event, model, option, index);
    const bool clicked = event->type() == QEvent::MouseButtonRelease &&
                         static_cast<QMouseEvent*>(event)->button() == Qt::LeftButton &&
                         static_cast<QMouseEvent*>(event)->modifiers() == Qt::NoModifier;
    const bool pressed = event->type() == QEvent::KeyPress && static_cast<QKeyEvent*>(event)->key() == Qt::Key_Space;
    return (clicked || pressed) && model->setData(index, !index.data(Qt::EditRole).toBool(), Qt::EditRole);
}

QWidget* TrialCellDelegate::createEditor(QWidget* parent, const QStyleOptionViewItem& option,
                                         const QModelIndex& index) const {
    return index.column() == kStarColumn ? nullptr : QStyledItemDelegate::createEditor(parent, option, index);
}

}  // namespace lockstep::ui
