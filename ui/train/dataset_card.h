#pragma once
#include <QWidget>

#include "ui/train/archive_unpacker.h"
#include "ui/train/field_editor.h"
#include "ui/train/form_answers.h"

class QFrame;
class QLineEdit;
class QPushButton;

namespace lockstep::ui {

class SampleImages;
class ClassBars;

// The dataset: picker, path, images before and after augmentation, counts, balance, and the augmentation's settings.
class DatasetCard : public QWidget {
    Q_OBJECT
public:
    // Archives are unpacked below `archiveHome`.
    DatasetCard(SpecForm& form, FormAnswers& answers, const Explain& explain, const QString& archiveHome);

    // A file, folder or archive that a person dropped or chose: looked at, then taken, or the problem is shown and the
    // form stays as it is. A path that is typed is the chosen kind's first; what that kind cannot read is looked at,
    // too.
    void take(const QString& path);
    void refuse(const Problem& problem);  // what was dropped is none of these
    void chooseFolder();
    void chooseFile();
    void commit();  // what is typed as the path and not yet taken
    bool cancel();  // an archive that is looked at or unpacked; false: there is none
    void showDropTarget(bool on);

protected:
    void keyPressEvent(QKeyEvent* event) override;

private:
    QWidget* makePathRow();
    QWidget* makeNotice();
    void connectUnpacker();
    using Answered = std::function<void(const EngineReply<InspectRequest>& reply)>;
    void look(const QString& path, const Answered& answered);
    void unpack(const QString& path);
    void lookAtTyped();
    void taken(const QString& path, const EngineReply<InspectRequest>& reply);
    void adopt(const QString& path, const DescribedData& described);
    const FormOption* modelInstead(const DescribedData& described) const;
    bool needsNoFolder() const;
    void say(const QString& text, bool cancellable = false);
    void showProgress();
    void showSamples();
    void showProblems();
    void showPath();

    SpecForm& m_form;
    FormAnswers& m_answers;
    Explain m_explain;
    ArchiveUnpacker m_unpacker;
    QFrame* m_card;
    QLineEdit* m_path;
    QWidget* m_noticeRow;
    QLabel* m_notice;
    QPushButton* m_cancel;
    ProblemLabel* m_problem;
    QLabel* m_summary;
    QLabel* m_warnings;
    SampleImages* m_images;
    ClassBars* m_bars;
    FieldList* m_heldOut;
    FieldList* m_augmentation;
    Problems m_dropProblems;
    QString m_looking;   // the path that is looked at because somebody gave it here
    QString m_typed;     // as the path, and not yet known to be what the chosen kind can read
    QJsonValue m_taken;  // the spec's dataset that the notice speaks of
};

}  // namespace lockstep::ui
