#include "engine/search/gp_search.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>

#include "engine/search/draws.h"
#include "engine/search/gaussian_process.h"
#include "engine/search/minimise.h"
#include "engine/search/search_points.h"
#include "engine/search/sobol.h"

namespace lockstep {

namespace {

using Matrix = Eigen::MatrixXd;
using Vector = Eigen::VectorXd;

constexpr std::uint32_t kScattered = 1024, kNear = 64;  // candidates: everywhere; around each of the best
constexpr std::size_t kBest = 4, kStarts = 6;
constexpr int kClimbingSteps = 30;
constexpr std::size_t kMostLookedAt = 300, kBestLookedAt = 100;
constexpr double kWorst = 5;  // times what lies between the best and the middle one: losses beyond say no more

double normalCdf(double z) { return 0.5 * std::erfc(-z / std::numbers::sqrt2); }
double normalDensity(double z) { return std::exp(-0.5 * z * z) / std::sqrt(2 * std::numbers::pi); }

Vector pointOf(const SearchSpace& space, const Cell& cell) {
    Vector point = Vector::Constant(std::ssize(space.dimensions()), 0.5);
    auto set = cell.begin();
    for (Eigen::Index i = 0; i < point.size() && set != cell.end(); ++i) {
        const Dimension& dimension = space.dimensions()[static_cast<std::size_t>(i)];
        if (set->path != dimension.path) continue;
        if (const auto share = dimension.shareOf(set->value)) point[i] = share->middle;
        ++set;
    }
    return point;
}

double medianOf(std::vector<double> values) {
    const auto middle = values.begin() + std::ssize(values) / 2;
    std::ranges::nth_element(values, middle);
    return *middle;
}

// What has ended with a loss or failed; of very many the best and the newest, in the order of suggestion.
std::vector<const Tried*> lookedAt(std::span<const Tried> tried) {
    std::vector<const Tried*> all;
    for (const Tried& each : tried) {
        if (each.hasEnded()) all.push_back(&each);
    }
    if (all.size() <= kMostLookedAt) return all;
    const auto newest = all.end() - static_cast<std::ptrdiff_t>(kMostLookedAt - kBestLookedAt);
    std::stable_sort(all.begin(), newest, [](const Tried* one, const Tried* other) {
        return one->hasLoss() && (!other->hasLoss() || one->loss < other->loss);
    });
    all.erase(all.begin() + kBestLookedAt, newest);
    std::ranges::sort(all);
    return all;
}

// Standardised. A stopped cell was no better than the middle one; empty: no cell has a loss.
Vector lossesOf(const std::vector<const Tried*>& tried) {
    std::vector<double> known;
    for (const Tried* each : tried) {
        if (each->hasLoss()) known.push_back(each->loss);
    }
    if (known.empty()) return {};
    const double middle = medianOf(known), best = std::ranges::min(known);
    const double worst = std::min(std::ranges::max(known), middle + kWorst * (middle - best));
    Vector losses(std::ssize(tried));
    for (std::size_t i = 0; i < tried.size(); ++i) {
        const double loss = tried[i]->hasLoss() ? std::min(tried[i]->loss, worst) : worst;
        losses[static_cast<Eigen::Index>(i)] = tried[i]->state == TriedState::Stopped ? std::max(loss, middle) : loss;
    }
    if (const double largest = losses.cwiseAbs().maxCoeff(); largest > 0) losses /= largest;  // squares stay finite
    losses.array() -= losses.mean();
    const double deviation = std::sqrt(losses.squaredNorm() / static_cast<double>(losses.size()));
    return deviation > 0 ? Vector(losses / deviation) : losses;
}

// What the improvement's logarithm is, by cells and by points.
class Improvement {
public:
    Improvement(const GaussianProcess& process, double best) : m_process(process), m_best(best) {}

    double at(const Vector& point) const {
        const auto belief = m_process.at(point);
        const double deviation = std::sqrt(belief.variance);
        return logImprovement((m_best - belief.mean) / deviation) + std::log(deviation);
    }

    double at(const Vector& point, Vector& slope) const {
        Vector meanSlope(point.size()), varianceSlope(point.size());
        const auto belief = m_process.at(point, meanSlope, varianceSlope);
        const double deviation = std::sqrt(belief.variance), z = (m_best - belief.mean) / deviation;
        const double log = logImprovement(z);
        const double slopeByZ = z < -30 ? -z : normalCdf(z) / std::exp(log);
        const Vector deviationSlope = varianceSlope / (2 * deviation);
        slope = (slopeByZ * (-meanSlope - z * deviationSlope) + deviationSlope) / deviation;
        return log + std::log(deviation);
    }

private:
    const GaussianProcess& m_process;
    double m_best;
};

struct Candidate {
    Cell cell;
    Vector point;
    double value = 0;
};

// Looks for the cell of the largest improvement.
class Climb {
public:
    Climb(const SearchSpace& space, const Improvement& improvement, const MayBe& mayBe)
        : m_space(space), m_improvement(improvement), m_mayBe(mayBe) {}

