#include "ui/train/archive_unpacker.h"

#include <archive.h>
#include <archive_entry.h>

#include <QCoreApplication>
#include <QCryptographicHash>
#include <QDateTime>
#include <QDir>
#include <QFileInfo>
#include <QUuid>
#include <algorithm>
#include <cerrno>
#include <cstring>
#include <functional>

#include "engine/core/system_names.h"
#include "ui/train/archive_name.h"
#include "ui/train/disk_room.h"

namespace lockstep::ui {

namespace {

constexpr std::size_t kBlock = 1 << 18;
constexpr qint64 kSpareBytes = qint64{64} << 20;  // the disk keeps this much

struct ArchiveText {
    Q_DECLARE_TR_FUNCTIONS(ArchiveText)
};

struct Cancelled {};
// macOS's resource forks and the like, which are no data.
bool isOfSystem(const QString& path) {
    const auto names = path.split('/', Qt::SkipEmptyParts);
    return std::ranges::any_of(names, [](const QString& name) { return isSystemName(name.toStdString()); });
}

using Reader = std::unique_ptr<archive, decltype(&archive_read_free)>;

[[noreturn]] void refuse(const QString& archive, const char* code, const QString& why) {
    throw ProblemError({archive.toStdString(), code, {why.toStdString()}});
}

QString systemWords(int error) { return QString::fromLocal8Bit(std::strerror(error)); }

// Another archive of the same name, or the same one after a change, gets another folder.
QString folderFor(const QString& home, const QString& archive) {
    const QFileInfo file(archive);
    const auto key =
        QString("%1|%2|%3").arg(file.canonicalFilePath()).arg(file.size()).arg(file.lastModified().toMSecsSinceEpoch());
    const auto hash = QCryptographicHash::hash(key.toUtf8(), QCryptographicHash::Sha1).toHex().left(8);
    return QString("%1/%2-%3").arg(home, archiveStem(archive), QString::fromLatin1(hash));
}

// Archives usually hold one folder that holds the data.
QString topOf(QString folder) {
    for (;;) {
        const auto inside = QDir(folder).entryInfoList(QDir::AllEntries | QDir::Hidden | QDir::NoDotAndDotDot);
        if (inside.size() != 1 || !inside.front().isDir()) return folder;
        folder = inside.front().filePath();
    }
}

class Unpacking {
public:
    Unpacking(QString archive, QString into, const std::atomic<bool>& cancelled, std::function<void(int)> progress)
        : m_archive(std::move(archive)),
          m_into(std::move(into)),
          m_cancelled(cancelled),
          m_progress(std::move(progress)),
          m_size(std::max<qint64>(QFileInfo(m_archive).size(), 1)),
          m_reader(archive_read_new(), archive_read_free) {}

    void run() {
        archive_read_support_filter_all(m_reader.get());
        archive_read_support_format_tar(m_reader.get());
        archive_read_support_format_zip(m_reader.get());
        archive_read_support_format_7zip(m_reader.get());
        check(archive_read_open_filename(m_reader.get(), m_archive.toLocal8Bit().constData(), kBlock));
        makeFolder(m_into);
        int files = 0;
        for (archive_entry* entry = nullptr; next(entry);) files += take(*entry);
        if (files == 0) refuse(m_archive, "archive.empty", {});
    }

private:
    bool next(archive_entry*& entry) {
        const int result = archive_read_next_header(m_reader.get(), &entry);
        if (result == ARCHIVE_EOF) return false;
        check(result);
        tell();
        return true;
    }

    int take(archive_entry& entry) {
        const char* utf8 = archive_entry_pathname_utf8(&entry);
        const char* raw = archive_entry_pathname(&entry);
        const auto name = utf8 ? QString::fromUtf8(utf8) : QString::fromLocal8Bit(raw ? raw : "");
        const auto path = safeEntryPath(name);
        const auto type = archive_entry_filetype(&entry);
        if (path.isEmpty() && !QDir::cleanPath(name).isEmpty() && QDir::cleanPath(name) != ".")
            refuse(m_archive, "archive.unsafe", name);
        if (isOfSystem(path)) return 0;
        if (type == AE_IFDIR) makeFolder(m_into + '/' + path);
        if (type != AE_IFREG || archive_entry_hardlink(&entry) || path.isEmpty()) return 0;
        if (archive_entry_is_encrypted(&entry)) refuse(m_archive, "archive.encrypted", name);
        write(m_into + '/' + path);
        return 1;
    }

