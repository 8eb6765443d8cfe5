#pragma once
#include "engine/backend/cuda/column_sums.h"

namespace lockstep::cuda {

// The sum of squares in double, of a slice seen as one column.
template <class T>
struct Square {
    const T* x;
    LOCKSTEP_CARD Sums<1, double> operator()(std::int64_t row, std::int64_t) const {
        const double value = x[row];
        return {{value * value}};
    }
};

}  // namespace lockstep::cuda
