#include "engine/ops/all_reduce.h"

#include "engine/ops/rules.h"

namespace lockstep {

namespace {

std::vector<TensorType> inferAllReduce(std::span<const TensorType> in, const Attrs&) {
    expectInputs("all_reduce", in, 1);
    expectType("all_reduce", "x", in[0], {{in[0].shape.count()}, DType::F64});
    return {in[0]};
}

}  // namespace

constinit const OpDef kAllReduce{.name = "all_reduce", .infer = inferAllReduce, .isView = true};

}  // namespace lockstep
