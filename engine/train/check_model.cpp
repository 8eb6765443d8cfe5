#include "engine/train/check_model.h"

#include <algorithm>
#include <cmath>

#include "engine/core/error.h"
#include "engine/core/random.h"
#include "engine/train/clocks.h"
#include "engine/train/made_batch.h"
#include "engine/train/make_group.h"
#include "engine/train/replica.h"

namespace lockstep {

namespace {

// One device with training's program, and a batch that stays.
class Bench {
public:
    Bench(const ResolvedSpec& resolved, const ModelInput& input)
        : m_resolved(resolved),
          m_group(makeGroup(resolved)),
          m_device(resolved.backend->open(resolved.devices.front())) {
        const DatasetInfo info = infoOf(resolved.model->task, input, resolved.spec.batch);
        const RunPlan plan = planRun(resolved, info, info);
        m_replica =
            std::make_unique<Replica>(*m_device, *m_group.front(), std::vector{plan.ranks.front().training}, nullptr);
        m_replica->initialize(resolved.spec.seed);
        m_batch = madeBatch(plan.batch, {0, resolved.spec.batch}, input.classes);
        for (const StorageEntry& parameter : plan.ranks.front().training->storage->parameters)
            m_parameters.push_back(parameter.name);
    }

    const std::vector<std::string>& parameters() const { return m_parameters; }
    Replica& replica() { return *m_replica; }
    double scalar(const char* name) const { return m_replica->scalar(0, name); }

    // The summed loss before update number `update`, from 0.
    double run(std::int64_t update, double learningRate) {
        m_replica->run(0, m_batch.data(), {m_resolved.spec.seed, 0, update, learningRate});
        if (m_replica->gate(0).skip == 0) return scalar("loss_sum");
        throw EngineError(EngineError::Kind::NonFinite, m_resolved.spec.model.id,
                          "not a finite number in update " + std::to_string(update + 1));
    }

private:
    const ResolvedSpec& m_resolved;
    std::vector<std::unique_ptr<Collective>> m_group;
    std::unique_ptr<Device> m_device;
    std::unique_ptr<Replica> m_replica;
    HostTensor m_batch;
    std::vector<std::string> m_parameters;
};

using Vector = std::vector<double>;

double norm(std::span<const double> x) {
    double squares = 0;
    for (const double each : x) squares += each * each;
    return std::sqrt(squares);
}

double dot(std::span<const double> x, std::span<const double> y) {
    double sum = 0;
    for (std::size_t i = 0; i < x.size(); ++i) sum += x[i] * y[i];
    return sum;
}

void scaleToOne(Vector& x) {
    const double length = norm(x);
    for (double& each : x) each /= length;
}

// Some parameters as one vector, with the gradient that was computed for them.
struct Span {
    std::vector<std::string> names;
    std::vector<HostTensor> weights;
    Vector gradient;
};

class Slopes {
public:
    explicit Slopes(const SlopesRequest& request) : m_bench(request.resolved, request.input) {
        m_loss = m_bench.run(0, 0);
        for (const std::string& name : m_bench.parameters()) {
            const HostTensor gradient = m_bench.replica().readGradient(name);
            const auto values = gradient.as<double>();
            m_spans.push_back({{name}, {}, Vector(values.begin(), values.end())});
            m_spans.back().weights.push_back(m_bench.replica().read(name));
        }
    }

    std::size_t count() const { return m_spans.size(); }
    SlopeCheck checkOne(std::size_t at) { return check(m_spans[at].names.front(), m_spans[at]); }

    SlopeCheck checkAll() {
        Span all;
        for (const Span& each : m_spans) {
            all.names.push_back(each.names.front());
            all.weights.push_back(each.weights.front());
            all.gradient.insert(all.gradient.end(), each.gradient.begin(), each.gradient.end());
        }
        return check({}, all);
    }

private:
    // The first distance is short beside the weights, and so short that the loss changes by no more than 1e-5 of
    // itself: with batch norm of few values it bends soon. A kink between the two losses (a ReLU's, a maximum's) spoils
    // a slope: nearer by there are fewer, and a wrong gradient stays wrong. Rounding grows there and excuses nothing.
    SlopeCheck check(const std::string& name, const Span& span) {
        double squares = 0;
        for (const HostTensor& each : span.weights) squares += dot(each.as<double>(), each.as<double>());
        double step = std::min(1e-7 * std::max(1.0, std::sqrt(squares)), 1e-5 * std::abs(m_loss) / norm(span.gradient));
        SlopeCheck found = check(name, span, step);
        for (int nearer = 0; nearer < 2 && !found.holds; ++nearer) {
            const SlopeCheck next = check(name, span, step /= 10);
            found.along = std::min(found.along, next.along);
            found.across = std::min(found.across, next.across);
            found.holds = isAllowed(found);
        }
        return found;
    }

