#include "ui/views/dataset_card.h"

#include <QFileDialog>
#include <QFileInfo>
#include <QHBoxLayout>
#include <QJsonArray>
#include <QPushButton>

#include "ui/style/theme.h"
#include "ui/views/sample_images.h"

namespace lockstep::ui {

namespace {

qint64 total(const QJsonArray& counts) {
    qint64 sum = 0;
    for (const auto& count : counts) sum += count.toInteger();
    return sum;
}

}  // namespace

DatasetCard::DatasetCard(SpecForm& form, FormAnswers& answers, const Explain& explain, QWidget* parent)
    : QWidget(parent), m_form(form), m_answers(answers), m_explain(explain) {
    auto* outer = new QVBoxLayout(this);
    outer->setContentsMargins(0, 0, 0, 0);
    auto* card = addCard(*outer, "Dataset");
    card->addWidget(new ChoiceForm(form, "dataset", explain));
    card->addWidget(makePathRow());
    m_notice = mutedLabel({});
    m_notice->hide();
    m_problem = new ProblemLabel;
    m_summary = new QLabel;
    m_summary->setWordWrap(true);
    m_warnings = mutedLabel({});
    m_images = new SampleImages;
    m_bars = new ClassBars;
    m_augmentation = new FieldList(form, explain);
    for (QWidget* each : std::initializer_list<QWidget*>{m_notice, m_problem, m_summary, m_images, m_bars, m_warnings})
        card->addWidget(each);
    auto* heading = new QLabel("Augmentation");
    heading->setProperty("role", "heading");
    heading->setToolTip("Random changes to each image every time it is seen, so that the network learns what matters.");
    card->addWidget(heading);
    card->addWidget(m_augmentation);
    connect(&answers, &FormAnswers::samplesChanged, this, [this] { showSamples(); });
    connect(&form, &SpecForm::problemsChanged, this, [this] { showSamples(); });
    connect(&form, &SpecForm::changed, this, [this] { showPath(); });
    connect(&form, &SpecForm::catalogChanged, this, [this] { m_augmentation->setFields(m_form.fields("augmentation")); });
    showPath();
    showSamples();
}

QWidget* DatasetCard::makePathRow() {
    auto* row = new QWidget;
    auto* layout = new QHBoxLayout(row);
    layout->setContentsMargins(0, 0, 0, 0);
    m_path = new QLineEdit;
    m_path->setObjectName("dataset.path");
    m_path->setAccessibleName("Folder of the dataset");
    m_path->setToolTip("Where the data lies. Empty: the place where its package puts it.");
    auto* choose = new QPushButton("Choose…");
    choose->setToolTip("Choose a folder; its format is recognised. You can also drop a folder or file on this page.");
    choose->setAccessibleName("Choose the dataset's folder");
    layout->addWidget(m_path, 1);
    layout->addWidget(choose);
    connect(m_path, &QLineEdit::editingFinished, this, [this] {
        if (m_form.value("dataset.path").toString() != m_path->text()) m_form.setValue("dataset.path", m_path->text());
    });
    connect(choose, &QPushButton::clicked, this, [this] {
        const auto folder = QFileDialog::getExistingDirectory(this, "Folder with images or dataset files", m_path->text());
        if (!folder.isEmpty()) take(folder);
    });
    return row;
}

void DatasetCard::take(const QString& path) {
    m_notice->setText("Looking at " + path + " …");
    m_notice->show();
    m_answers.inspect(path, [this, path](const EngineAnswer& answer) { taken(path, answer); });
}

void DatasetCard::taken(const QString& path, const EngineAnswer& answer) {
    m_dropProblems = answer.problems;
    m_notice->setVisible(answer.ok());
    if (answer.ok()) {
        const auto id = answer.json["format"].toString();
        const auto* option = m_form.catalog().option("dataset", id);
        m_notice->setText(QString("Recognised as %1: %2").arg(option ? option->title : id, summary(answer.json)));
        auto spec = m_form.spec();
        spec["dataset"] = QJsonObject{{"id", id}, {"path", path}};
        m_form.setSpec(spec, "Dataset " + QFileInfo(path).fileName());
    }
    showSamples();
}

QString DatasetCard::summary(const QJsonObject& report) const {
    auto text = QString("%1 training and %2 test samples, %3 classes")
                    .arg(countText(total(report["train_per_class"].toArray())),
                         countText(total(report["test_per_class"].toArray())))
                    .arg(report["classes"].toArray().size());
    for (const auto& each : report["fields"].toArray()) {
        const auto field = each.toObject();
        const auto shape = field["shape"].toArray();
        if (field["name"].toString() != "image" || shape.size() != 3) continue;
        text += QString(", %1 × %2 %3").arg(shape[2].toInt()).arg(shape[1].toInt()).arg(shape[0].toInt() == 1 ? "grey" : "colour");
    }
    return text;
}

void DatasetCard::showSamples() {
    const auto& samples = m_answers.samples();
    const bool has = !samples.isEmpty();
    auto problems = m_dropProblems.empty() ? m_answers.dataProblems() : m_dropProblems;
    const auto ofPath = m_form.problemsAt("dataset.path");
    problems.insert(problems.end(), ofPath.begin(), ofPath.end());
    m_problem->tell(problems, m_explain);
    m_summary->setText(has ? summary(samples) : m_answers.isReading() ? QString("Reading the data …") : QString());
    m_summary->setVisible(!m_summary->text().isEmpty());
    m_images->setSamples(samples);
    m_bars->setReport(samples);
    for (QWidget* each : std::initializer_list<QWidget*>{m_images, m_bars}) each->setVisible(has);
    QStringList warnings;
    for (const auto& warning : problemsFrom(samples["warnings"].toArray())) warnings << m_explain(warning).what;
    if (const int skipped = samples["skipped"].toInt()) warnings << QString("%1 files are skipped.").arg(skipped);
    m_warnings->setText(warnings.join('\n'));
    m_warnings->setVisible(!warnings.isEmpty());
}

void DatasetCard::showPath() {
    m_augmentation->setFields(m_form.fields("augmentation"));
    const auto* option = m_form.chosen("dataset");
    const auto path = m_form.value("dataset.path").toString();
    if (!m_path->hasFocus() && m_path->text() != path) m_path->setText(path);
    m_path->setPlaceholderText(!option ? QString() : !option->path.isEmpty() ? option->path
                               : option->state == "needs-path" ? QString("Folder of the data, or drop one here")
                                                               : QString("Made by the program; needs no folder"));
    m_dropProblems.clear();
}

}  // namespace lockstep::ui
