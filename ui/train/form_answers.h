#pragma once
#include <QJsonObject>
#include <QMap>
#include <QObject>
#include <QTimer>
#include <functional>
#include <memory>
#include <optional>

#include "ui/history/engine_service.h"
#include "ui/train/problem_list.h"
#include "ui/train/spec_form.h"

namespace lockstep::ui {

// Keeps a form company: fetches what the engine offers, and after each change asks for what the change touches, once
// the person pauses. An answer to an older spec is dropped. GUI thread.
class FormAnswers : public QObject {
    Q_OBJECT
public:
    FormAnswers(EngineService& service, SpecForm& form, QObject* parent = nullptr);

    bool hasCatalog() const { return m_hasCatalog; }
    // Empty: none for this spec. While a setting is mistyped those of before stay, and planIsOld() says so.
    const std::optional<PlanAnswer>& plan() const { return m_plan; }
    bool planIsOld() const { return m_planIsOld || isOpen<PlanRequest>(); }
    const std::optional<SamplesAnswer>& samples() const { return m_samples; }
    const ScheduleAnswer& curve() const { return m_curve; }
    const Problems& dataProblems() const { return m_dataProblems; }  // of opening the dataset
    bool isReading() const { return isOpen<SamplesRequest>(); }
    const std::optional<ServeProgress>& progress() const {
        return m_progress;
    }                                                                 // of what is read; nothing is told of yet
    bool isValidated() const { return m_hasCatalog && m_validated; }  // the problems are those of the spec as it is now
    // Nothing known against the spec: validated as it is now, and its data could be opened.
    bool isReady() const;

    // Ends what measures the form's precisions, if anything does: a run beside it would disturb it, and be disturbed.
    void endMeasuring();

    // Which dataset lies there.
    void inspect(const QString& path, std::function<void(const EngineReply<InspectRequest>&)> done);

signals:
    void validated();  // isReady() may be another
    void planChanged();
    void samplesChanged();
    void progressChanged();
    void curveChanged();

private:
    template <class Request>
    static QString nameOf() {
        return QString::fromUtf8(Request::kName.data(), static_cast<qsizetype>(Request::kName.size()));
    }
    template <class Request>
    bool isOpen() const {
        return m_open.contains(nameOf<Request>());
    }

    void fetchCatalog();
    void measure();
    template <class Request>
    void fetch();
    void formChanged();
    void askAll();
    void askCurve();
    JsonText specText() const;
    template <class Request>
    void ask(const Request& request, std::function<void(const EngineReply<Request>&)> take);
    template <class Request>
    void askIfOther(const QStringList& about, const Request& request,
                    std::function<void(const EngineReply<Request>&)> take);
    void takePlan(const EngineReply<PlanRequest>& reply);
    void takeSamples(const EngineReply<SamplesRequest>& reply);
    void takeProblems(const EngineReply<ValidateRequest>& reply);
    Problems beyondTheSpec(const Problems& problems) const;
    void collectProblems();

    EngineService& m_service;
    EngineService m_reader;                  // for what reads data, which may take long: the form is checked meanwhile
    std::unique_ptr<EngineService> m_meter;  // for what trains; null: nothing was measured yet
    std::optional<ServeProgress> m_progress;
    SpecForm& m_form;
    FormCatalog m_arriving;
    int m_awaited = 0;
    bool m_hasCatalog = false, m_validated = false, m_planIsOld = false;
    QString m_plannedModel;
    QStringList m_sampledDataset;  // its id and path
    qint64 m_curveSteps = 0;
    QTimer m_pause;
    QMap<QString, qint64> m_open;        // questions without an answer
    QMap<QString, QJsonObject> m_asked;  // what the last question of a kind was about
    std::optional<PlanAnswer> m_plan;
    std::optional<SamplesAnswer> m_samples;
    ScheduleAnswer m_curve;
    Problems m_specProblems, m_planProblems, m_dataProblems;
};

}  // namespace lockstep::ui
