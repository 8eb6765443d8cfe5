#pragma once
#include <QString>
#include <QVector>

#include "engine/spec/devices.h"
#include "ui/train/problem_list.h"

namespace lockstep::ui {

struct DeviceTile {
    QString id, detail;  // "CPU 1", "1 core"; "cuda:0", "NVIDIA H200, 139.8 GiB"
    bool on = false, isVirtual = false;
};

// A spec's device text as tiles to switch on and off: those of the CPU form a row whose first N are on, cards are on or
// off each for itself. Text that tiles cannot express ("reference:2", "cuda:0,0") is understood and counted all the
// same.
class DeviceTiles {
public:
    DeviceTiles(const DeviceRequest& request, const QString& text);

    const QVector<DeviceTile>& tiles() const { return m_tiles; }
    int count() const { return m_count; }          // devices of the run; 0: the text is wrong
    int coresEach() const { return m_coresEach; }  // "cpu:2x1": 1; 0: they share the cores evenly
    bool onCpu() const { return m_onCpu; }
    bool anyVirtual() const { return m_anyVirtual; }
    const Problems& problems() const { return m_problems; }

    // The device text after a click on a tile. A CPU tile that is off takes those before it along; one that is on goes
    // off with those behind it; the last device stays.
    QString toggled(int tile) const;
    QString withCount(int count) const;  // CPU: that many devices; cards: the first ones
    QString withCoresEach(int cores) const;

private:
    void addCpuTiles(const DeviceInfo& cpu, int on);
    void addCard(const DeviceInfo& card);
    QString cpuText(int count, int coresEach) const;

    QVector<DeviceTile> m_tiles;
    std::vector<DeviceChoice> m_choices;
    int m_count = 0, m_coresEach = 0, m_cpuTiles = 0;
    bool m_onCpu = false, m_anyVirtual = false;
    Problems m_problems;
};

QString bytesText(double bytes);  // "1.4 GiB"

}  // namespace lockstep::ui
