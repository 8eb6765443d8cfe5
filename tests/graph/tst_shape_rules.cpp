#include <QtTest>

#include <functional>
#include <set>

#include "engine/core/result.h"
#include "engine/graph/graph_builder.h"
#include "engine/ops/activation.h"
#include "engine/ops/attention.h"
#include "engine/ops/batch_norm.h"
#include "engine/ops/conv2d.h"
#include "engine/ops/dense.h"
#include "engine/ops/dropout.h"
#include "engine/ops/elementwise.h"
#include "engine/ops/embedding.h"
#include "engine/ops/layer_norm.h"
#include "engine/ops/loss.h"
#include "engine/ops/op_set.h"
#include "engine/ops/pixels.h"
#include "engine/ops/pool2d.h"
#include "engine/ops/tokens.h"
#include "engine/ops/update.h"

using namespace lockstep;

namespace {

using Types = std::vector<TensorType>;
using Infer = std::function<Types()>;

TensorType f32(Shape shape) { return {shape, DType::F32}; }
TensorType f64(Shape shape) { return {shape, DType::F64}; }
TensorType i32(Shape shape) { return {shape, DType::I32}; }
TensorType u8(Shape shape) { return {shape, DType::U8}; }
TensorType i64(Shape shape) { return {shape, DType::I64}; }

template <class T>
Infer infer(const OpDef& op, Types inputs, T attrs) {
    return [&op, inputs, attrs] { return op.infer(inputs, Attrs::of(attrs)); };
}

Infer infer(const OpDef& op, Types inputs) {
    return [&op, inputs] { return op.infer(inputs, {}); };
}

QString text(const Types& types) {
    QStringList parts;
    for (const TensorType& type : types) parts << QString::fromStdString(type.text());
    return parts.join(' ');
}

}  // namespace

Q_DECLARE_METATYPE(Infer)

class TestShapeRules : public QObject {
    Q_OBJECT

private slots:
    void results_data();
    void results();
    void refusals_data();
    void refusals();
    void opSetIsNamedOnceAndFound();
    void dropoutIsAFunctionOfTheSample();
    void updateRulesComeFromTheirParameters();
};

