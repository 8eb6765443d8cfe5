#pragma once

namespace lockstep {

enum class GradMask { None, Recomputed, FromOutput };  // where ReLU's mask comes from
// The masked gradient also goes out, or through a second norm; or another branch's gradient is added to dx.
enum class GradOther { None, Kept, Norm, Added };

}  // namespace lockstep
