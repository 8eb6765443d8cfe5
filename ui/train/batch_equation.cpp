#include "ui/train/batch_equation.h"

namespace lockstep::ui {

QString BatchEquation::partText() const {
    if (divides()) return QString::number(largestPart());
    return QString("%1 or %2").arg(smallestPart()).arg(largestPart());
}

QString BatchEquation::text() const {
    const auto part = divides() ? partText() : '(' + partText() + ')';
    return QString("%1 × %2 × %3 = %4").arg(part).arg(devices).arg(passes).arg(batch);
}

BatchEquation withPerDevice(BatchEquation equation, std::int64_t perDevice) {
    equation.batch = perDevice * equation.devices * equation.passes;
    return equation;
}

BatchEquation withDevices(BatchEquation equation, std::int64_t devices, Hold hold) {
    const auto part = equation.largestPart();
    equation.devices = devices;
    return hold == Hold::PerDevice ? withPerDevice(equation, part) : equation;
}

BatchEquation withPasses(BatchEquation equation, std::int64_t passes, Hold hold) {
    const auto part = equation.largestPart();
    equation.passes = passes;
    return hold == Hold::PerDevice ? withPerDevice(equation, part) : equation;
}

}  // namespace lockstep::ui