void TestShapeRules::results_data() {
    QTest::addColumn<Infer>("rule");
    QTest::addColumn<QString>("types");
    const auto row = [](const char* name, Infer rule, const char* types) {
        QTest::newRow(name) << rule << QString(types);
    };
    const TensorType x = f32({2, 6, 11, 8});
    row("conv", infer(kConv2d, {x, f32({4, 6, 3, 3})}, Conv2dAttrs{}), "f32[2x4x9x6]");
    row("conv strided", infer(kConv2d, {x, f32({4, 6, 3, 3})}, Conv2dAttrs{.stride = {2, 3}, .padding = {1, 0}}),
        "f32[2x4x6x2]");
    row("conv dilated", infer(kConv2d, {x, f32({4, 6, 3, 3})}, Conv2dAttrs{.dilation = {2, 3}}), "f32[2x4x7x2]");
    row("conv grouped", infer(kConv2d, {x, f32({4, 3, 1, 1}), f32({4})}, Conv2dAttrs{.groups = 2}), "f32[2x4x11x8]");
    row("conv in double", infer(kConv2d, {f64({1, 1, 3, 3}), f64({1, 1, 3, 3})}, Conv2dAttrs{}), "f64[1x1x1x1]");
    row("max pool", infer(kMaxPool2d, {x}, Pool2dAttrs{}), "f32[2x6x5x4] i32[2x6x5x4]");
    row("average pool", infer(kAveragePool2d, {x}, Pool2dAttrs{{3, 3}, {2, 2}, {1, 1}}), "f32[2x6x6x4]");
    row("global pool", infer(kGlobalAveragePool2d, {x}), "f32[2x6]");
    row("dense", infer(kDense, {f32({2, 3}), f32({5, 3}), f32({5})}), "f32[2x5]");
    row("norm of rows", infer(kBatchNormEval, {f32({2, 3}), f32({3}), f32({3}), f32({3}), f32({3})}, BatchNormAttrs{}),
        "f32[2x3]");
    row("norm that is frozen, backward", infer(kBatchNormEvalBackward, {x, f32({6}), f32({6})}, BatchNormAttrs{}),
        "f32[2x6x11x8]");
    row("norm in training", infer(kBatchNormTrain, {x, f32({6}), f32({6}), f32({6}), f32({6})}, BatchNormAttrs{}),
        "f32[2x6x11x8] f32[6] f32[6] f32[6] f32[6]");
    row("flatten", infer(kFlatten, {x}), "f32[2x528]");
    row("reshape", infer(kReshape, {x}, ShapeAttrs{{4, 264}}), "f32[4x264]");
    row("cast", infer(kCast, {x}, CastAttrs{DType::F64}), "f64[2x6x11x8]");
    row("fill", infer(kFill, {}, FillAttrs{f64({1}), 1}), "f64[1]");
    row("loss", infer(kCrossEntropy, {f32({2, 10}), i32({2})}, CrossEntropyAttrs{}), "f64[1] f64[1]");
    row("layer norm", infer(kLayerNorm, {f32({2, 5, 8}), f32({8}), f32({8})}, LayerNormAttrs{}),
        "f32[2x5x8] f32[2x5] f32[2x5]");
    row("gelu", infer(kGelu, {x}), "f32[2x6x11x8]");
    row("transpose", infer(kTranspose, {f32({2, 3, 5})}), "f32[2x5x3]");
    row("a row for all samples", infer(kBroadcastAdd, {f32({2, 3, 5}), f32({3, 5})}), "f32[2x3x5]");
    row("the first rows of a table", infer(kBroadcastAdd, {f32({2, 3, 5}), f32({9, 5})}), "f32[2x3x5]");
    row("pad", infer(kPad, {f32({6})}, ShapeAttrs{{3, 4}}), "f32[3x4]");
    row("mean of sequences", infer(kSequenceMean, {f32({2, 3, 5}), i32({2})}), "f32[2x5]");
    row("embedding", infer(kEmbedding, {i32({2, 7}), f32({256, 16})}), "f32[2x7x16]");
    const PixelsAttrs grey{.mean = {0.5f}, .deviation = {0.25f}},
        kept{.mean = {0.5f}, .deviation = {0.25f}, .gathers = true};
    row("images of a batch's pixels",
        infer(kPixelsToImages, {i32({5, 2 * kRecipeNumbers}), u8({5, 2, 8, 9}), f32({5})}, grey), "f32[5x1x8x9]");
    row("images of those kept", infer(kPixelsToImages, {i32({5, 2 * kRecipeNumbers}), u8({700, 1, 8, 9})}, kept),
        "f32[5x1x8x9]");
    row("embedding's gradient", infer(kEmbeddingBackward, {i32({2, 7}), f32({2, 7, 16})}, EmbeddingBackwardAttrs{256}),
        "f32[256x16]");
    row("attention to padded samples", infer(kAttention, {f32({2, 7, 24}), i32({2})}, AttentionAttrs{.heads = 4}),
        "f32[2x7x8] f32[2x4x7]");
    row("loss of tokens", infer(kCrossEntropy, {f32({2, 7, 10}), i32({2, 7})}, CrossEntropyAttrs{0, true}),
        "f64[1] f64[1]");
    row("attention", infer(kAttention, {f32({2, 7, 24})}, AttentionAttrs{.heads = 4}), "f32[2x7x8] f32[2x4x7]");
    row("top 5", infer(kTopKCount, {f32({2, 10}), i32({2})}, TopKAttrs{5}), "f64[1]");
}

void TestShapeRules::results() {
    QFETCH(Infer, rule);
    QFETCH(QString, types);
    QCOMPARE(text(rule()), types);
}

