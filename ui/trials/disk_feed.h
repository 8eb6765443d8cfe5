#pragma once
#include <QObject>
#include <QThreadPool>
#include <memory>

#include "engine/session/places.h"
#include "engine/trials/disk_service.h"

namespace lockstep::ui {

// What the home weighs, and freeing some of it, on a thread of its own: a slow disk holds up neither window nor
// history. Belongs to the window's thread, where all signals come; every call returns at once.
class DiskFeed : public QObject {
    Q_OBJECT

public:
    explicit DiskFeed(Places places, QObject* parent = nullptr);
    ~DiskFeed() override;  // waits for what is under way

    void weigh();  // while one look is under way, another follows it, however often it is asked for
    const std::shared_ptr<const DiskWeight>& weight() const { return m_weight; }  // null: not looked yet
    void plan(const FreeRequest& request);  // of the newest weight; of several requests only the newest is answered
    void free(std::shared_ptr<const FreePlan> plan);  // and looks again

signals:
    void weighed(const std::shared_ptr<const lockstep::DiskWeight>& weight);
    void planned(const std::shared_ptr<const lockstep::FreePlan>& plan);
    void freed(const lockstep::Freed& freed);
    void failed(const lockstep::Problem& problem);  // the history cannot be read

private:
    template <class Work, class Then>
    void start(Work&& work, Then&& then);

    const Places m_places;
    QThreadPool m_pool;  // of one thread
    std::shared_ptr<const DiskWeight> m_weight;
    bool m_isWeighing = false, m_weighsAgain = false;
    int m_planRequest = 0;
};

}  // namespace lockstep::ui
