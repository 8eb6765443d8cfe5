#include <QApplication>
#include <QMouseEvent>
#include <QWheelEvent>
#include <QtTest>
#include <cmath>

#include "ui/evaluate/calibration_view.h"
#include "ui/evaluate/cell_color.h"
#include "ui/evaluate/class_scores_view.h"
#include "ui/evaluate/confusion_view.h"
#include "ui/evaluate/evaluation_text.h"
#include "ui/evaluate/sample_lists.h"
#include "ui/style/contrast.h"
#include "ui/style/theme.h"

using namespace lockstep;
using namespace lockstep::ui;

namespace {

LabelledAnswer answered(std::int32_t label, std::int32_t answer, float probability) {
    LabelledAnswer out;
    out.label = label;
    out.answer.classes[0] = answer;
    out.answer.probabilities[0] = probability;
    return out;
}

Evaluation evaluationOf(std::vector<LabelledAnswer> answers) {
    Evaluation out;
    out.data = "synthetic";
    out.split = "test";
    out.answers = std::move(answers);
    return out;
}

ConfusionMatrix matrixOf(std::int64_t classes, std::initializer_list<ConfusionMatrix::Cell> cells) {
    ConfusionMatrix matrix(classes);
    for (const auto& cell : cells) matrix.at(cell.label, cell.answer) = cell.count;
    return matrix;
}

void pointAt(const ConfusionView& view, const QPointF& at) {
    QMouseEvent move(QEvent::MouseMove, at, view.viewport()->mapToGlobal(at), Qt::NoButton, Qt::NoButton,
                     Qt::NoModifier);
    QApplication::sendEvent(view.viewport(), &move);
}

void enlarge(const ConfusionView& view) {
    for (int i = 0; i < 5; ++i) {
        QWheelEvent wheel({50, 50}, view.viewport()->mapToGlobal(QPointF(50, 50)), {}, {0, 120}, Qt::NoButton,
                          Qt::ControlModifier, Qt::NoScrollPhase, false);
        QApplication::sendEvent(view.viewport(), &wheel);
    }
}

}  // namespace

class TestSampleLists : public QObject {
    Q_OBJECT
private slots:
    void initTestCase() { applyTheme(*qApp, ThemeChoice::Light); }

    void aCellHasItsSamplesTheSurestFirst() {
        const std::vector answers{answered(0, 1, 0.5f), answered(0, 1, 0.9f), answered(0, 0, 0.8f),
                                  answered(1, 1, 0.7f), answered(-1, -1, 0)};
        QCOMPARE(samplesOfCell(answers, 0, 1), (SampleList{1, 0}));
        QCOMPARE(samplesOfCell(answers, 1, 1), SampleList{3});
        QCOMPARE(samplesOfCell(answers, 1, 0), SampleList{});
        QCOMPARE(mistakes(answers), (SampleList{1, 0}));  // one without an answer is no mistake
        QCOMPARE(mistakes(answers, 1), SampleList{});
    }

    void everySampleIsInOneOfFourLists() {
        const auto first = evaluationOf({answered(0, 0, 0.6f), answered(0, 0, 0.9f), answered(1, 0, 0.5f),
                                         answered(1, 0, 0.4f), answered(1, 1, 0.7f)});
        const auto second = evaluationOf({answered(0, 0, 0.6f), answered(0, 1, 0.9f), answered(1, 1, 0.3f),
                                          answered(1, 0, 0.4f), answered(1, 0, 0.8f)});
        const auto both = compareAnswers(first, second);
        QVERIFY(both);
        QCOMPARE(both->bothRight, SampleList{0});
        QCOMPARE(both->onlyFirst, (SampleList{1, 4}));
        QCOMPARE(both->onlySecond, SampleList{2});
        QCOMPARE(both->bothWrong, SampleList{3});
    }

    void otherSamplesAreNotCompared() {
        const auto first = evaluationOf({answered(0, 0, 1)});
        auto other = first;
        other.split = "train";
        QVERIFY(!compareAnswers(first, other));
        QVERIFY(!compareAnswers(first, evaluationOf({answered(1, 0, 1)})));
        QVERIFY(!compareAnswers(first, evaluationOf({answered(0, 0, 1), answered(0, 0, 1)})));
        QVERIFY(!compareAnswers(evaluationOf({}), evaluationOf({})));
    }