void TestShapeRules::refusals_data() {
    QTest::addColumn<Infer>("rule");
    QTest::addColumn<QString>("problem");
    const auto row = [](const char* name, Infer rule, const char* problem) {
        QTest::newRow(name) << rule << QString(problem);
    };
    const TensorType x = f32({2, 6, 4, 4}), w = f32({4, 6, 3, 3}), six = f32({6});
    row("no weight", infer(kConv2d, {x}, Conv2dAttrs{}), "graph.input-count conv2d 2 to 3 1");
    row("labels as image", infer(kConv2d, {i32({2, 6, 4, 4}), w}, Conv2dAttrs{}),
        "graph.not-float conv2d x i32[2x6x4x4]");
    row("flat image", infer(kConv2d, {f32({2, 6}), w}, Conv2dAttrs{}), "graph.rank conv2d x 4 f32[2x6]");
    row("mixed precision", infer(kConv2d, {x, f64({4, 6, 3, 3})}, Conv2dAttrs{}),
        "graph.type-mismatch conv2d w f32[4x6x3x3] f64[4x6x3x3]");
    row("bias of another size", infer(kConv2d, {x, w, six}, Conv2dAttrs{}),
        "graph.type-mismatch conv2d bias f32[4] f32[6]");
    row("other channels", infer(kConv2d, {x, f32({4, 5, 3, 3})}, Conv2dAttrs{}),
        "graph.channels conv2d 2x6x4x4 4x5x3x3 1");
    row("groups that do not divide", infer(kConv2d, {x, f32({4, 1, 3, 3})}, Conv2dAttrs{.groups = 4}),
        "graph.channels conv2d 2x6x4x4 4x1x3x3 4");
    row("window larger than the image", infer(kConv2d, {x, w}, Conv2dAttrs{.dilation = {1, 2}}),
        "graph.image-too-small conv2d 4x4 3x5 0x0");
    row("stride 0", infer(kConv2d, {x, w}, Conv2dAttrs{.stride = {0, 1}}),
        "graph.bad-attribute conv2d stride 0x1 at least 1");
    row("no groups", infer(kConv2d, {x, w}, Conv2dAttrs{.groups = 0}),
        "graph.bad-attribute conv2d groups 0 at least 1");
    row("gradient of another size",
        infer(kConv2dBackwardData, {f32({2, 4, 3, 3}), w}, Conv2dBackwardAttrs{{}, x.shape}),
        "graph.type-mismatch conv2d_backward_data dy f32[2x4x2x2] f32[2x4x3x3]");
    row("pool past the border", infer(kMaxPool2d, {x}, Pool2dAttrs{.padding = {2, 2}}),
        "graph.bad-attribute max_pool2d padding 2x2 at least 0 and smaller than the window");
    row("pool too large", infer(kAveragePool2d, {x}, Pool2dAttrs{.window = {5, 5}}),
        "graph.image-too-small average_pool2d 4x4 5x5 0x0");
    row("argmax of another size",
        infer(kMaxPool2dBackward, {f32({2, 6, 2, 2}), i32({2, 6, 4, 4})}, Pool2dBackwardAttrs{{}, x.shape}),
        "graph.type-mismatch max_pool2d_backward argmax i32[2x6x2x2] i32[2x6x4x4]");
    row("dense on images", infer(kDense, {x, f32({5, 6})}), "graph.rank dense x 2 f32[2x6x4x4]");
    row("norm of other channels", infer(kBatchNormTrain, {x, six, f32({5}), six, six}, BatchNormAttrs{}),
        "graph.type-mismatch batch_norm_train beta f32[6] f32[5]");
    row("norm without epsilon", infer(kBatchNormEval, {x, six, six, six, six}, BatchNormAttrs{.epsilon = 0}),
        "graph.bad-attribute batch_norm_eval epsilon 0 greater than 0");
    row("sum of unlike", infer(kAdd, {x, six}), "graph.type-mismatch add b f32[2x6x4x4] f32[6]");
    row("reshape of unlike", infer(kReshape, {x}, ShapeAttrs{{7}}), "graph.element-count reshape f32[2x6x4x4] 7");
    row("drop everything", infer(kDropout, {x, i64({2})}, DropoutAttrs{1.0, 1}),
        "graph.bad-attribute dropout rate 1 at least 0 and less than 1");
    row("ids of another batch", infer(kDropout, {x, i64({3})}, DropoutAttrs{}),
        "graph.type-mismatch dropout ids i64[2] i64[3]");
    row("labels of another batch", infer(kCrossEntropy, {f32({2, 3}), i32({3})}, CrossEntropyAttrs{}),
        "graph.type-mismatch cross_entropy labels i32[2] i32[3]");
    row("all smoothed away", infer(kCrossEntropy, {f32({2, 3}), i32({2})}, CrossEntropyAttrs{1}),
        "graph.bad-attribute cross_entropy smoothing 1 at least 0 and less than 1");
    row("norm of other features", infer(kLayerNorm, {f32({2, 5}), f32({5}), f32({4})}, LayerNormAttrs{}),
        "graph.type-mismatch layer_norm beta f32[5] f32[4]");
    row("layer norm without epsilon", infer(kLayerNorm, {f32({2, 5}), f32({5}), f32({5})}, LayerNormAttrs{0}),
        "graph.bad-attribute layer_norm epsilon 0 greater than 0");
    row("norm of one number", infer(kLayerNorm, {six, six, six}, LayerNormAttrs{}),
        "graph.rank layer_norm x 2 or more f32[6]");
    row("transpose of an image", infer(kTranspose, {x}), "graph.rank transpose x 3 f32[2x6x4x4]");
    row("positions of another length", infer(kBroadcastAdd, {f32({2, 3, 5}), f32({2, 5})}),
        "graph.type-mismatch broadcast_add table f32[3x5] f32[2x5]");
    row("heads that do not divide", infer(kAttention, {f32({2, 7, 24})}, AttentionAttrs{.heads = 3}),
        "graph.bad-attribute attention heads 3 a divisor of a third of 24");
    row("lengths of another batch", infer(kAttention, {f32({2, 7, 24}), i32({3})}, AttentionAttrs{}),
        "graph.type-mismatch attention lengths i32[2] i32[3]");
    row("tokens as floats", infer(kEmbedding, {f32({2, 7}), f32({256, 16})}),
        "graph.type-mismatch embedding tokens i32 of rank 2 f32[2x7]");
    const PixelsAttrs grey{.mean = {0.5f}, .deviation = {0.25f}};
    row("recipes cut off", infer(kPixelsToImages, {i32({5, kRecipeNumbers + 1}), u8({5, 1, 8, 9})}, grey),
        "graph.type-mismatch pixels_to_images recipes i32[Nx22m] i32[5x23]");
    row("pixels of other samples", infer(kPixelsToImages, {i32({5, kRecipeNumbers}), u8({4, 1, 8, 9})}, grey),
        "graph.type-mismatch pixels_to_images pixels u8[5x1xHxW] u8[4x1x8x9]");
    row("a mixture of one", infer(kPixelsToImages, {i32({5, kRecipeNumbers}), u8({5, 1, 8, 9}), f32({5})}, grey),
        "graph.bad-attribute pixels_to_images recipes 1 two for each sample where there is a lambda");
    row("channels without a mean", infer(kPixelsToImages, {i32({5, kRecipeNumbers}), u8({5, 1, 8, 9})}, PixelsAttrs{}),
        "graph.bad-attribute pixels_to_images mean 0 as many numbers as deviation has, one for each channel");
    row("a table of other features", infer(kBroadcastAdd, {f32({2, 3, 5}), f32({4, 6})}),
        "graph.type-mismatch broadcast_add table f32[4x5] f32[4x6]");
    row("pad to less", infer(kPad, {f32({6})}, ShapeAttrs{{5}}), "graph.element-count pad f32[6] 5");
    row("mean of other lengths", infer(kSequenceMean, {f32({2, 3, 5}), i32({3})}),
        "graph.type-mismatch sequence_mean lengths i32[2] i32[3]");
    row("labels of other tokens", infer(kCrossEntropy, {f32({2, 7, 3}), i32({2})}, CrossEntropyAttrs{}),
        "graph.type-mismatch cross_entropy labels i32[2x7] i32[2]");
    row("no heads", infer(kAttention, {f32({2, 7, 24})}, AttentionAttrs{.heads = 0}),
        "graph.bad-attribute attention heads 0 at least 1");
    row("attention's gradient of another length",
        infer(kAttentionBackward, {f32({2, 7, 6}), f32({2, 7, 2}), f32({2, 1, 7}), f32({2, 6, 2})}, AttentionAttrs{}),
        "graph.type-mismatch attention_backward dy f32[2x7x2] f32[2x6x2]");
    row("more than all classes", infer(kTopKCount, {f32({2, 3}), i32({2})}, TopKAttrs{4}),
        "graph.bad-attribute top_k_count k 4 between 1 and the number of classes");
}