    void write(const QString& path) {
        makeFolder(QFileInfo(path).path());
        QFile file(path);
        if (!file.open(QIODevice::WriteOnly)) refuse(m_into, "archive.unwritable", file.errorString());
        const void* block = nullptr;
        std::size_t size = 0;
        la_int64_t offset = 0;
        for (;;) {
            const int result = archive_read_data_block(m_reader.get(), &block, &size, &offset);
            if (result == ARCHIVE_EOF) break;
            check(result);
            makeRoom(static_cast<qint64>(size));
            tell();
            const auto count = static_cast<qint64>(size);
            if (!file.seek(offset) || file.write(static_cast<const char*>(block), count) != count)
                refuse(m_into, "archive.unwritable", file.errorString());
        }
        if (!file.flush()) refuse(m_into, "archive.unwritable", file.errorString());
    }

    // A small archive can hold more than the disk: asked every few megabytes, before the disk is full.
    void makeRoom(qint64 bytes) {
        m_unasked -= bytes;
        if (m_unasked > 0) return;
        m_unasked = kSpareBytes / 8;
        if (const auto room = roomIn(m_into); room && *room < kSpareBytes)
            refuse(m_into, "archive.unwritable", systemWords(ENOSPC));
    }

    void makeFolder(const QString& path) {
        if (!QDir().mkpath(path)) refuse(path, "archive.unwritable", systemWords(errno));
    }

    void tell() {
        if (m_cancelled) throw Cancelled();
        const int percent = static_cast<int>(100 * archive_filter_bytes(m_reader.get(), -1) / m_size);
        if (percent != m_told) m_progress(std::min(m_told = percent, 100));
    }

    void check(int result) {
        if (result == ARCHIVE_OK || result == ARCHIVE_WARN) return;
        const char* why = archive_error_string(m_reader.get());
        refuse(m_archive, "archive.unreadable", why ? QString::fromLocal8Bit(why) : ArchiveText::tr("no reason given"));
    }

    QString m_archive, m_into;
    const std::atomic<bool>& m_cancelled;
    std::function<void(int)> m_progress;
    qint64 m_size, m_unasked = 0;
    int m_told = -1;
    Reader m_reader;
};

// Unpacked beside its place and moved there as a whole, so that a folder which is there is complete.
Result<QString> unpackInto(const QString& home, const QString& archive, const std::atomic<bool>& cancelled,
                           std::function<void(int)> progress) {
    const auto folder = folderFor(home, archive);
    if (QFileInfo(folder).isDir()) return topOf(folder);
    const auto unfinished = QString("%1/.%2").arg(home, QUuid::createUuid().toString(QUuid::WithoutBraces));
    try {
        Unpacking(archive, unfinished, cancelled, std::move(progress)).run();
        if (!QDir().rename(unfinished, folder)) refuse(folder, "archive.unwritable", systemWords(errno));
        return topOf(folder);
    } catch (const ProblemError& error) {
        QDir(unfinished).removeRecursively();
        return error.problem();
    } catch (const Cancelled&) {
        QDir(unfinished).removeRecursively();
        return Problem{archive.toStdString(), "archive.cancelled", {}};
    }
}

}  // namespace

ArchiveUnpacker::ArchiveUnpacker(QString home, QObject* parent) : QObject(parent), m_home(std::move(home)) {}

ArchiveUnpacker::~ArchiveUnpacker() { cancel(); }

void ArchiveUnpacker::unpack(const QString& archive) {
    cancel();
    m_busy = true;
    m_cancelled = std::make_shared<std::atomic<bool>>(false);
    m_worker = std::thread([this, archive, home = m_home, cancelled = m_cancelled] {
        const auto later = [&](auto what) {
            QMetaObject::invokeMethod(
                this,
                [cancelled, what] {
                    if (!*cancelled) what();
                },
                Qt::QueuedConnection);
        };
        const auto outcome = unpackInto(home, archive, *cancelled,
                                        [&](int percent) { later([this, percent] { emit progressed(percent); }); });
        later([this, archive, outcome] { finish(archive, outcome); });
    });
}

void ArchiveUnpacker::cancel() {
    if (m_cancelled) *m_cancelled = true;
    m_busy = false;
    join();
}

void ArchiveUnpacker::finish(const QString& archive, const Result<QString>& outcome) {
    m_busy = false;
    join();
    if (outcome.ok()) emit unpacked(archive, outcome.value());
    else emit failed(archive, outcome.problems().front());
}

void ArchiveUnpacker::join() {
    if (m_worker.joinable()) m_worker.join();
}

}  // namespace lockstep::ui
