#include "ui/trials/disk_feed.h"

#include <optional>
#include <utility>

#include "engine/core/error.h"

namespace lockstep::ui {

DiskFeed::DiskFeed(Places places, QObject* parent) : QObject(parent), m_places(std::move(places)) {
    m_pool.setMaxThreadCount(1);
}

DiskFeed::~DiskFeed() {
    m_pool.clear();
    m_pool.waitForDone();
}

// `work` on the thread, what it returns to `then` here; or the problem that it ends with, and nothing to `then`.
template <class Work, class Then>
void DiskFeed::start(Work&& work, Then&& then) {
    m_pool.start([this, work = std::forward<Work>(work), then = std::forward<Then>(then)] {
        using Value = decltype(work());
        std::optional<Value> value;
        std::optional<Problem> problem;
        try {
            value = work();
        } catch (const ProblemError& error) {
            problem = error.problem();
        } catch (const EngineError& error) {
            problem = Problem{error.where(), "home.unwritable", {error.what()}};
        } catch (const std::exception& error) {
            problem = Problem{m_places.data.string(), "home.unwritable", {error.what()}};
        }
        QMetaObject::invokeMethod(
            this,
            [this, then, value = std::move(value), problem = std::move(problem)]() mutable {
                then(std::move(value));
                if (problem) emit failed(*problem);
            },
            Qt::QueuedConnection);
    });
}

void DiskFeed::weigh() {
    if (std::exchange(m_isWeighing, true)) {
        m_weighsAgain = true;
        return;
    }
    const auto work = [places = m_places] {
        TrialService trials(places);
        return std::make_shared<const DiskWeight>(DiskService(trials).weigh());
    };
    start(work, [this](std::optional<std::shared_ptr<const DiskWeight>> weight) {
        m_isWeighing = false;
        if (std::exchange(m_weighsAgain, false)) weigh();
        if (!weight) return;
        m_weight = *weight;
        emit weighed(m_weight);
    });
}

void DiskFeed::plan(const FreeRequest& request) {
    if (!m_weight) return;
    const int number = ++m_planRequest;
    const auto work = [weight = m_weight, request] {
        return std::make_shared<const FreePlan>(planFreeing(*weight, request, std::time(nullptr)));
    };
    start(work, [this, number](std::optional<std::shared_ptr<const FreePlan>> plan) {
        if (plan && number == m_planRequest) emit planned(*plan);
    });
}

void DiskFeed::free(std::shared_ptr<const FreePlan> plan) {
    const auto work = [places = m_places, plan = std::move(plan)] {
        TrialService trials(places);
        return DiskService(trials).free(*plan);
    };
    start(work, [this](std::optional<Freed> done) {
        if (done) emit freed(*done);
        weigh();
    });
}

}  // namespace lockstep::ui
