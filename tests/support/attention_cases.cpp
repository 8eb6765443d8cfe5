#include "engine/ops/attention.h"

#include "engine/backend/reference/reference_backend.h"
#include "tests/support/case_inputs.h"

namespace lockstep::test {

namespace {

struct Size {
    std::string name;
    std::int64_t samples, tokens, width;  // width: of one head
    int heads;
};

// Large scores cost a float a digit before they go through the exponential.
void add(std::vector<OpCase>& cases, const Size& size, bool causal, double scale,
         const std::vector<int>& lengths = {}) {
    const std::string name = size.name + (causal ? "-causal" : "") + (lengths.empty() ? "" : "-padded");
    const AttentionAttrs attrs{size.heads, causal};
    const std::int64_t channels = size.heads * size.width;
    CaseInputs in("attention " + name);
    const CaseInput qkv = in.normal({size.samples, size.tokens, 3 * channels}, ValueRole::Input, scale);
    const Shape y{size.samples, size.tokens, channels}, statistics{size.samples, size.heads, size.tokens};
    OpCase forward{.name = "attention/" + name, .op = &kAttention, .attrs = fixedAttrs(attrs)};
    forward.tolerance = scale > 1 ? 1e-4 : 1e-5;
    forward.inputs = {qkv};
    OpCase backward{.name = "attention_backward/" + name, .op = &kAttentionBackward, .attrs = fixedAttrs(attrs)};
    backward.tolerance = forward.tolerance;
    CaseInput logSumExp = in.normal(statistics, ValueRole::Input, 1, 4);
    // With any other but its own, large scores make weights above one, which half precision cannot hold.
    if (scale > 1) logSumExp.tensor = runCase(*makeReferenceBackend(), forward).at(1);
    backward.inputs = {qkv, in.normal(y), CaseInputs::statistic(logSumExp), in.normal(y)};
    if (!lengths.empty()) {
        forward.inputs.push_back(CaseInputs::labelsGiven(lengths));
        backward.inputs.push_back(CaseInputs::labelsGiven(lengths));
    }
    cases.push_back(std::move(forward));
    cases.push_back(std::move(backward));
}

}  // namespace

void addAttentionCases(std::vector<OpCase>& cases) {
    const std::vector<Size> sizes{{"one-token", 2, 1, 8, 2},    {"one-feature", 1, 3, 1, 1},
                                  {"odd", 2, 7, 5, 3},          {"one-head", 1, 17, 24, 1},
                                  {"vit", 2, 64, 64, 4},        {"one-more-than-a-tile", 1, 65, 16, 2},
                                  {"two-tiles", 1, 128, 32, 1}, {"odd-tiles", 2, 150, 20, 2},
                                  {"wide-head", 1, 70, 130, 1}, {"many-tiles", 1, 300, 16, 1}};
    for (const Size& size : sizes)
        for (const bool causal : {false, true}) add(cases, size, causal, 1);
    for (const bool causal : {false, true}) {
        add(cases, {"odd", 3, 7, 5, 3}, causal, 1, {7, 1, 4});
        add(cases, {"tiles", 4, 150, 20, 2}, causal, 1, {64, 65, 150, 3});
    }
    add(cases, {"peaked", 1, 80, 16, 1}, true, 3);
}

}  // namespace lockstep::test
