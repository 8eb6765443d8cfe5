#include <algorithm>
#include <utility>

#include "ui/train/spec_form.h"
#include "ui/train/sweep_form.h"
#include "ui/train/sweep_text.h"

// What a sweep's form has of constraints between settings.
namespace lockstep::ui {

const QStringList& SweepForm::constraints() const { return state().sweep.constraints; }

QString SweepForm::constraintName(int index) { return tr("Constraint %1").arg(index + 1); }

void SweepForm::putConstraints(QStringList constraints, const QString& mergeKey) {
    auto sweep = state().sweep;
    sweep.constraints = std::move(constraints);
    put(std::move(sweep), tr("Constraints of the sweep"), mergeKey);
}

void SweepForm::addConstraint() { putConstraints(constraints() + QStringList{QString()}); }

void SweepForm::setConstraint(int index, const QString& typed) {
    auto all = constraints();
    all[index] = typed;
    putConstraints(std::move(all), "constraint " + QString::number(index));
}

void SweepForm::removeConstraint(int index) {
    auto all = constraints();
    all.removeAt(index);
    putConstraints(std::move(all));
}

void SweepForm::addConstraints(SweepSpec& sweep) {
    for (int i = 0; i < constraints().size(); ++i) {
        const auto typed = constraints()[i].trimmed();
        if (typed.isEmpty()) continue;
        auto constraint = Constraint::parse(typed.toStdString(), constraintName(i).toStdString());
        if (constraint.ok()) sweep.constraints.push_back(std::move(constraint).value());
        else m_found.push_back(constraint.problems().front());
    }
}

std::optional<int> SweepForm::constraintAt(const QString& field) const {
    const auto& all = constraints();
    if (field == "constraints" && !all.isEmpty()) return static_cast<int>(all.size()) - 1;
    for (int i = 0; i < all.size(); ++i) {
        const auto typed = all[i].trimmed();
        if (!typed.isEmpty() && (field == constraintName(i) || field == typed)) return i;
    }
    return std::nullopt;
}

Problems SweepForm::problemsOfConstraint(int index) const {
    auto all = problems();
    std::erase_if(all, [&](const Problem& each) { return constraintAt(QString::fromStdString(each.field)) != index; });
    return all;
}

QString SweepForm::cellsMeeting(int index) const {
    if (!m_counts) return {};
    const auto found = m_counts->meeting.find(constraints()[index].trimmed().toStdString());
    return found == m_counts->meeting.end() ? QString() : meetingText(found->second, m_counts->cells);
}

}  // namespace lockstep::ui
