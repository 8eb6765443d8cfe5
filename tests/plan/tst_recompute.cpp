#include <rapidcheck.h>

#include <QtTest>
#include <cstring>
#include <map>
#include <set>

#include "engine/autodiff/gradients.h"
#include "engine/backend/reference/reference_backend.h"
#include "engine/graph/graph_builder.h"
#include "engine/model/registry.h"
#include "engine/ops/all_reduce.h"
#include "engine/ops/dropout.h"
#include "engine/ops/loss.h"
#include "engine/ops/synchronised_norm.h"
#include "engine/plan/precision.h"
#include "engine/plan/recompute.h"
#include "tests/plan/program_checks.h"
#include "tests/plan/sample_programs.h"
#include "tests/support/case_inputs.h"
#include "tests/support/graph_runner.h"

using namespace lockstep;

namespace {

struct Both {
    Graph kept, recomputed;
};

Both both(const Graph& forward) {
    Both graphs{forward, {}};
    const std::vector<NodeId> differentiated = appendGradients(graphs.kept, *forward.output("loss_sum"));
    graphs.recomputed = recomputed(graphs.kept, differentiated);
    verify(graphs.recomputed);
    return graphs;
}

bool isCopy(const Node& node) { return isWithin(node.scope, kRecomputeScope); }

// By copy: the node that it repeats.
std::map<const Node*, const Node*> originals(const Graph& graph) {
    std::map<std::pair<const OpDef*, std::string>, const Node*> byScope;
    for (const Node& node : graph.nodes()) byScope[{node.op, node.scope}] = &node;
    std::map<const Node*, const Node*> found;
    for (const Node& node : graph.nodes()) {
        if (isCopy(node)) found[&node] = byScope.at({node.op, node.scope.substr(kRecomputeScope.size() + 1)});
    }
    return found;
}

HostTensor tensorFor(const Value& value, test::CaseInputs& made) {
    const Shape& shape = value.type.shape;
    if (value.name == "label") return made.labels(shape[0], sample::kClasses).tensor;
    if (value.name == "ids") return made.ids(shape[0]).tensor;
    return value.name.ends_with("running_var") ? made.positive(shape).tensor : made.normal(shape).tensor;
}

test::RunResult executed(const Graph& single) {
    const Graph graph = toPrecision(single, DType::F64);
    test::CaseInputs made("recompute");
    test::Tensors given;
    for (const Value& value : graph.values()) {
        if (value.role != ValueRole::Intermediate) given.emplace(value.name, tensorFor(value, made));
    }
    return test::runGraph(*makeReferenceBackend(), graph, given);
}

bool sameBits(const test::Tensors& a, const test::Tensors& b) {
    return std::ranges::equal(a, b, [](const auto& x, const auto& y) {
        return x.first == y.first && x.second.type() == y.second.type() &&
               std::memcmp(x.second.data(), y.second.data(), x.second.bytes()) == 0;
    });
}

std::size_t activations(const Program& program) {
    return program.arenaBytes[static_cast<std::size_t>(Arena::Activations)];
}

CompileOptions recomputing() {
    CompileOptions options;
    options.recomputes = true;
    return options;
}

void deepRows() {
    QTest::addColumn<QString>("model");
    for (const char* name : {"resnet18-cifar", "resnet164", "fashion-cnn", "vit"}) QTest::newRow(name) << name;
}

}  // namespace

class TestRecompute : public QObject {
    Q_OBJECT
private slots:
    void gradientsKeepTheirBits() {
        std::size_t copies = 0;
        QVERIFY(rc::check("random networks compute the same twice", [&] {
            const auto layers = rc::gen::container<std::vector<int>>(rc::gen::inRange(0, sample::kLayerCodes));
            const auto codes = *rc::gen::resize(24, layers);
            const Both graphs = both(sample::fromCodes(codes, 3, true, *rc::gen::arbitrary<bool>()));
            copies += originals(graphs.recomputed).size();
            const test::RunResult kept = executed(graphs.kept), again = executed(graphs.recomputed);
            RC_ASSERT(sameBits(kept.outputs, again.outputs));
            RC_ASSERT(sameBits(kept.gradients, again.gradients));
            RC_ASSERT(sameBits(kept.buffers, again.buffers));
        }));
        QVERIFY2(copies > 100, qPrintable(QString::number(copies)));
    }

