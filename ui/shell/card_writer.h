#pragma once
#include <QObject>
#include <QString>

#include "ui/style/explanation.h"

class QProcess;
class QWidget;

namespace lockstep::ui {

// Model cards of trials, which `lockstep card` writes, as a process of its own: the window reads no checkpoint. GUI
// thread. Goes with its processes.
class CardWriter : public QObject {
    Q_OBJECT
public:
    CardWriter(QString engineProgram, Explain explain, QObject* parent = nullptr);
    ~CardWriter() override;

    void ask(qint64 trial, QWidget* window);  // where to, and writes it there
    // As HTML; as Markdown, with its pictures beside it, where the file's name says so.
    void write(qint64 trial, const QString& file);

signals:
    void written(const QString& file);
    void failed(const QString& file, const lockstep::ui::Explanation& why);

private:
    void ended(QProcess* process, const QString& file);

    const QString m_program;
    const Explain m_explain;
};

}  // namespace lockstep::ui
