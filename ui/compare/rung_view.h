#pragma once
#include "ui/compare/compare_view.h"

namespace lockstep::ui {

// A column a rung, a dot a cell at what it came to there, and a line to the next rung for each that went on.
class RungView : public CompareView {
    Q_OBJECT
public:
    explicit RungView(TrialSelection* selection, QWidget* parent = nullptr);

    QString title() const override { return tr("Rungs"); }
    QString fileName() const override { return "rungs"; }
    bool isOffered() const override;
    QString emptyText() const override;
    QString summary() const override;
    QByteArray csv() const override;
    void paintPicture(QPainter& painter, const QRectF& area) const override;
    QSize sizeHint() const override { return {440, 280}; }

protected:
    void sceneChanged() override;
    void lightChanged() override { update(); }
    void paintEvent(QPaintEvent* event) override;
    void mouseMoveEvent(QMouseEvent* event) override;
    void mousePressEvent(QMouseEvent* event) override;

private:
    struct Climb {
        std::int64_t cell = 0;
        std::vector<std::size_t> rows = {};  // its trials, of the table
        std::vector<double> values = {};     // of the objective, by rung; as a person reads it
        bool passes = false;
    };
    struct Frame;
    Frame frameIn(const QRectF& area) const;
    void paintClimb(QPainter& painter, const Frame& frame, const Climb& climb, bool isLit) const;
    const Climb* climbAt(QPointF at) const;
    bool isOf(const Climb& climb, std::optional<std::size_t> row) const;

    std::vector<Climb> m_climbs;
    std::vector<std::int64_t> m_epochs;  // of the rungs
};

}  // namespace lockstep::ui