    void copiesRepeatTheirNodes_data() { deepRows(); }
    void copiesRepeatTheirNodes() {
        QFETCH(QString, model);
        for (const bool synchronises : {false, true}) {
            const Graph forward = sample::model(model.toStdString(), 4, true, synchronises);
            const Both graphs = both(forward);
            const auto copied = originals(graphs.recomputed);
            QVERIFY2(5 * copied.size() > forward.nodes().size(), qPrintable(QString::number(copied.size())));
            QCOMPARE(graphs.recomputed.nodes().size(), graphs.kept.nodes().size() + copied.size());
            std::set<const Node*> once;
            for (const auto& [copy, node] : copied) {
                QVERIFY2(node->attrs == copy->attrs && once.insert(node).second, node->scope.c_str());
                for (const OpDef* op : {&kAllReduce, &kBatchNormSums, &kCrossEntropy, &kTopKCount})
                    QVERIFY(node->op != op);
            }
        }
    }

    // Otherwise what was made again would add up instead of what was kept.
    void whatIsMadeAgainIsGoneBeforeTheNextSegment_data() { deepRows(); }
    void whatIsMadeAgainIsGoneBeforeTheNextSegment() {
        QFETCH(QString, model);
        const Graph graph = both(sample::model(model.toStdString(), 4, true)).recomputed;
        std::set<ValueId> made, gone;
        bool wasCopy = false;
        int segments = 0;
        for (const Node& node : graph.nodes()) {
            if (isCopy(node) && !wasCopy) {
                ++segments;
                gone.merge(made);
            }
            for (const ValueId id : node.inputs) QVERIFY2(!gone.contains(id), node.scope.c_str());
            wasCopy = isCopy(node);
            if (wasCopy) made.insert(node.outputs.begin(), node.outputs.end());
        }
        QVERIFY2(segments >= 2, qPrintable(QString::number(segments)));
    }

    void buffersAreAssignedByFirstRuns() {
        const Both graphs = both(sample::model("resnet18-cifar", 4, true));
        QCOMPARE(graphs.recomputed.assignments().size(), graphs.kept.assignments().size());
        for (const Graph::Assignment& each : graphs.recomputed.assignments())
            QVERIFY(!isCopy(graphs.recomputed.node(*graphs.recomputed.value(each.value).producer)));
    }

    void frozenLayersDoNotRunAgain() {
        const Both graphs = both(sample::model("resnet18-cifar", 4, true, false, {"stem", "block1", "block2"}));
        const auto copied = originals(graphs.recomputed);
        QVERIFY(!copied.empty());
        for (const auto& [copy, node] : copied) {
            for (const char* layer : {"stem", "block1", "block2", "head"})
                QVERIFY2(!isWithin(node->scope, layer), layer);
        }
    }

    void programsAreLegalAndTakeLessMemory_data() { deepRows(); }
    void programsAreLegalAndTakeLessMemory() {
        QFETCH(QString, model);
        for (const bool synchronises : {false, true}) {
            const Graph forward = sample::model(model.toStdString(), 4, true, synchronises);
            const Program kept = sample::training(forward), again = sample::training(forward, recomputing());
            QCOMPARE(complaint(again), std::string());
            QCOMPARE(complaint(compileEmptyTraining(again)), std::string());
            QVERIFY2(10 * activations(again) <= 7 * activations(kept),
                     qPrintable(QString("%1 of %2").arg(activations(again)).arg(activations(kept))));
            QCOMPARE(again.storage->signature(), kept.storage->signature());
            QVERIFY(dump(again).find("\nrecompute    ") != std::string::npos);
            QVERIFY(dump(kept).find("recompute") == std::string::npos);
        }
    }

    void whatGainsNothingStaysAsItIs() {
        const Both graphs = both(sample::fromCodes({}, 4, true));
        QCOMPARE(dump(graphs.recomputed), dump(graphs.kept));
    }
};

QTEST_APPLESS_MAIN(TestRecompute)
#include "tst_recompute.moc"
