#pragma once
#include <QElapsedTimer>
#include <QJsonObject>
#include <QObject>
#include <QStringList>
#include <QUndoStack>
#include <memory>

#include "ui/train/batch_equation.h"
#include "ui/train/device_tiles.h"
#include "ui/train/form_catalog.h"
#include "ui/train/form_state.h"
#include "ui/train/problem_list.h"

namespace lockstep::ui {

class SweepForm;

// Changes by typing that follow each other quickly in one field are one step of undo, all others one step each.
enum class Edit { Single, Typing };

// A trial's spec while a person edits it, and what a sweep varies of it. Holds the JSON as it came: what the catalog
// does not know is kept, and reported by the engine's validation like everything else that is wrong. Every change can
// be undone. GUI thread.
class SpecForm : public QObject {
    Q_OBJECT
public:
    explicit SpecForm(QObject* parent = nullptr);
    ~SpecForm() override;

    void setCatalog(FormCatalog catalog);  // fills an empty form with the defaults
    const FormCatalog& catalog() const { return m_catalog; }

    const QJsonObject& spec() const { return m_state.spec; }
    // Another trial, of which nothing is varied. `what` names the undo step: "Preset Fashion".
    void setSpec(const QJsonObject& spec, const QString& what);
    QUndoStack& history() { return m_history; }

    const FormState& state() const { return m_state; }
    // Steps with the same key that follow each other by typing are one.
    void setState(FormState state, const QString& what, const QString& mergeKey = {});
    SweepForm& sweep() { return *m_sweep; }
    const SweepForm& sweep() const { return *m_sweep; }

    // By path: "batch", "dataset.path", "optimizer.momentum"; "model" is the id of the choice. Absent ones give the
    // fallback.
    QJsonValue value(const QString& path) const;
    // The reproducible mode has its shards instead of an accumulation, which then goes back to 1.
    void setValue(const QString& path, const QJsonValue& value, Edit edit = Edit::Single);
    void endTyping() { ++m_typing; }  // a field was left: what is typed next is another step
    // Another id drops the settings of the one before.
    void choose(const QString& group, const QString& id);

    const FormOption* chosen(const QString& group) const;    // null: the catalog does not know it
    QVector<FormField> fields(const QString& group) const;   // of the option chosen; or of "augmentation"
    const FormField* trialField(const QString& name) const;  // "batch"; null: unknown

    bool isReproducible() const { return value("mode").toString() == "reproducible"; }
    DeviceTiles devices() const { return {m_catalog.devices, value("devices").toString()}; }

    // The equation of the batch; setting one of its parts changes the others so that it holds, as one undo step.
    BatchEquation equation() const;
    Hold hold() const { return m_hold; }
    void setHold(Hold hold) { m_hold = hold; }
    void setPerDevice(std::int64_t perDevice);
    void setPasses(std::int64_t passes);
    void setDevices(const QString& text, Edit edit = Edit::Single);

    // Settings of the spec that the engine does not offer, by path: of a newer version, or misspelt. Those of a choice
    // that is unknown itself are not counted, since nobody knows them.
    QStringList unknownSettings() const;
    void leaveOutUnknown();

    // Of the last validation. A problem belongs to the field that it names, and there stands beside those of the sweep;
    // what no field shows is in otherProblems(), and in those of the sweep.
    void setProblems(Problems problems);
    const Problems& problems() const { return m_problems; }
    Problems problemsAt(const QString& path) const;
    Problems otherProblems() const;
    bool isShown(const QString& path) const;    // there is a field for it
    QString noteAt(const QString& path) const;  // what a field's value brings on this machine; empty: nothing to say

    // How fast the model is in each precision, in words, of the settings that it depends on as they are now; they are
    // those of speedsAreOf() as it was asked for.
    void measure();
    void endMeasuring();  // setSpeeds() is not awaited any more
    QJsonObject speedsAreOf() const;
    void setSpeeds(const QJsonObject& of, const QString& words, Problems problems);
    void setPrecisionRemark(const QString& words);  // of the model's plan; empty: it has none

signals:
    void catalogChanged();
    void changed();  // the spec or the sweep; also by undo and redo
    void problemsChanged();
    void notesChanged();
    void measuring();  // setSpeeds() is awaited

private:
    friend class SpecEdit;
    void put(QJsonObject spec, const QString& what, const QString& mergeKey = {});
    void show(const FormState& state);

    FormCatalog m_catalog;
    FormState m_state;
    QUndoStack m_history;
    Hold m_hold = Hold::GlobalBatch;
    Problems m_problems;
    struct Speeds {
        QJsonObject of;
        QString words;
        Problems problems = {};
    };
    std::optional<Speeds> m_speeds;
    bool m_isMeasuring = false;
    QString m_precisionRemark;
    QElapsedTimer m_clock;
    int m_typing = 0;
    std::unique_ptr<SweepForm> m_sweep;
};

}  // namespace lockstep::ui
