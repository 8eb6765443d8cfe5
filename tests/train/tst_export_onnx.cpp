#include <QtTest>

#include <algorithm>
#include <cmath>
#include <opencv2/dnn.hpp>

#include "engine/core/error.h"
#include "engine/train/evaluate.h"
#include "engine/train/export_onnx.h"
#include "engine/train/predict.h"
#include "tests/support/long_tests.h"
#include "tests/train/train_fixture.h"

using namespace lockstep;

namespace {

constexpr int kSamples = 2, kClasses = 4;
constexpr int kMostSide = 32;  // of photographs, too: quicker, and the same operations

// OpenCV 4.6 has no products of two inputs and no bounds of a clip that are tensors, as ONNX has had them since
// opset 11.
bool takesOpenCv(const ModelEntry& model) {
    return model.task == ModelTask::ImageClasses && model.name != "vit" && model.name != "mobilenet-v2";
}

// Those with half a gigabyte of weights have what the smaller ones have.
bool isHeavy(const ModelEntry& model) { return model.name.starts_with("vgg") && !model.name.ends_with("-cifar"); }

std::string device() { return hasCpuBackend() ? "cpu:1" : "reference:1"; }

ImageShape shapeFor(const ModelEntry& model) {
    return {model.usual.channels, std::min(model.usual.height, kMostSide), std::min(model.usual.width, kMostSide)};
}

// After an update, so that running statistics and biases are not those of a new model.
Checkpoint trainedCheckpoint(const std::string& model, const DatasetSplits& data) {
    const QTemporaryDir folder;
    RunRequest request;
    request.spec = smallSpec(model, device());
    request.spec.batch = kSamples;
    request.spec.epochs = 1;
    request.spec.learningRate = 1e-3;
    request.spec.optimizer = {"sgd", {{"momentum", 0.0}}};  // nothing else is written, and that once
    request.spec.keepCheckpoints = "last";
    request.data = data;
    request.options.checkpointFolder = folder.path().toStdString();
    run(std::move(request));
    return readCheckpoint(folder.filePath("last.safetensors").toStdString()).value();
}

// [N,C,H,W], pixels of 0 to 1, or as the model was trained on them.
cv::Mat imagesOf(const Dataset& data, bool normalised) {
    const DatasetInfo& info = data.info();
    const ImageShape shape = info.image();
    const auto pixels = static_cast<std::size_t>(shape.height * shape.width);
    cv::Mat images(std::vector<int>{kSamples, static_cast<int>(shape.channels), static_cast<int>(shape.height),
                                    static_cast<int>(shape.width)},
                   CV_32F);
    auto* into = images.ptr<float>();
    std::vector<std::byte> read(pixels * static_cast<std::size_t>(shape.channels)), label(sizeof(std::int32_t));
    for (int sample = 0; sample < kSamples; ++sample) {
        data.read(sample, std::vector<std::span<std::byte>>{read, label});
        for (std::size_t i = 0; i < read.size(); ++i) {
            const float pixel = static_cast<float>(std::to_integer<int>(read[i])) / 255;
            const std::size_t channel = i / pixels;
            *into++ = normalised ? (pixel - info.mean[channel]) / info.deviation[channel] : pixel;
        }
    }
    return images;
}

// Log-probabilities of OpenCV's logits, by class.
std::vector<double> logProbabilities(const cv::Mat& logits, int sample) {
    std::vector<double> row(logits.ptr<float>(sample), logits.ptr<float>(sample) + kClasses);
    const double highest = *std::ranges::max_element(row);
    double sum = 0;
    for (const double each : row) sum += std::exp(each - highest);
    for (double& each : row) each -= highest + std::log(sum);
    return row;
}

// The largest of log-probabilities, relative to the largest of them; of classes that have any.
double difference(const Answer& ours, const cv::Mat& theirs, int sample) {
    const std::vector<double> expected = logProbabilities(theirs, sample);
    double largest = 1, difference = 0;
    for (std::size_t rank = 0; rank < kClasses; ++rank) {
        const double theirOwn = expected[static_cast<std::size_t>(ours.classes[rank])];
        if (ours.probabilities[rank] <= 0) continue;
        largest = std::max(largest, std::abs(theirOwn));
        difference = std::max(difference, std::abs(std::log(static_cast<double>(ours.probabilities[rank])) - theirOwn));
    }
    return difference / largest;
}

}  // namespace

// Exported models, run by a program that shares nothing with ours: OpenCV's dnn.
class TstExportOnnx : public QObject {
    Q_OBJECT

private slots:
    void openCvAnswersTheSame_data() {
        QTest::addColumn<QString>("model");
        for (const ModelEntry& model : builtinModels()) {
            if (takesOpenCv(model) && (!isHeavy(model) || test::isLong()))
                QTest::newRow(model.name.c_str()) << QString::fromStdString(model.name);
        }
    }
    void openCvAnswersTheSame() {
        QFETCH(QString, model);
        const std::string id = model.toStdString();
        const DatasetSplits data = patterns(kSamples, kSamples, shapeFor(*findModel(builtinModels(), id)), kClasses);
        const Checkpoint checkpoint = trainedCheckpoint(id, data);
        const ResolvedSpec resolved = lockstep::resolved(specToEvaluate(checkpoint.spec, device()));
        const PredictResult ours = predict({resolved, checkpoint, *checkpoint.trainedOn, data.test, 64});
        for (const bool folds : {false, true}) {
            const bool normalises = !folds;
            const QTemporaryDir folder;
            const std::string file = folder.filePath("model.onnx").toStdString();
            exportOnnx(checkpoint, resolved, *checkpoint.trainedOn, {folds, normalises}, file);
            cv::dnn::Net net = cv::dnn::readNetFromONNX(file);
            net.setInput(imagesOf(*data.test, !normalises));
            const cv::Mat theirs = net.forward();
            QCOMPARE(theirs.size[0], kSamples);
            QCOMPARE(theirs.size[1], kClasses);
            for (int sample = 0; sample < kSamples; ++sample) {
                const double error = difference(*ours.answers[static_cast<std::size_t>(sample)], theirs, sample);
                QVERIFY2(error <= 1e-4,
                         qPrintable(QString("sample %1: %2, folds %3").arg(sample).arg(error).arg(folds)));
            }
        }
    }
};

QTEST_GUILESS_MAIN(TstExportOnnx)
#include "tst_export_onnx.moc"
