#include "engine/train/loss_scale.h"

#include <algorithm>
#include <cmath>

namespace lockstep {

LossScale::LossScale(Precision precision, std::int64_t batch) : m_adapts(precision == Precision::Fp16) {
    if (m_adapts) m_scale = std::max(kLeast, std::exp2(std::floor(std::log2(kFirst / static_cast<double>(batch)))));
}

void LossScale::restore(double scale, std::int64_t updates) {
    if (!m_adapts || scale == 0) return;
    m_scale = std::clamp(scale, kLeast, kMost);
    m_updates = updates;
}

void LossScale::applied() {
    if (!m_adapts || ++m_updates < kPatience) return;
    m_scale = std::min(kMost, 2 * m_scale);
    m_updates = 0;
}

bool LossScale::lower() {
    if (!m_adapts || m_scale <= kLeast) return false;
    m_scale /= 2;
    m_updates = 0;
    return true;
}

}  // namespace lockstep
