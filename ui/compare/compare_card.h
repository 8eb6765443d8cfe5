#pragma once
#include <QFrame>
#include <QString>

class QLabel;
class QToolButton;

namespace lockstep::ui {

class CompareView;

// A view with its title, what it says while it has nothing to show, and a menu that takes it out of the window: as
// PNG (at twice its size), SVG and CSV. GUI thread.
class CompareCard : public QFrame {
    Q_OBJECT
public:
    // Takes the view. `isWide`: it wants the whole width of the page.
    CompareCard(CompareView* view, bool isWide, QWidget* parent = nullptr);

    CompareView& view() const { return m_view; }
    bool isWide() const { return m_isWide; }
    void setEnlarged(bool isEnlarged);  // alone on the page: its button leads back
    // Unless it is enlarged, what its view asks for: the page scrolls, and squeezes nothing.
    QSize minimumSizeHint() const override;
    // .png, .svg or .csv; false: could not be written.
    bool saveTo(const QString& file) const;

signals:
    void enlargeWanted(bool isEnlarged);
    void notSaved(const QString& file);

private:
    void showWords();
    void chooseFile();
    void copyPicture() const;
    QImage picture(double scale) const;
    QByteArray svg() const;

    CompareView& m_view;
    const bool m_isWide;
    QLabel* m_empty;
    QToolButton* m_enlarge;
};

}  // namespace lockstep::ui
