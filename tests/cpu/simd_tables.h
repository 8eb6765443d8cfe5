#pragma once
#include <QtTest>

#include "engine/backend/cpu/simd/table.h"

namespace lockstep::cpu {

// A row of a test for each instruction set that this processor can run, and the table of the row at hand.
inline void addSimdTables() {
    QTest::addColumn<int>("index");
    const auto all = allSimd();
    for (std::size_t i = 0; i < all.size(); ++i) {
        if (all[i]) QTest::newRow(all[i]->name) << static_cast<int>(i);
    }
}

inline const SimdTable& table() {
    QFETCH(int, index);
    return *allSimd()[static_cast<std::size_t>(index)];
}

}  // namespace lockstep::cpu
