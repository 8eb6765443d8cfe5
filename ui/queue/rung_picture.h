#pragma once
#include <QWidget>
#include <cstdint>
#include <vector>

namespace lockstep::ui {

// What has become of a rung of a sweep.
struct RungColumn {
    QString title;                       // "3 epochs"
    std::int64_t cells = 0, wentOn = 0;  // that have come to it; of these, that went on
    bool isTop = false;                  // from which none goes on
    QString words;                       // all of it in a sentence
    bool operator==(const RungColumn&) const = default;
};

// The rungs of a sweep, a column each: how many cells have come there, and in the accent colour how many went on. The
// same in words as tool tip, also when the focus comes by keyboard, and as its accessible description.
class RungPicture : public QWidget {
    Q_OBJECT
public:
    explicit RungPicture(QWidget* parent = nullptr);

    void setRungs(std::vector<RungColumn> rungs);
    QSize sizeHint() const override;
    QSize minimumSizeHint() const override;

protected:
    void paintEvent(QPaintEvent* event) override;
    bool event(QEvent* event) override;
    void focusInEvent(QFocusEvent* event) override;

private:
    QRect columnAt(std::size_t rung) const;
    void paintColumn(QPainter& painter, std::size_t rung) const;

    std::vector<RungColumn> m_rungs;
    std::int64_t m_most = 1;  // cells at a rung
};

}  // namespace lockstep::ui
