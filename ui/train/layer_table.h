#pragma once
#include <QAbstractTableModel>
#include <QVector>

#include "engine/spec/serve_messages.h"

namespace lockstep::ui {

// The layers of a plan: name, operation, shape of the output, parameters. GUI thread.
class LayerTable : public QAbstractTableModel {
    Q_OBJECT
public:
    enum Column { kName, kOperation, kOutput, kParameters, kColumns };

    using QAbstractTableModel::QAbstractTableModel;
    void setLayers(const std::vector<PlannedLayer>& layers);

    int rowCount(const QModelIndex& parent = {}) const override;
    int columnCount(const QModelIndex& parent = {}) const override;
    QVariant data(const QModelIndex& index, int role = Qt::DisplayRole) const override;
    QVariant headerData(int section, Qt::Orientation orientation, int role = Qt::DisplayRole) const override;

private:
    struct Layer {
        QString name, operation, output;
        qint64 parameters = 0;
    };
    QString textAt(const Layer& layer, int column) const;
    QVector<Layer> m_layers;
};

}  // namespace lockstep::ui
