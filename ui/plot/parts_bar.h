#pragma once
#include <QWidget>
#include <vector>

#include "ui/style/theme.h"

namespace lockstep::ui {

// Parts of a whole beside each other, as one bar with round ends, in the theme's colours.
class PartsBar : public QWidget {
    Q_OBJECT
public:
    struct Part {
        double share = 0;  // of the whole, 0 to 1
        QColor Theme::*color = nullptr;
    };

    explicit PartsBar(QWidget* parent = nullptr);
    void setParts(std::vector<Part> parts);  // from the left; what they leave of the whole has the colour of a grid
    QSize sizeHint() const override;

protected:
    void paintEvent(QPaintEvent* event) override;

private:
    std::vector<Part> m_parts;
};

}  // namespace lockstep::ui
