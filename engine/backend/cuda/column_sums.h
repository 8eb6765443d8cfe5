#pragma once
#include <algorithm>

#include "engine/backend/cuda/grid.h"

namespace lockstep::cuda {

// Sums over the rows of a matrix, K for each column, in two launches: threads sum every so many rows of a column, then
// a team adds up a column's partial sums, in double. Batch norm and the gradients of biases are made of it: images with
// their channels last are matrices of pixels by channels.
struct ColumnSums {
    std::int64_t rows = 0, columns = 0, chunks = 1;

    ColumnSums(std::int64_t rowCount, std::int64_t columnCount)
        : rows(rowCount),
          columns(columnCount),
          chunks(std::clamp<std::int64_t>(kThreads / columnCount, 1, mostOf(rowCount))) {}
    std::size_t workspaceBytes(int sums, std::size_t element = sizeof(float)) const {
        return static_cast<std::size_t>(chunks * columns * sums) * element;
    }

private:
    static constexpr std::int64_t kThreads = 1 << 18;  // what keeps the largest cards busy
    static std::int64_t mostOf(std::int64_t rows) { return std::max<std::int64_t>(rows / 16, 1); }
};

// value(row, column) -> Sums<K, S>, which partial sums are kept in
template <int K, class S, class Value>
struct PartialColumnSums {
    ColumnSums shape;
    Value value;
    Sums<K, S>* partial;

    LOCKSTEP_CARD void operator()(std::int64_t i) const {
        const std::int64_t chunk = i / shape.columns, column = i % shape.columns;
        Sums<K, S> sum;
        for (std::int64_t row = chunk; row < shape.rows; row += shape.chunks) sum = sum + value(row, column);
        partial[i] = sum;
    }
};

// finish(column, Sums<K, double>), by one thread each
template <int K, class S, class Finish>
struct WholeColumnSums {
    ColumnSums shape;
    Finish finish;
    const Sums<K, S>* partial;

    LOCKSTEP_CARD void operator()(const Team<kWarp * 4>& team) const {
        const auto total = team.template sum<Sums<K, double>>(shape.chunks, [&](std::int64_t chunk) {
            const Sums<K, S>& part = partial[chunk * shape.columns + team.index()];
            Sums<K, double> wide;
            for (int k = 0; k < K; ++k) wide.at[k] = part.at[k];
            return wide;
        });
        team.once([&] { finish(team.index(), total); });
    }
};

template <int K, class S = float, class Value, class Finish>
void launchColumnSums(cudaStream_t stream, const ColumnSums& shape, std::byte* workspace, const Value& value,
                      const Finish& finish) {
    auto* const partial = reinterpret_cast<Sums<K, S>*>(workspace);
    launchElements(stream, shape.chunks * shape.columns, PartialColumnSums<K, S, Value>{shape, value, partial});
    launchTeams<kWarp * 4>(stream, shape.columns, WholeColumnSums<K, S, Finish>{shape, finish, partial});
}

}  // namespace lockstep::cuda