    static bool isAllowed(const SlopeCheck& found) {
        return std::max(found.along, found.across) <= SlopeCheck::kAllowed;
    }

    SlopeCheck check(const std::string& name, const Span& span, double step) {
        const double length = norm(span.gradient);
        // Below this, a slope is the rounding of two losses: a bias before a batch norm has none.
        const double rounding = 1e-13 * std::abs(m_loss) / step;
        Vector along = span.gradient, across = randomDirection(name, span.gradient.size());
        if (length > 0) scaleToOne(along);
        const double slope = slopeAlong(span, along, step), other = slopeAlong(span, across, step);
        const double typical = length / std::sqrt(static_cast<double>(along.size()));
        SlopeCheck found{name, std::abs(slope - length) / std::max(length, rounding),
                         std::abs(other - dot(span.gradient, across)) / std::max(typical, rounding), false};
        found.holds = isAllowed(found);
        if (length < rounding) found.holds = std::max(std::abs(slope), std::abs(other)) <= rounding;
        return found;
    }

    static Vector randomDirection(const std::string& name, std::size_t count) {
        const CounterRng rng(1, streamOf(name), 0, 0);
        Vector out(count);
        for (std::size_t i = 0; i < count; ++i) out[i] = rng.normal(static_cast<std::uint32_t>(i));
        scaleToOne(out);
        return out;
    }

    double slopeAlong(const Span& span, const Vector& direction, double step) {
        const double slope = (lossAt(span, direction, step) - lossAt(span, direction, -step)) / (2 * step);
        for (std::size_t i = 0; i < span.names.size(); ++i) m_bench.replica().write(span.names[i], span.weights[i]);
        return slope;
    }

    double lossAt(const Span& span, const Vector& direction, double distance) {
        auto towards = direction.begin();
        for (std::size_t i = 0; i < span.names.size(); ++i) {
            HostTensor moved = span.weights[i];
            for (double& each : moved.as<double>()) each += distance * *towards++;
            m_bench.replica().write(span.names[i], moved);
        }
        return m_bench.run(0, 0);
    }

    Bench m_bench;
    double m_loss = 0;
    std::vector<Span> m_spans;  // by parameter
};

// 0 … count-1, so that the first few already lie all over it: by their bits the other way round (van der Corput).
std::vector<std::size_t> spreadOut(std::size_t count) {
    int bits = 0;
    while ((std::size_t{1} << bits) < count) ++bits;
    std::vector<std::size_t> order;
    for (std::size_t i = 0; i < std::size_t{1} << bits; ++i) {
        std::size_t turned = 0;
        for (int bit = 0; bit < bits; ++bit) turned |= (i >> bit & 1) << (bits - 1 - bit);
        if (turned < count) order.push_back(turned);
    }
    return order;
}

}  // namespace

std::vector<SlopeCheck> checkSlopes(const SlopesRequest& request) {
    Stopwatch watch;
    watch.start();
    Slopes slopes(request);
    std::vector<SlopeCheck> checks;
    const auto add = [&](SlopeCheck found) {
        if (request.onSlope) request.onSlope(found);
        checks.push_back(std::move(found));
    };
    add(slopes.checkAll());
    for (const std::size_t at : spreadOut(slopes.count())) {
        if (request.seconds > 0 && watch.seconds() > request.seconds) break;
        add(slopes.checkOne(at));
    }
    return checks;
}

MemorisedBatch memorise(const MemoriseRequest& request) {
    Bench bench(request.resolved, request.input);
    MemorisedBatch found;
    while (found.updates < request.updates && !found.isMemorised()) {
        const double loss = bench.run(found.updates, request.resolved.learningRate);
        ++found.updates;
        found.loss = loss / bench.scalar("weight");
        found.accuracy = bench.scalar("correct1") / bench.scalar("weight");
        if (request.onUpdate) request.onUpdate(found);
    }
    return found;
}

}  // namespace lockstep
