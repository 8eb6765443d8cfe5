#include "ui/train/device_tiles.h"

#include <QCoreApplication>
#include <QStringList>
#include <algorithm>

namespace lockstep::ui {

namespace {

struct DeviceTilesText {
    Q_DECLARE_TR_FUNCTIONS(DeviceTilesText)
};

constexpr int kFewestCpuTiles = 4, kMostCpuTiles = 16;

QString coresText(int cores) {
    return cores == 1 ? DeviceTilesText::tr("1 core") : DeviceTilesText::tr("%1 cores").arg(cores);
}

}  // namespace

QString bytesText(double bytes) {
    if (bytes < 1024) return DeviceTilesText::tr("%1 B").arg(bytes, 0, 'f', 0);
    QStringList units{"KiB", "MiB", "GiB", "TiB"};
    for (bytes /= 1024; bytes >= 1024 && units.size() > 1; bytes /= 1024) units.removeFirst();
    return QString("%1 %2").arg(bytes, 0, 'f', 1).arg(units.first());
}

DeviceTiles::DeviceTiles(const DeviceRequest& request, const QString& text) {
    const auto choices = parseDevices(text.toStdString(), request);
    if (choices.ok()) m_choices = choices.value();
    else m_problems = choices.problems();
    m_count = static_cast<int>(m_choices.size());
    m_onCpu = m_count > 0 && m_choices.front().backend == "cpu";
    m_anyVirtual = std::ranges::any_of(m_choices, &DeviceChoice::isVirtual);
    if (m_onCpu && text.contains('x')) m_coresEach = m_choices.front().threads;
    for (const auto& info : request.available) {
        if (info.backend == "cpu") addCpuTiles(info, m_onCpu ? m_count : 0);
        if (info.backend == "cuda") addCard(info);
    }
}

void DeviceTiles::addCpuTiles(const DeviceInfo& cpu, int on) {
    m_cpuTiles = std::clamp(std::max(cpu.cores, on), kFewestCpuTiles, kMostCpuTiles);
    for (int i = 0; i < m_cpuTiles; ++i) {
        DeviceTile tile{DeviceTilesText::tr("CPU %1").arg(i + 1), {}, i < on, i >= cpu.cores};
        if (tile.on) tile.isVirtual = m_choices[static_cast<std::size_t>(i)].isVirtual;
        if (tile.on) tile.detail = coresText(m_choices[static_cast<std::size_t>(i)].threads);
        m_tiles << tile;
    }
}

void DeviceTiles::addCard(const DeviceInfo& card) {
    DeviceTile tile{QString::fromStdString(card.id), QString::fromStdString(card.name), false, false};
    if (card.memoryBytes > 0) tile.detail += ", " + bytesText(static_cast<double>(card.memoryBytes));
    for (const auto& choice : m_choices) {
        if (choice.id != card.id) continue;
        tile.on = true;
        tile.isVirtual = tile.isVirtual || choice.isVirtual;
    }
    m_tiles << tile;
}

QString DeviceTiles::cpuText(int count, int coresEach) const {
    const auto text = QString("cpu:%1").arg(std::max(count, 1));
    return coresEach > 0 ? text + 'x' + QString::number(coresEach) : text;
}

QString DeviceTiles::toggled(int tile) const {
    if (tile < m_cpuTiles) return cpuText(m_tiles[tile].on ? tile : tile + 1, m_coresEach);
    QStringList on;
    for (int i = m_cpuTiles; i < m_tiles.size(); ++i) {
        if (m_tiles[i].on != (i == tile)) on << m_tiles[i].id.section(':', 1);
    }
    if (on.isEmpty()) on << m_tiles[tile].id.section(':', 1);
    return "cuda:" + on.join(',');
}

QString DeviceTiles::withCount(int count) const {
    const bool cards = m_count > 0 && m_choices.front().backend == "cuda";
    if (!cards) {
        const auto backend = m_count > 0 && !m_onCpu ? QString::fromStdString(m_choices.front().backend) : QString();
        return backend.isEmpty() ? cpuText(count, m_coresEach) : QString("%1:%2").arg(backend).arg(std::max(count, 1));
    }
    const int present = std::max(1, static_cast<int>(m_tiles.size()) - m_cpuTiles);
    QStringList ordinals;
    for (int i = 0; i < std::max(count, 1); ++i) ordinals << QString::number(i % present);
    return "cuda:" + ordinals.join(',');
}

QString DeviceTiles::withCoresEach(int cores) const { return cpuText(m_count, cores); }

}  // namespace lockstep::ui