    void theMostConfusedClassesComeFirst() {
        const auto matrix = matrixOf(4, {{0, 0, 9}, {1, 1, 5}, {1, 3, 4}, {2, 3, 1}, {3, 3, 2}});
        QCOMPARE(classesInOrder(matrix, ClassOrder::AsTheyAre), (std::vector<std::int64_t>{0, 1, 2, 3}));
        QCOMPARE(classesInOrder(matrix, ClassOrder::MostConfused), (std::vector<std::int64_t>{3, 1, 2, 0}));
        QCOMPARE(classesInOrder(matrix, ClassOrder::MostConfused, 2), (std::vector<std::int64_t>{3, 1}));
    }

    void aCellIsChosenByMouseAndKeys() {
        ConfusionView view;
        view.resize(500, 500);
        view.show();
        view.setMatrix(matrixOf(3, {{0, 0, 5}, {1, 2, 3}}), {"cat", "dog", "cow"});
        QSignalSpy chosen(&view, &ConfusionView::cellChosen);
        QTest::mouseClick(view.viewport(), Qt::LeftButton, {}, view.rectOf({1, 2}).center());
        QCOMPARE(chosen.count(), 1);
        QVERIFY(view.chosen() == (ConfusionView::Cell{1, 2}));
        QVERIFY2(view.accessibleDescription().contains("dog taken for cow: 3 of 3"),
                 qPrintable(view.accessibleDescription()));
        QTest::keyClick(&view, Qt::Key_Left);
        QVERIFY(view.chosen() == (ConfusionView::Cell{1, 1}));
        QTest::keyClick(&view, Qt::Key_Down);
        QTest::keyClick(&view, Qt::Key_Down);  // the last row stays
        QVERIFY(view.chosen() == (ConfusionView::Cell{2, 1}));
        view.setMatrix(matrixOf(2, {}), {"cat", "dog"});
        QVERIFY(!view.chosen());  // it is not there any more
    }

    // In both themes, however strong the colour beneath them; and strong ones are no theme's usual ground for text.
    void numbersOfCellsAreReadable() {
        for (const Theme* theme : {&lightTheme(), &darkTheme()}) {
            QCOMPARE(cellColor(true, 0, *theme), theme->surface);
            for (const bool isRight : {true, false}) {
                for (int percent = 0; percent <= 100; ++percent) {
                    const QColor ground = cellColor(isRight, percent / 100.0, *theme);
                    const double ratio = contrastRatio(readableOn(ground, theme->text), ground);
                    QVERIFY2(ratio >= kReadableContrast, qPrintable(QString("%1 %: %2").arg(percent).arg(ratio)));
                }
            }
        }
        QVERIFY(contrastRatio(darkTheme().text, cellColor(true, 1, darkTheme())) < kReadableContrast);
    }

    // As many classes as there are, and the keys scroll to what is chosen.
    void twoHundredClassesAreDrawnAndScrolled() {
        ConfusionMatrix matrix(200);
        for (std::int64_t id = 0; id < 200; ++id) matrix.at(id, (id * 7) % 200) = id;
        ConfusionView view;
        view.resize(400, 400);
        view.show();
        view.setMatrix(matrix, {});
        view.choose(ConfusionView::Cell{0, 0});
        for (int i = 0; i < 199; ++i) QTest::keyClick(&view, i % 2 == 0 ? Qt::Key_Down : Qt::Key_Right);
        for (int i = 0; i < 200; ++i) QTest::keyClick(&view, Qt::Key_Down);
        QVERIFY(view.chosen() == (ConfusionView::Cell{199, 99}));
        QVERIFY(view.viewport()->rect().contains(view.rectOf({199, 99}).center()));
        QVERIFY(!view.grab().isNull());
    }