void TestShapeRules::refusals() {
    QFETCH(Infer, rule);
    QFETCH(QString, problem);
    try {
        QFAIL(qPrintable("accepted, giving " + text(rule())));
    } catch (const ProblemError& error) {
        QString said = QString::fromStdString(error.problem().code);
        for (const std::string& arg : error.problem().args) said += ' ' + QString::fromStdString(arg);
        QCOMPARE(said, problem);
    }
}

void TestShapeRules::opSetIsNamedOnceAndFound() {
    std::set<std::string_view> names;
    for (const OpDef* op : opSet()) {
        QVERIFY(op->infer);
        QVERIFY2(names.insert(op->name).second, op->name.data());
        QCOMPARE(findOp(op->name), op);
    }
    QCOMPARE(names.size(), std::size_t{55});
    QCOMPARE(findOp("conv3d"), nullptr);
}

void TestShapeRules::dropoutIsAFunctionOfTheSample() {
    const DropoutAttrs attrs{0.3, 7}, other{0.3, 8};
    int kept = 0, differs = 0;
    for (std::uint32_t e = 0; e < 10000; ++e) {
        const bool keeps = dropoutKeeps(1, 2, attrs, 3, e);
        kept += keeps;
        differs += keeps != dropoutKeeps(1, 2, other, 3, e);
        QCOMPARE(keeps, dropoutKeeps(1, 2, attrs, 3, e));
    }
    QVERIFY2(kept > 6800 && kept < 7200, qPrintable(QString::number(kept)));           // 4.4 standard deviations
    QVERIFY2(differs > 4000 && differs < 4400, qPrintable(QString::number(differs)));  // 2 x 0.3 x 0.7
}

