#pragma once
#include <array>
#include <memory>

#include "ui/compare/compare_view.h"
#include "ui/compare/setting_importance.h"

class QCheckBox;

namespace lockstep::ui {

// A bar a setting for each of the two questions, with what the first is uncertain by. Computed on another thread, of
// all trials or of those that the brushes leave. A click on a setting asks to see it.
class ImportanceView : public CompareView {
    Q_OBJECT
public:
    explicit ImportanceView(TrialSelection* selection, QWidget* parent = nullptr);

    QString title() const override { return tr("Importance"); }
    QString fileName() const override { return "importance"; }
    QString emptyText() const override;
    QString summary() const override;
    QByteArray csv() const override;
    void paintPicture(QPainter& painter, const QRectF& area) const override;
    QSize sizeHint() const override { return {440, 280}; }

signals:
    // Of all trials of the scene's table.
    void known(const std::shared_ptr<const lockstep::ui::CompareTable>& table, const std::vector<double>& byAxis);

protected:
    void sceneChanged() override;
    void lightChanged() override {}
    void paintEvent(QPaintEvent* event) override;
    void mouseMoveEvent(QMouseEvent* event) override;

private:
    void ask();
    void take(const SharedScene& of, std::shared_ptr<const SettingImportance> found);
    QRectF canvas() const;
    std::vector<std::size_t> order() const;  // places in m_found's figures, the most important first
    QString settingName(std::size_t i) const;
    QString explainsText(std::size_t i) const;
    QString decidesText(std::size_t i) const;
    QString verdictText(ImportanceVerdict verdict, std::size_t tried) const;
    // Where names, and the bars of either question, stand.
    struct Columns {
        QRectF area;
        double first = 0, second = 0, width = 0;  // left edges of the bars
        double top = 0, high = 0;                 // of the first setting; of each
    };
    static std::array<QString, 2> headings();
    Columns columnsIn(const QRectF& area) const;
    QString footWords() const;
    double footHeight(const QRectF& area) const;
    void paintSetting(QPainter& painter, const Columns& columns, std::size_t i, double top) const;
    static void paintBar(QPainter& painter, const QRectF& row, const FanovaShare& share, const QColor& color);

    QCheckBox* m_brushed;
    std::int64_t m_sweep = 0;                          // that is shown; 0: none
    std::shared_ptr<const SettingImportance> m_found;  // null: being computed
    std::shared_ptr<const CompareTable> m_of;          // the table that it is of
    SharedScene m_asked, m_wanted;                     // being computed; asked for meanwhile
};

}  // namespace lockstep::ui