    // Where names have no room, a line says how to see them, and then the cell's.
    void whatIsPointedAtIsTold() {
        ConfusionView view;
        view.resize(400, 400);
        view.show();
        QSignalSpy told(&view, &ConfusionView::toldChanged);
        view.setMatrix(matrixOf(3, {{1, 2, 3}, {1, 1, 1}}), {"cat", "dog", "cow"});
        QCOMPARE(view.told(), QString());  // the names are there
        ConfusionMatrix large(200);
        large.at(3, 21) = 3;
        large.at(3, 3) = 1;
        QStringList classes;
        for (int id = 0; id < 200; ++id) classes << QString("class %1").arg(id);
        view.setMatrix(large, classes);
        QVERIFY(told.takeLast()[0].toString().contains("Ctrl"));
        pointAt(view, view.rectOf({3, 21}).center());
        QCOMPARE(told.takeLast()[0].toString(), QString("class 3 taken for class 21: 3 of 4 samples (75.00 %)"));
        view.choose(ConfusionView::Cell{3, 3});
        QEvent leaves(QEvent::Leave);
        QApplication::sendEvent(view.viewport(), &leaves);
        QVERIFY2(view.told().startsWith("class 3: 1 of 4"), qPrintable(view.told()));
        view.choose(std::nullopt);
        QVERIFY(view.told().contains("Ctrl"));
    }

    void anotherMatrixIsNotEnlarged() {
        ConfusionView view;
        view.resize(400, 400);
        view.show();
        const ConfusionMatrix large(200);
        view.setMatrix(large, {});
        const QRect usual = view.rectOf({0, 0});
        enlarge(view);
        QVERIFY(view.rectOf({0, 0}).width() > usual.width());
        view.setMatrix(large, {});  // the same trial, another epoch
        QVERIFY(view.rectOf({0, 0}).width() > usual.width());
        view.setMatrix(std::nullopt, {});  // another trial is read
        view.setMatrix(large, {});
        QCOMPARE(view.rectOf({0, 0}), usual);
        view.setMatrix(ConfusionMatrix(20), {});
        const QRect smaller = view.rectOf({0, 0});
        view.setMatrix(large, {});
        enlarge(view);
        view.setMatrix(ConfusionMatrix(20), {});
        QCOMPARE(view.rectOf({0, 0}), smaller);
    }

    // As the table of trials calls data; a folder by its path, too.
    void anEvaluationNamesItsData() {
        Evaluation each;
        each.checkpoint = "best", each.epoch = 3, each.split = "test", each.createdAt = "2026-11-25T10:00:07.000Z";
        each.dataset = each.data = "fashion-mnist";
        QCOMPARE(nameOf(each), QString("Best checkpoint, epoch 3, test of fashion-mnist, 2026-11-25 10:00 UTC"));
        each.precision = "bf16";
        QVERIFY2(nameOf(each).contains("test of fashion-mnist in bf16, 2026"), qPrintable(nameOf(each)));
        each.precision.clear();
        each.dataset = "image-folder", each.data = "/photos";
        QVERIFY2(nameOf(each).contains("test of image-folder /photos,"), qPrintable(nameOf(each)));
        each.dataset.clear();
        QVERIFY2(nameOf(each).contains("test of /photos,"), qPrintable(nameOf(each)));
    }

    // Also where nothing can be divided: classes without samples or answers.
    void scoresAndBinsWithoutNumbersAreDrawn() {
        ClassScoresView scores;
        scores.setScores({{0, std::nan(""), std::nan(""), std::nan("")}, {4, 0.5, 1, 0.67}}, {"none", "some"});
        QSignalSpy chosen(&scores, &ClassScoresView::classChosen);
        QTest::keyClick(&scores, Qt::Key_Down);
        QCOMPARE(chosen.takeFirst()[0].toLongLong(), 1);  // the worst first of those that have samples
        QVERIFY(!scores.grab().isNull());
        CalibrationView bins;
        bins.setBins(std::vector<CalibrationBin>(15));
        QVERIFY(!bins.grab().isNull());
    }
};

QTEST_MAIN(TestSampleLists)
#include "tst_sample_lists.moc"