void TestShapeRules::updateRulesComeFromTheirParameters() {
    const UpdateEntry* sgd = findUpdateRule("sgd");
    const UpdateEntry* adamw = findUpdateRule("adamw");
    QVERIFY(sgd && adamw && !findUpdateRule("adam"));
    const auto plain = ParamValues::from(sgd->params, {{"momentum", 0.0}, {"clip_norm", 1.5}}, "optimizer");
    const UpdateRule rule = sgd->make(plain.value());
    QCOMPARE(rule.stateCount(), 0);
    QCOMPARE(describe(rule), std::string("sgd momentum=0 weight_decay=0 clip_norm=1.5"));
    QCOMPARE(sgd->make(ParamValues(sgd->params)).stateCount(), 1);
    const UpdateRule adam = adamw->make(ParamValues(adamw->params));
    QCOMPARE(adam.stateCount(), 2);
    QCOMPARE(adam.stateName(1), std::string_view("exp_avg_sq"));
    QCOMPARE(adam.weightDecay, 0.01);
    QVERIFY(!ParamValues::from(adamw->params, {{"beta2", 1.0}}, "optimizer").ok());
    const UpdateEntry &lars = *findUpdateRule("lars"), &muon = *findUpdateRule("muon");
    QCOMPARE(describe(lars.make(ParamValues(lars.params))),
             std::string("lars momentum=0.9 trust=0.001 weight_decay=0.0005"));
    QCOMPARE(
        describe(muon.make(ParamValues(muon.params))),
        std::string("muon momentum=0.95 nesterov adam_share=0.015 beta1=0.9 beta2=0.95 epsilon=1e-10 weight_decay=0"));
    QCOMPARE(muon.make(ParamValues(muon.params)).stateCount(), 2);
    QCOMPARE(muon.make(ParamValues(muon.params)).stateName(0), std::string_view("momentum"));
    QCOMPARE(lars.make(ParamValues(lars.params)).stateName(0), std::string_view("momentum"));
}

QTEST_APPLESS_MAIN(TestShapeRules)
#include "tst_shape_rules.moc"
