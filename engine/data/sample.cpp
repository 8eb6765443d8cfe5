#include "engine/data/sample.h"

namespace lockstep {

Sample::Sample(const Dataset& data)
    : m_data(data),
      m_layout(data.info().fields, 1),
      m_memory({Shape{static_cast<std::int64_t>(m_layout.bytes())}, DType::U8}) {
    for (std::size_t f = 0; f < m_layout.fields().size(); ++f) m_room.push_back(m_layout.place(m_memory.data(), f, 0));
}

const Sample& Sample::read(std::int64_t index) {
    m_data.read(index, m_room);
    return *this;
}

}  // namespace lockstep