    // The cell of a point of the unit cube.
    void look(const Vector& point) {
        const Vector inside = point.cwiseMin(1 - 1e-12);
        auto cell = m_space.cellAt({inside.data(), static_cast<std::size_t>(inside.size())});
        if (!cell || !m_mayBe(*cell)) return;
        Vector place = pointOf(m_space, *cell);
        const double value = m_improvement.at(place);
        m_seen.push_back({std::move(*cell), std::move(place), value});
    }

    // From the best that were seen uphill, as far as dimensions have an order; then to the cell there.
    void climb() {
        const std::size_t starts = std::min(kStarts, m_seen.size());
        std::ranges::partial_sort(m_seen, m_seen.begin() + static_cast<std::ptrdiff_t>(starts), std::greater<>(),
                                  &Candidate::value);
        const Slope down = [this](const Vector& x, Vector& gradient) {
            const double value = m_improvement.at(x, gradient);
            gradient = -gradient;
            return -value;
        };
        const Eigen::Index axes = std::ssize(m_space.dimensions());
        const Vector low = Vector::Zero(axes), high = Vector::Ones(axes);
        for (std::size_t i = 0; i < starts; ++i) look(minimise(down, m_seen[i].point, low, high, kClimbingSteps));
    }

    std::optional<Cell> best() const {
        const auto most = std::ranges::max_element(m_seen, {}, &Candidate::value);
        return most == m_seen.end() ? std::nullopt : std::optional(most->cell);
    }

private:
    const SearchSpace& m_space;
    const Improvement& m_improvement;
    const MayBe& m_mayBe;
    std::vector<Candidate> m_seen;
};

Matrix rowsOf(const SearchSpace& space, const std::vector<const Tried*>& tried) {
    Matrix rows(std::ssize(tried), std::ssize(space.dimensions()));
    for (std::size_t i = 0; i < tried.size(); ++i)
        rows.row(static_cast<Eigen::Index>(i)) = pointOf(space, tried[i]->cell).transpose();
    return rows;
}

// A little beside it on axes with an order; another choice now and then.
Vector beside(const Vector& point, const std::vector<bool>& isOrdered, Draws& draws) {
    Vector out = point;
    const double width = std::pow(10.0, -1 - 2 * draws.uniform());
    for (Eigen::Index i = 0; i < out.size(); ++i) {
        if (isOrdered[static_cast<std::size_t>(i)]) out[i] = std::clamp(out[i] + width * draws.normal(), 0.0, 1.0);
        else if (draws.uniform() < 1 / static_cast<double>(out.size())) out[i] = draws.uniform();
    }
    return out;
}

}  // namespace

double logImprovement(double z) {
    // The series of Mills' ratio, where the difference has no digits left.
    if (z < -30)
        return -0.5 * z * z - 0.5 * std::log(2 * std::numbers::pi) - 2 * std::log(-z) + std::log1p(-3 / (z * z));
    return std::log(normalDensity(z) + z * normalCdf(z));
}

std::optional<Cell> suggestByGp(const SearchSpace& space, std::span<const Tried> tried, std::uint64_t seed,
                                const MayBe& mayBe) {
    std::vector<bool> isOrdered;
    for (const Dimension& each : space.dimensions()) isOrdered.push_back(each.isOrdered());
    const std::vector<const Tried*> ended = lookedAt(tried);
    const Vector losses = lossesOf(ended);
    if (losses.size() == 0) return std::nullopt;
    GaussianProcess process(rowsOf(space, ended), losses, isOrdered);
    std::vector<std::pair<double, Eigen::Index>> order;
    for (Eigen::Index i = 0; i < losses.size(); ++i)
        order.emplace_back(process.at(process.points().row(i).transpose()).mean, i);
    std::ranges::sort(order);
    const double best = order.front().first;
    std::vector<const Tried*> running;
    for (const Tried& each : tried) {
        if (!each.hasEnded()) running.push_back(&each);
    }
    if (!running.empty()) process = process.believing(rowsOf(space, running));
    const Improvement improvement(process, best);
    Climb climb(space, improvement, mayBe);
    const auto axes = static_cast<std::uint32_t>(space.dimensions().size());
    Draws draws(CounterRng(seed, streamOf("gp"), tried.size(), 0));
    for (std::uint32_t i = 0; i < kScattered; ++i) {
        const auto scattered = searchPoint(axes <= kSobolDimensions ? "sobol" : "random", seed + tried.size(), i, axes);
        climb.look(Eigen::Map<const Vector>(scattered.data(), axes));
    }
    for (std::size_t i = 0; i < std::min(kBest, order.size()); ++i) {
        const Vector point = process.points().row(order[i].second).transpose();
        for (std::uint32_t k = 0; k < kNear; ++k) climb.look(beside(point, isOrdered, draws));
    }
    climb.climb();
    return climb.best();
}

}  // namespace lockstep
