#pragma once
#include "ui/compare/compare_view.h"

namespace lockstep::ui {

// The objective over the trials in their order, and the best so far: whether the search still finds better ones.
class ProgressView : public CompareView {
    Q_OBJECT
public:
    explicit ProgressView(TrialSelection* selection, QWidget* parent = nullptr);

    QString title() const override { return tr("Objective by trial"); }
    QString fileName() const override { return "progress"; }
    QString emptyText() const override;
    QString summary() const override;
    QByteArray csv() const override;
    void paintPicture(QPainter& painter, const QRectF& area) const override;
    QSize sizeHint() const override { return {480, 240}; }

protected:
    void sceneChanged() override;
    void lightChanged() override { update(); }
    void paintEvent(QPaintEvent* event) override;
    void mouseMoveEvent(QMouseEvent* event) override;
    void mousePressEvent(QMouseEvent* event) override;
    void mouseDoubleClickEvent(QMouseEvent* event) override;

private:
    struct Frame;
    Frame frameIn(const QRectF& area) const;
    std::optional<std::size_t> rowAt(QPointF at) const;
    void paintTrial(QPainter& painter, const Frame& frame, std::size_t row, bool isLit) const;

    std::vector<double> m_best;  // by row: of it and those before
};

}  // namespace lockstep::ui
