#pragma once
#include <QFrame>
#include <optional>

#include "engine/spec/bandwidths.h"
#include "ui/style/explanation.h"

class QLabel;

namespace lockstep::ui {

class BandwidthGauge;

// The two bandwidths of a run, how fast samples are made and how fast they are trained on, and in words which of them
// binds.
class BandwidthCard : public QFrame {
    Q_OBJECT
public:
    explicit BandwidthCard(Explain explain, QWidget* parent = nullptr);
    // `seen`: which of them binds, and what the words need besides; empty: too early to say.
    void show(const Bandwidths& now, const std::optional<BindingChanged>& seen);

private:
    Explain m_explain;
    BandwidthGauge* m_gauge;
    QLabel *m_reached, *m_verdict, *m_remedy;
};

}  // namespace lockstep::ui
