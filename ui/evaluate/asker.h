#pragma once
#include <QElapsedTimer>
#include <QObject>
#include <QProcess>
#include <QString>
#include <QStringDecoder>
#include <QStringList>
#include <QVector>
#include <optional>

#include "ui/evaluate/answer_bars.h"
#include "ui/style/explanation.h"

namespace lockstep::ui {

// How a language model goes on with a prompt.
struct TextSampling {
    int bytes = 200;
    double temperature = 0.8;
    int topK = 0;  // 0: from all bytes
};

// A model that answers a person: `lockstep predict --interactive` of one trial, kept open so that only the first answer
// waits for the model; or, of a language model, a text that grows. In a process of its own. GUI thread.
class Asker : public QObject {
    Q_OBJECT
public:
    explicit Asker(QString engineProgram, QObject* parent = nullptr);
    ~Asker() override;

    // Whom to ask from now on: `arguments` of `lockstep predict`, the trial first. Another process, once it is asked.
    void setModel(const QStringList& arguments);
    void ask(const QString& line);  // a path, or a text; its ends of lines count as spaces. The newest counts.
    // A language model; each time by another draw.
    void goOn(const QString& prompt, const TextSampling& sampling);
    QStringList textArguments(const TextSampling& sampling) const;  // of the newest text
    void stop();                                                    // and ends the process
    bool isBusy() const { return m_busy; }

signals:
    void busyChanged(bool busy);
    void answered(const QVector<lockstep::ui::AnswerBars::Bar>& bars, double milliseconds);
    void wrote(const QString& text);  // more of it
    void failed(const lockstep::ui::Explanation& why);

private:
    void launch(const QStringList& arguments);
    void read();
    void takeLine(const QByteArray& line);
    void ended();
    void setBusy(bool busy);

    QString m_program;
    QStringList m_model;
    QProcess m_process;
    QByteArray m_input;                              // of the answer to come
    QStringDecoder m_decoder{QStringDecoder::Utf8};  // of a text: its characters come in pieces
    QElapsedTimer m_asked;
    int m_draw = 0;     // which text: the seed
    int m_waiting = 0;  // answers to come; those of all but the newest question are left out
    bool m_busy = false, m_writes = false;
};

}  // namespace lockstep::ui
