#include "engine/ops/embedding.h"

#include "tests/support/case_inputs.h"

namespace lockstep::test {

void addEmbeddingCases(std::vector<OpCase>& cases) {
    struct Size {
        std::string name;
        std::int64_t samples, tokens, vocabulary, width;
    };
    const std::vector<Size> sizes{{"one-token", 1, 1, 3, 4},  {"odd", 2, 7, 5, 19},      {"one-word", 3, 5, 1, 8},
                                  {"narrow", 2, 9, 11, 1},    {"sparse", 2, 3, 300, 16}, {"bytes", 3, 128, 256, 96},
                                  {"blocks", 2, 33, 20, 1040}};
    for (const Size& size : sizes) {
        CaseInputs in("embedding " + size.name);
        const CaseInput tokens = in.tokens({size.samples, size.tokens}, size.vocabulary);
        OpCase forward{.name = "embedding/" + size.name, .op = &kEmbedding, .tolerance = 0};
        forward.inputs = {tokens, in.normal({size.vocabulary, size.width}, ValueRole::Parameter)};
        OpCase backward{.name = "embedding_backward/" + size.name,
                        .op = &kEmbeddingBackward,
                        .attrs = fixedAttrs(EmbeddingBackwardAttrs{size.vocabulary})};
        backward.inputs = {tokens, in.normal({size.samples, size.tokens, size.width})};
        cases.push_back(std::move(forward));
        cases.push_back(std::move(backward));
    }
}

}  // namespace lockstep::test
