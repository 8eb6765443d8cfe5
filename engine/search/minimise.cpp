#include "engine/search/minimise.h"

#include <deque>
#include <ranges>

namespace lockstep {

namespace {

constexpr std::size_t kRemembered = 8;
constexpr int kHalvings = 20;
constexpr double kEnough = 1e-4;   // of what the slope promises
constexpr double kNothing = 1e-7;  // lower than this, in relation to the value, is no lower
using Vector = Eigen::VectorXd;

// What past steps tell of the curvature.
class Curvature {
public:
    void add(const Vector& step, const Vector& change) {
        const double product = step.dot(change);
        if (!(product > 1e-12 * change.squaredNorm())) return;
        m_pairs.push_back({step, change, product});
        if (m_pairs.size() > kRemembered) m_pairs.pop_front();
    }

    // The two loops of the method: where to go in place of steepest downhill.
    Vector bent(Vector d) const {
        std::vector<double> shares;
        for (const Pair& each : m_pairs | std::views::reverse) {
            shares.push_back(each.step.dot(d) / each.product);
            d -= shares.back() * each.change;
        }
        if (!m_pairs.empty()) d *= m_pairs.back().product / m_pairs.back().change.squaredNorm();
        for (const Pair& each : m_pairs) {
            d += (shares.back() - each.change.dot(d) / each.product) * each.step;
            shares.pop_back();
        }
        return d;
    }

    bool isEmpty() const { return m_pairs.empty(); }
    void forget() { m_pairs.clear(); }

private:
    struct Pair {
        Vector step, change;
        double product;
    };
    std::deque<Pair> m_pairs;
};

// Without what would lead out of the box.
Vector within(Vector direction, const Vector& x, const Vector& low, const Vector& high) {
    for (Eigen::Index i = 0; i < x.size(); ++i) {
        if ((x[i] <= low[i] && direction[i] < 0) || (x[i] >= high[i] && direction[i] > 0)) direction[i] = 0;
    }
    return direction;
}

}  // namespace

Vector minimise(const Slope& slope, Vector x, const Vector& low, const Vector& high, int steps) {
    Vector gradient(x.size()), next(x.size()), nextGradient(x.size());
    double value = slope(x, gradient);
    Curvature curvature;
    for (int step = 0; step < steps; ++step) {
        const Vector downhill = within(-gradient, x, low, high);
        Vector direction = within(curvature.bent(downhill), x, low, high);
        if (!(direction.dot(gradient) < 0)) {
            curvature.forget();
            direction = downhill;
        }
        if (direction.dot(gradient) == 0) break;
        double length = curvature.isEmpty() ? std::min(1.0, 0.1 / direction.norm()) : 1, nextValue = value;
        bool isLower = false;
        for (int i = 0; i < kHalvings && !isLower; ++i, length *= isLower ? 1 : 0.5) {
            next = (x + length * direction).cwiseMax(low).cwiseMin(high);
            nextValue = slope(next, nextGradient);
            isLower = nextValue <= value + kEnough * gradient.dot(next - x);
        }
        if (!isLower) break;
        curvature.add(next - x, nextGradient - gradient);
        const bool isDone = value - nextValue <= kNothing * (std::abs(value) + 1);
        x = next, gradient = nextGradient, value = nextValue;
        if (isDone) break;
    }
    return x;
}

}  // namespace lockstep
