#include "ui/compare/axis_order.h"

#include <QJsonArray>
#include <algorithm>

#include "ui/compare/parallel_axis.h"

namespace lockstep::ui {

namespace {

bool isShownByItself(const CompareScene& scene, std::size_t axis) {
    const CompareTable& table = *scene.table;
    return axis == table.objective || (table.axes[axis].isSetting && varies(table.axes[axis]));
}

double importanceOf(const CompareScene& scene, std::size_t axis) {
    return axis < scene.importance.size() ? scene.importance[axis] : 0;
}

// Settings, then what was measured, then the objective.
int rankOf(const CompareScene& scene, std::size_t axis) {
    if (axis == scene.table->objective) return 2;
    return scene.table->axes[axis].isSetting ? 0 : 1;
}

QJsonArray arrayOf(const auto& keys) {
    QJsonArray array;
    for (const std::string& key : keys) array.append(QString::fromStdString(key));
    return array;
}

template <class Keys>
Keys keysFrom(const QJsonValue& json) {
    Keys keys;
    for (const auto& each : json.toArray())
        if (each.isString()) keys.insert(keys.end(), each.toString().toStdString());
    return keys;
}

}  // namespace

bool isShown(const CompareScene& scene, const AxisOrder& order, std::size_t axis) {
    const std::string& key = scene.table->axes[axis].key;
    return isShownByItself(scene, axis) ? !order.away.contains(key) : order.added.contains(key);
}

// One that the person's order does not know stands where it would by itself: before the first that would follow it.
std::vector<std::size_t> shownAxes(const CompareScene& scene, const AxisOrder& order) {
    std::vector<std::size_t> shown;
    for (std::size_t axis = 0; axis < scene.table->axes.size(); ++axis)
        if (isShown(scene, order, axis)) shown.push_back(axis);
    const auto comesFirst = [&](std::size_t a, std::size_t b) {
        if (rankOf(scene, a) != rankOf(scene, b)) return rankOf(scene, a) < rankOf(scene, b);
        return importanceOf(scene, a) > importanceOf(scene, b);
    };
    std::ranges::stable_sort(shown, comesFirst);
    std::vector<std::size_t> placed;
    for (const std::string& key : order.order) {
        const auto axis = scene.table->axisOf(key);
        if (axis && std::ranges::find(shown, *axis) != shown.end()) placed.push_back(*axis);
    }
    for (const std::size_t axis : shown) {
        if (std::ranges::find(placed, axis) != placed.end()) continue;
        placed.insert(
            std::ranges::find_if(placed, [&](std::size_t other) { return rankOf(scene, other) > rankOf(scene, axis); }),
            axis);
    }
    return placed;
}

AxisOrder withMoved(const CompareScene& scene, AxisOrder order, std::size_t axis, std::size_t place) {
    std::vector<std::size_t> shown = shownAxes(scene, order);
    std::erase(shown, axis);
    shown.insert(shown.begin() + static_cast<std::ptrdiff_t>(std::min(place, shown.size())), axis);
    order.order.clear();
    for (const std::size_t each : shown) order.order.push_back(scene.table->axes[each].key);
    return order;
}

AxisOrder withFlipped(AxisOrder order, const std::string& key) {
    if (order.flipped.erase(key) == 0) order.flipped.insert(key);
    return order;
}

AxisOrder withShown(const CompareScene& scene, AxisOrder order, std::size_t axis, bool isShown) {
    const std::string& key = scene.table->axes[axis].key;
    const bool byItself = isShownByItself(scene, axis);
    auto& keys = byItself ? order.away : order.added;
    if (isShown == byItself) keys.erase(key);
    else keys.insert(key);
    return order;
}

QJsonObject jsonOf(const AxisOrder& order) {
    return {{"order", arrayOf(order.order)},
            {"flipped", arrayOf(order.flipped)},
            {"away", arrayOf(order.away)},
            {"added", arrayOf(order.added)}};
}

AxisOrder axisOrderFrom(const QJsonObject& json) {
    return {.order = keysFrom<std::vector<std::string>>(json["order"]),
            .flipped = keysFrom<std::set<std::string>>(json["flipped"]),
            .away = keysFrom<std::set<std::string>>(json["away"]),
            .added = keysFrom<std::set<std::string>>(json["added"])};
}

}  // namespace lockstep::ui
