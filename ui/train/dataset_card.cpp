#include "ui/train/dataset_card.h"

#include <QFileDialog>
#include <QFileInfo>
#include <QFrame>
#include <QHBoxLayout>
#include <QKeyEvent>
#include <QMenu>
#include <QPushButton>
#include <algorithm>

#include "ui/style/menu_button.h"
#include "ui/style/theme.h"
#include "ui/train/archive_name.h"
#include "ui/train/dataset_text.h"
#include "ui/train/field_places.h"
#include "ui/train/sample_images.h"
#include "ui/train/sweep_form.h"

namespace lockstep::ui {

DatasetCard::DatasetCard(SpecForm& form, FormAnswers& answers, const Explain& explain, const QString& archiveHome)
    : m_form(form), m_answers(answers), m_explain(explain), m_unpacker(archiveHome) {
    auto* outer = new QVBoxLayout(this);
    outer->setContentsMargins(0, 0, 0, 0);
    auto* card = addCard(*outer, tr("Dataset"));
    m_card = qobject_cast<QFrame*>(card->parentWidget());
    card->addWidget(new ChoiceForm(form, "dataset", explain));
    card->addWidget(makePathRow());
    card->addWidget(mutedLabel(tr("Your own images or texts: drop a folder, a file or an archive on this page.")));
    card->addWidget(m_problem = new ProblemLabel);
    card->addWidget(makeNotice());
    m_summary = new QLabel;
    m_summary->setWordWrap(true);
    m_warnings = mutedLabel({});
    m_images = new SampleImages;
    m_bars = new ClassBars;
    for (QWidget* each : std::initializer_list<QWidget*>{m_summary, m_images, m_bars, m_warnings})
        card->addWidget(each);
    card->addWidget(m_heldOut = new FieldList(form, explain));
    auto* heading = new QLabel(tr("Augmentation"));
    heading->setProperty("role", "heading");
    heading->setToolTip(
        tr("Random changes to each image every time it is seen, so that the network learns what matters."));
    card->addWidget(heading);
    card->addWidget(m_augmentation = new FieldList(form, explain));
    connect(&answers, &FormAnswers::samplesChanged, this, [this] { showSamples(); });
    connect(&answers, &FormAnswers::progressChanged, this, [this] { showProgress(); });
    connect(&answers, &FormAnswers::validated, this, [this] { lookAtTyped(); });  // samples may have come before
    connect(&form, &SpecForm::problemsChanged, this, [this] { showProblems(); });
    for (const auto change : {&SpecForm::catalogChanged, &SpecForm::changed})
        connect(&form, change, this, [this] { showPath(); });
    connectUnpacker();
    showPath();
    showSamples();
}

QWidget* DatasetCard::makePathRow() {
    auto* row = new QWidget;
    auto* layout = new QHBoxLayout(row);
    layout->setContentsMargins(0, 0, 0, 0);
    m_path = new FormLine;
    m_path->setObjectName("dataset.path");
    m_path->setAccessibleName(tr("Folder of the dataset"));
    auto* menu = new QMenu(row);
    menu->addAction(tr("Folder…"), this, [this] { chooseFolder(); });
    menu->addAction(tr("Archive or file…"), this, [this] { chooseFile(); });
    layout->addWidget(m_path, 1);
    layout->addWidget(menuButton(tr("Choose"), menu, tr("A folder, an archive or a file; its format is recognised")));
    connect(m_path, &QLineEdit::editingFinished, this, [this] { commit(); });
    return row;
}

QWidget* DatasetCard::makeNotice() {
    m_noticeRow = new QWidget;
    auto* layout = new QHBoxLayout(m_noticeRow);
    layout->setContentsMargins(0, 0, 0, 0);
    m_notice = mutedLabel({});
    m_cancel = new QPushButton(tr("Cancel"));
    m_cancel->setToolTip(tr("The form stays as it is, and nothing of an archive is kept. (Esc)"));
    layout->addWidget(m_notice, 1);
    layout->addWidget(m_cancel);
    connect(m_cancel, &QPushButton::clicked, this, [this] { cancel(); });
    m_noticeRow->hide();
    return m_noticeRow;
}

void DatasetCard::connectUnpacker() {
    connect(&m_unpacker, &ArchiveUnpacker::progressed, this,
            [this](int percent) { say(tr("Unpacking the archive: %1 %").arg(percent), true); });
    connect(&m_unpacker, &ArchiveUnpacker::unpacked, this, [this](const QString&, const QString& folder) {
        look(folder, [this, folder](const auto& reply) { taken(folder, reply); });
    });
    connect(&m_unpacker, &ArchiveUnpacker::failed, this,
            [this](const QString&, const Problem& problem) { refuse(problem); });
}

void DatasetCard::chooseFolder() {
    const auto folder =
        QFileDialog::getExistingDirectory(this, tr("Folder with images or dataset files"), m_path->text());
    if (!folder.isEmpty()) take(folder);
}

void DatasetCard::chooseFile() {
    const auto file = QFileDialog::getOpenFileName(
        this, tr("Archive of images, or a file of texts"), QFileInfo(m_path->text()).path(),
        tr("Archives and texts (*.tar *.zip *.7z *.tgz *.tar.* *.csv *.tsv *.txt);;All files (*)"));
    if (!file.isEmpty()) take(file);
}

void DatasetCard::commit() {
    const auto path = m_path->text();
    if (m_form.value("dataset.path").toString() == path) return;
    if (!path.isEmpty() && (needsNoFolder() || isArchiveName(path))) return take(path);
    m_typed = path;
    m_form.setValue("dataset.path", path);
}

// Made by the program: there is nothing that it could read.
bool DatasetCard::needsNoFolder() const {
    const auto* option = m_form.chosen("dataset");
    return option && option->path.isEmpty() && option->state != "needs-path";
}

bool DatasetCard::cancel() {
    if (!m_unpacker.isBusy() && m_looking.isEmpty()) return false;
    m_looking.clear();
    m_unpacker.cancel();
    m_noticeRow->hide();
    return true;
}

void DatasetCard::keyPressEvent(QKeyEvent* event) {
    const auto path = m_form.value("dataset.path").toString();
    if (event->key() != Qt::Key_Escape || !m_path->hasFocus() || m_path->text() == path)
        return QWidget::keyPressEvent(event);
    m_path->setText(path);
}

void DatasetCard::showDropTarget(bool on) {
    const auto accent = currentTheme().accent.name();
    m_card->setStyleSheet(on ? "QFrame[card=\"true\"] { border: 2px dashed " + accent + "; }" : QString());
}

void DatasetCard::take(const QString& path) {
    cancel();
    m_dropProblems.clear();
    showProblems();
    if (!QFileInfo(path).isFile() || !isArchiveName(path))
        return look(path, [this, path](const auto& reply) { taken(path, reply); });
    look(path, [this, path](const auto& reply) {
        const bool isReadInPlace = reply.ok() && reply.answer.data.format == "image-folder";
        isReadInPlace ? taken(path, reply) : unpack(path);
    });
}

// One that cannot be read where it lies.
void DatasetCard::unpack(const QString& path) {
    m_looking.clear();
    say(tr("Unpacking the archive …"), true);
    m_unpacker.unpack(path);
}

void DatasetCard::refuse(const Problem& problem) { taken({}, EngineReply<InspectRequest>::refusal(problem)); }

// Nobody hears of what was cancelled meanwhile.
void DatasetCard::look(const QString& path, const Answered& answered) {
    m_looking = path;
    say(tr("Looking at %1 …").arg(path), true);
    m_answers.inspect(path, [this, path, answered](const auto& reply) {
        if (m_looking == path) answered(reply);
    });
}

void DatasetCard::taken(const QString& path, const EngineReply<InspectRequest>& reply) {
    m_looking.clear();
    m_noticeRow->hide();
    if (reply.ok()) adopt(path, reply.answer.data);
    m_dropProblems = reply.problems;
    showProblems();
}

void DatasetCard::adopt(const QString& path, const DescribedData& described) {
    const auto id = QString::fromStdString(described.format);
    const auto* option = m_form.catalog().option("dataset", id);
    auto spec = m_form.spec();
    auto dataset = m_form.value("dataset").toString() == id ? spec["dataset"].toObject() : QJsonObject();
    dataset["id"] = id;
    dataset["path"] = path;
    m_taken = spec["dataset"] = dataset;
    const auto* model = modelInstead(described);
    if (model) spec["model"] = QJsonObject{{"id", model->id}};
    m_form.setState({spec, m_form.state().sweep}, tr("Dataset %1").arg(QFileInfo(path).fileName()));
    // How large images are to the model is said where samples are shown.
    const bool areImages = taskOf(described) == "image-classes";
    const QString recognised =
        tr("Recognised as %1: %2")
            .arg(option ? option->title : id, areImages ? datasetCounts(described) : datasetSummary(described));
    say(model ? tr("%1. The model is now one that reads them: %2.").arg(recognised, model->title) : recognised);
}

// Null: the chosen one reads such samples, or none is known to.
const FormOption* DatasetCard::modelInstead(const DescribedData& described) const {
    const QString task = taskOf(described);
    const auto* chosen = m_form.chosen("model");
    if (!chosen || chosen->task == task || m_form.sweep().isVaried("model")) return nullptr;
    const auto& models = m_form.catalog().options("model");
    const auto found = std::ranges::find(models, task, &FormOption::task);
    return found == models.end() ? nullptr : &*found;
}

// The chosen kind has said that it cannot read what was typed: perhaps it is of another one. Where it is of none, what
// the chosen kind says stands.
void DatasetCard::lookAtTyped() {
    const auto path = m_form.value("dataset.path").toString();
    if (m_typed.isEmpty() || m_typed != path || m_answers.isReading() || !m_answers.isValidated()) return;
    if (m_answers.dataProblems().empty() && m_form.problemsAt("dataset.path").empty()) return;
    m_typed.clear();
    m_answers.inspect(path, [this, path](const auto& reply) {
        if (!reply.ok() || m_form.value("dataset.path").toString() != path) return;
        const auto& described = reply.answer.data;
        if (QString::fromStdString(described.format) != m_form.value("dataset").toString()) adopt(path, described);
    });
}

void DatasetCard::say(const QString& text, bool cancellable) {
    m_notice->setText(text);
    m_cancel->setVisible(cancellable);
    m_noticeRow->show();
}

void DatasetCard::showProblems() {
    lookAtTyped();
    auto problems = m_dropProblems;
    for (const auto& more : {m_answers.dataProblems(), m_form.problemsAt("dataset.path")}) {
        for (const auto& each : more) {
            if (std::ranges::find(problems, each) == problems.end()) problems.push_back(each);
        }
    }
    m_problem->tell(problems, m_explain);
}

void DatasetCard::showProgress() {
    const QString text = readingText(m_answers.progress());
    if (m_answers.isReading() && !m_answers.samples()) m_summary->setText(text);
    if (m_looking.isEmpty() || !m_noticeRow->isVisible()) return;
    m_notice->setText(tr("Looking at %1 …").arg(m_looking) + '\n' + text);
}

void DatasetCard::showSamples() {
    const auto& samples = m_answers.samples();
    const bool has = samples.has_value();
    const auto described = has ? samples->data : DescribedData();
    showProblems();
    m_summary->setText(has                     ? datasetSummary(described)
                       : m_answers.isReading() ? readingText(m_answers.progress())
                                               : QString());
    m_summary->setVisible(!m_summary->text().isEmpty());
    m_images->setSamples(samples);
    m_bars->setData(described);
    for (QWidget* each : std::initializer_list<QWidget*>{m_images, m_bars}) each->setVisible(has);
    QStringList warnings;
    for (const auto& warning : described.warnings) warnings << m_explain(warning.problem).what;
    if (has && samples->skipped > 0)
        warnings << (samples->skipped == 1 ? tr("1 file is skipped.")
                                           : tr("%1 files are skipped.").arg(samples->skipped));
    m_warnings->setText(warnings.join('\n'));
    m_warnings->setVisible(!warnings.isEmpty());
}

void DatasetCard::showPath() {
    m_augmentation->setFields(m_form.fields("augmentation"));
    m_heldOut->setFields(FieldPlaces(m_form).data);
    const auto* option = m_form.chosen("dataset");
    const auto path = m_form.value("dataset.path").toString();
    if (m_path->text() != path && (!m_path->hasFocus() || !m_path->isModified())) {
        m_path->setText(path);
        m_path->setCursorPosition(0);  // of a long path the beginning is seen
    }
    const auto place = option ? option->path : QString();
    m_path->setPlaceholderText(!place.isEmpty()                           ? place
                               : !option || option->state == "needs-path" ? tr("Folder of the data, or drop one here")
                                                                          : tr("Made by the program; needs no folder"));
    m_path->setToolTip(tr("Where the data lies%1\nDefault: %2\nRange: any folder of this machine; you can also drop "
                          "one on this page, or an archive")
                           .arg(path.isEmpty() ? QString(".") : ": " + path, place.isEmpty() ? tr("empty") : place));
    m_dropProblems.clear();
    if (m_form.spec()["dataset"] != m_taken && !m_unpacker.isBusy()) m_noticeRow->hide();
    showProblems();
}

}  // namespace lockstep::ui
