#include "ui/style/motion_preference.h"

#include <QDBusArgument>
#include <QDBusConnection>
#include <QDBusMessage>
#include <QDBusPendingCallWatcher>
#include <QDBusPendingReply>
#include <QMap>
#include <QStringList>

namespace lockstep::ui {

namespace {

constexpr auto kService = "org.freedesktop.portal.Desktop", kPath = "/org/freedesktop/portal/desktop",
               kInterface = "org.freedesktop.portal.Settings";
constexpr auto kAnyDesktop = "org.freedesktop.appearance", kGnome = "org.gnome.desktop.interface",
               kPlasma = "org.kde.kdeglobals.KDE";

}  // namespace

// Without the variable there is no session to ask, and D-Bus would start one.
MotionPreference::MotionPreference(QObject* parent) : QObject(parent) {
    if (!qEnvironmentVariableIsSet("DBUS_SESSION_BUS_ADDRESS")) return;
    QDBusConnection bus = QDBusConnection::sessionBus();
    bus.connect(kService, kPath, kInterface, "SettingChanged", this, SLOT(take(QString, QString, QDBusVariant)));
    QDBusMessage question = QDBusMessage::createMethodCall(kService, kPath, kInterface, "ReadAll");
    question << QStringList{kAnyDesktop, kGnome, kPlasma};
    auto* answer = new QDBusPendingCallWatcher(bus.asyncCall(question), this);
    connect(answer, &QDBusPendingCallWatcher::finished, this, &MotionPreference::takeAll);
}

std::optional<bool> MotionPreference::reducedBy(const QString& group, const QString& key, const QVariant& value) {
    if (group == kAnyDesktop && key == "reduced-motion") return value.toUInt() == 1;
    if (group == kGnome && key == "enable-animations") return !value.toBool();
    if (group == kPlasma && key == "AnimationDurationFactor") return value.toDouble() == 0;
    return std::nullopt;
}

void MotionPreference::takeAll(QDBusPendingCallWatcher* answer) {
    answer->deleteLater();
    if (answer->isError() || answer->reply().arguments().isEmpty()) return;
    const auto groups =
        qdbus_cast<QMap<QString, QVariantMap>>(answer->reply().arguments().first().value<QDBusArgument>());
    bool isReduced = false;
    for (auto group = groups.begin(); group != groups.end(); ++group)
        for (auto each = group->begin(); each != group->end(); ++each)
            isReduced |= reducedBy(group.key(), each.key(), each.value()).value_or(false);
    say(isReduced);
}

void MotionPreference::take(const QString& group, const QString& key, const QDBusVariant& value) {
    say(reducedBy(group, key, value.variant()));
}

void MotionPreference::say(std::optional<bool> isReduced) {
    if (isReduced.value_or(m_isReduced) == m_isReduced) return;
    m_isReduced = *isReduced;
    emit changed();
}

}  // namespace lockstep::ui
