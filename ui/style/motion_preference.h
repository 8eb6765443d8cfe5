#pragma once
#include <QDBusVariant>
#include <QObject>
#include <QString>
#include <QVariant>
#include <optional>

class QDBusPendingCallWatcher;

namespace lockstep::ui {

// Whether the desktop asks for less motion: then nothing moves for its own sake. The settings portal of the desktop
// (org.freedesktop.portal.Settings) is asked once, without waiting for it, and followed; until it has answered, and
// where there is none, the answer is no. GUI thread.
class MotionPreference : public QObject {
    Q_OBJECT
public:
    explicit MotionPreference(QObject* parent = nullptr);

    bool isReduced() const { return m_isReduced; }

    // What a setting of the portal says of it; empty: it speaks of something else.
    static std::optional<bool> reducedBy(const QString& group, const QString& key, const QVariant& value);

signals:
    void changed();

private slots:
    void take(const QString& group, const QString& key, const QDBusVariant& value);

private:
    void takeAll(QDBusPendingCallWatcher* answer);
    void say(std::optional<bool> isReduced);

    bool m_isReduced = false;
};

}  // namespace lockstep::ui
