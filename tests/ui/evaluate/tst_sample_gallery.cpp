#include <QLabel>
#include <QListWidget>
#include <QtTest>
#include <algorithm>

#include "ui/evaluate/sample_gallery.h"
#include "ui/style/theme.h"

using namespace lockstep;
using namespace lockstep::ui;

namespace {

// A cat that was taken for the second class.
std::shared_ptr<const Evaluation> mistaken() {
    LabelledAnswer answered;
    answered.label = 0;
    answered.answer.classes[0] = 1;
    answered.answer.probabilities[0] = 0.91f;
    auto evaluation = std::make_shared<Evaluation>();
    evaluation->answers = {answered};
    return evaluation;
}

const QListWidgetItem& shown(SampleGallery& gallery, const QStringList& classes, const AskedAbout& sample) {
    std::vector<SampleGallery::Answers> models{{QString("#1"), mistaken()}};
    gallery.setSamples("Mistakes", SampleList{0}, std::move(models), classes);
    gallery.addShown(std::vector<AskedAbout>{sample});
    return *gallery.findChild<QListWidget*>("sampleList")->item(0);
}

AskedAbout image() { return {ShownImage{1, 2, 2, "AAAAAA=="}, ""}; }  // black

}  // namespace

class TestSampleGallery : public QObject {
    Q_OBJECT
private slots:
    void initTestCase() { applyTheme(*qApp, ThemeChoice::Light); }

    void aTileSaysWhatTheSampleIsAndWhatItWasTakenFor() {
        SampleGallery gallery;
        const auto& item = shown(gallery, {"cat", "dog"}, image());
        QCOMPARE(item.text(), QString("dog 91 %\nis cat"));
        QCOMPARE(item.toolTip(), QString("Taken for dog (91 %), is cat"));
    }

    // A sample that is a file is named by its path, too.
    void theFileIsNamed() {
        SampleGallery gallery;
        AskedAbout sample = image();
        sample.file = "/photos/cat/<b>0001</b>.jpg";
        const auto& item = shown(gallery, {"cat", "dog"}, sample);
        QCOMPARE(item.toolTip(), QString("Taken for dog (91 %), is cat\n/photos/cat/<b>0001</b>.jpg"));
        const auto* chosen = gallery.findChild<QLabel*>("chosenSample");
        QCOMPARE(chosen->toolTip(), QString("/photos/cat/<b>0001</b>.jpg"));
        QVERIFY2(chosen->text().startsWith("Sample 0 is: cat\n") && chosen->text().endsWith(".jpg"),
                 qPrintable(chosen->text()));
    }

    // Short enough for the tile, whole where it is pointed at; the share is never what is left out.
    void longNamesAreCut() {
        SampleGallery gallery;
        const QStringList classes{"a long-winded name of a class of flowers", "a name that is wider than any tile"};
        const auto& item = shown(gallery, classes, image());
        const auto* list = item.listWidget();
        const QStringList lines = item.text().split('\n');
        QCOMPARE(lines.size(), 2);
        for (const QString& line : lines)
            QVERIFY2(list->fontMetrics().horizontalAdvance(line) < list->gridSize().width(), qPrintable(line));
        QVERIFY2(lines[0].startsWith("a ") && lines[0].endsWith("… 91 %"), qPrintable(lines[0]));
        QVERIFY2(lines[1].startsWith("is a long") && lines[1].endsWith("…"), qPrintable(lines[1]));
        for (const QString& name : classes) QVERIFY2(item.toolTip().contains(name), qPrintable(item.toolTip()));
    }

    // The answers stay, of a hundred samples at a time, and why there is nothing to see.
    void whatCannotBeSeenHasItsAnswers() {
        SampleGallery gallery;
        std::vector<SampleGallery::Answers> models{{QString("#1"), mistaken()}};
        gallery.setSamples("Mistakes", SampleList(130, 0), models, {"cat", "dog"});
        gallery.addUnseen("Others lie there.");
        const auto& list = *gallery.findChild<QListWidget*>("sampleList");
        QCOMPARE(list.count(), 100);
        QCOMPARE(list.item(0)->text(), QString("dog 91 %, is cat   sample 0"));
        QVERIFY(list.item(0)->icon().isNull());
        const auto says = [&gallery](const char* words) {
            const auto labels = gallery.findChildren<QLabel*>();
            return std::ranges::any_of(labels, [words](const QLabel* each) { return each->text() == words; });
        };
        QVERIFY(says("Others lie there."));
        gallery.addUnseen("Others lie there.");
        QCOMPARE(list.count(), 130);
        gallery.setSamples("Mistakes", SampleList{0}, models, {"cat", "dog"});
        gallery.addShown({image()}, "As they are today.");
        QVERIFY(says("As they are today.") && !says("Others lie there.") && !list.item(0)->icon().isNull());
    }

    void aTextSaysBothBeforeItBegins() {
        SampleGallery gallery;
        const QString text = QString("all is well ").repeated(20);
        const auto& item = shown(gallery, {"good", "bad"}, {ShownImage(), text.toStdString()});
        QVERIFY2(item.text().startsWith("bad 91 %, is good   all is well"), qPrintable(item.text()));
        QVERIFY(item.text().endsWith("…"));
        QVERIFY2(item.toolTip().startsWith("Taken for bad (91 %), is good\nall is well"), qPrintable(item.toolTip()));
        gallery.setClasses({"fine", "sad"});  // read later than the samples
        QVERIFY2(item.text().startsWith("sad 91 %, is fine   all is well"), qPrintable(item.text()));
    }
};

QTEST_MAIN(TestSampleGallery)
#include "tst_sample_gallery.moc"
