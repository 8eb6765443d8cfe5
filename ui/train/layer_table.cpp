#include "ui/train/layer_table.h"

#include <QLocale>
#include <array>

namespace lockstep::ui {

namespace {

struct Heading {
    const char *title, *help;
};
constexpr std::array<Heading, LayerTable::kColumns> kHeadings{{
    {QT_TRANSLATE_NOOP("lockstep::ui::LayerTable", "Layer"),
     QT_TRANSLATE_NOOP("lockstep::ui::LayerTable", "Where the layer is in the network")},
    {QT_TRANSLATE_NOOP("lockstep::ui::LayerTable", "Operation"),
     QT_TRANSLATE_NOOP(
         "lockstep::ui::LayerTable",
         "What it computes: conv2d convolves images, linear multiplies by a matrix, batch norm evens out a batch")},
    {QT_TRANSLATE_NOOP("lockstep::ui::LayerTable", "Output"),
     QT_TRANSLATE_NOOP("lockstep::ui::LayerTable",
                       "What it hands on for one image: channels × height × width, or how many numbers")},
    {QT_TRANSLATE_NOOP("lockstep::ui::LayerTable", "Parameters"),
     QT_TRANSLATE_NOOP("lockstep::ui::LayerTable", "Numbers that training adjusts; – where there is nothing to learn")},
}};

// "batch_norm_train": "batch norm"
QString operationText(QString op) {
    if (op.endsWith("_train")) op.chop(6);
    return op.replace('_', ' ');
}

bool isNumber(int column) { return column == LayerTable::kOutput || column == LayerTable::kParameters; }

}  // namespace

void LayerTable::setLayers(const std::vector<PlannedLayer>& layers) {
    beginResetModel();
    m_layers.clear();
    for (const auto& each : layers) {
        m_layers << Layer{QString::fromStdString(each.name), operationText(QString::fromStdString(each.op)),
                          QString::fromStdString(each.output).replace('x', " × "), each.parameters};
    }
    endResetModel();
}

int LayerTable::rowCount(const QModelIndex& parent) const {
    return parent.isValid() ? 0 : static_cast<int>(m_layers.size());
}

int LayerTable::columnCount(const QModelIndex& parent) const { return parent.isValid() ? 0 : kColumns; }

QVariant LayerTable::data(const QModelIndex& index, int role) const {
    if (!index.isValid() || index.row() >= m_layers.size()) return {};
    if (role == Qt::TextAlignmentRole)
        return QVariant((isNumber(index.column()) ? Qt::AlignRight : Qt::AlignLeft) | Qt::AlignVCenter);
    if (role != Qt::DisplayRole && role != Qt::ToolTipRole) return {};
    return textAt(m_layers[index.row()], index.column());
}

QString LayerTable::textAt(const Layer& layer, int column) const {
    switch (column) {
        case kName: return layer.name;
        case kOperation: return layer.operation;
        case kOutput: return layer.output;
        default:
            return layer.parameters > 0 ? QLocale(QLocale::English, QLocale::UnitedStates).toString(layer.parameters)
                                        : QStringLiteral("–");
    }
}

QVariant LayerTable::headerData(int section, Qt::Orientation orientation, int role) const {
    if (orientation != Qt::Horizontal || section < 0 || section >= kColumns) return {};
    const auto& heading = kHeadings[static_cast<std::size_t>(section)];
    if (role == Qt::DisplayRole) return tr(heading.title);
    if (role == Qt::ToolTipRole) return tr(heading.help);
    if (role == Qt::TextAlignmentRole)
        return QVariant((isNumber(section) ? Qt::AlignRight : Qt::AlignLeft) | Qt::AlignVCenter);
    return {};
}

}  // namespace lockstep::ui
