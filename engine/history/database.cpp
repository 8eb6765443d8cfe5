#include "engine/history/database.h"

#include <sqlite3.h>

#include <chrono>
#include <thread>

namespace lockstep {

namespace {

using SQLite::Database;
namespace fs = std::filesystem;

constexpr int kBusyMilliseconds = 10'000;
constexpr int kReadersCache = 65'536, kWritersCache = 2'048;  // KiB
constexpr std::uintmax_t kCheckedBytes = 16u << 20;           // larger files are not read through at each opening
constexpr std::uintmax_t kLeastRoom = 64u << 10;              // what opening takes: the log's index and some pages

int integerOf(Database& database, const char* pragma) { return database.execAndGet(pragma).getInt(); }

// Against files that are not what they seem. A reader's cache holds all of a large history, else whoever reads ten
// thousand trials reads its pages several times over; a run that writes for days has no use for the pages behind it.
void prepare(Database& database, int cacheKibibytes) {
    sqlite3_db_config(database.getHandle(), SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
    database.exec("PRAGMA trusted_schema = OFF");
    database.exec("PRAGMA cell_size_check = ON");
    database.exec("PRAGMA foreign_keys = ON");
    database.exec("PRAGMA cache_size = -" + std::to_string(cacheKibibytes));
}

[[noreturn]] void refuse(const fs::path& file, std::string code, std::vector<std::string> args = {}) {
    throw ProblemError({file.string(), std::move(code), std::move(args)});
}

// The big-endian number at `at` of a file's header; see "The Database Header" in SQLite's file format.
std::int32_t headerNumber(const std::string& header, std::size_t at) {
    std::uint32_t number = 0;
    for (std::size_t i = 0; i < 4; ++i) number = number << 8 | static_cast<unsigned char>(header[at + i]);
    return static_cast<std::int32_t>(number);
}

std::unique_ptr<Database> openImmutable(const fs::path& file) {
    std::string uri = "file:";
    for (const char c : fs::absolute(file).string()) {
        if (c == '%' || c == '?' || c == '#') {
            constexpr const char* kHex = "0123456789ABCDEF";
            uri += {'%', kHex[c >> 4], kHex[c & 15]};
        } else {
            uri += c;
        }
    }
    return std::make_unique<Database>(uri + "?immutable=1", SQLite::OPEN_READONLY | SQLite::OPEN_URI);
}

// The header as it lies in the file, before SQLite puts its companions beside it. Read by SQLite: whoever else in this
// process closes the file takes the locks from all its connections, and another process that ends then removes the log
// they read ("How To Corrupt An SQLite Database File", 2.2).
std::string headerOf(const fs::path& file) {
    std::string header(100, '\0');
    const auto database = openImmutable(file);
    sqlite3_file* bytes = nullptr;
    sqlite3_file_control(database->getHandle(), "main", SQLITE_FCNTL_FILE_POINTER, &bytes);
    const int read = bytes && bytes->pMethods
                         ? bytes->pMethods->xRead(bytes, header.data(), static_cast<int>(header.size()), 0)
                         : SQLITE_CANTOPEN;
    if (read != SQLITE_OK && read != SQLITE_IOERR_SHORT_READ)
        refuse(file, "history.unwritable", {"it cannot be opened"});
    return header;
}

// An empty file is a database without tables.
void checkHeader(const fs::path& file, int newest) {
    constexpr std::string_view kMagic("SQLite format 3\0", 16);
    std::error_code error;
    const bool empty = fs::file_size(file, error) == 0;  // before it is read: another process may be filling it
    const std::string header = headerOf(file);
    if (!empty && !error && !header.starts_with(kMagic)) refuse(file, "history.not-a-history");
    const int version = headerNumber(header, 60);
    if (headerNumber(header, 68) == kHistoryApplicationId && version > newest) {
        refuse(file, "history.newer", {std::to_string(version), std::to_string(newest)});
    }
}

struct Version {
    int number = 0;
    bool fresh = false;  // no table yet
};

// Within a transaction: what is asked one after another must be of one moment, or a history that somebody makes
// meanwhile looks like another program's file.
Version versionOf(Database& database, const fs::path& file, int newest) {
    const int application = integerOf(database, "PRAGMA application_id");
    const int version = integerOf(database, "PRAGMA user_version");
    const bool empty = integerOf(database, "SELECT count(*) FROM sqlite_schema") == 0;
    if (empty && application == 0 && version == 0) return {0, true};
    if (application != kHistoryApplicationId) refuse(file, "history.not-a-history");
    if (version > newest) refuse(file, "history.newer", {std::to_string(version), std::to_string(newest)});
    return {version, false};
}

Version snapshotVersionOf(Database& database, const fs::path& file, int newest) {
    const SQLite::Transaction snapshot(database);
    return versionOf(database, file, newest);
}

void checkContent(Database& database, const fs::path& file) {
    std::error_code unknown;
    if (fs::file_size(file, unknown) > kCheckedBytes || unknown) return;
    const std::string verdict = database.execAndGet("PRAGMA quick_check(1)").getString();
    if (verdict != "ok") refuse(file, "history.corrupt", {verdict});
}

// Changing to WAL needs the file for a moment alone, and SQLite does not wait for that by itself.
void enterWal(Database& database) {
    for (int attempt = 0;; ++attempt) {
        try {
            database.exec("PRAGMA journal_mode = WAL");
            return;
        } catch (const SQLite::Exception& error) {
            if (error.getErrorCode() != SQLITE_BUSY || attempt == 100) throw;
            std::this_thread::sleep_for(std::chrono::milliseconds(50));
        }
    }
}

void migrate(Database& database, const fs::path& file, std::span<const Migration> steps) {
    SQLite::Transaction transaction(database, SQLite::TransactionBehavior::IMMEDIATE);
    const int version = versionOf(database, file, steps.back().version).number;  // another process may have been faster
    for (const auto& step : steps) {
        if (step.version > version) database.exec(step.sql);
    }
    database.exec("PRAGMA application_id = " + std::to_string(kHistoryApplicationId));
    database.exec("PRAGMA user_version = " + std::to_string(steps.back().version));
    transaction.commit();
}

// SQLite says so itself where it writes pages. A log or its index that cannot be made, a sync that finds no room, are
// errors like any others to it.
bool isFull(const fs::path& file) {
    std::error_code unknown;
    const auto space = fs::space(fs::absolute(file).parent_path(), unknown);
    return !unknown && space.available < kLeastRoom;
}

std::unique_ptr<Database> openReadOnly(const fs::path& file) {
    auto database = std::make_unique<Database>(file.string(), SQLite::OPEN_READONLY, kBusyMilliseconds);
    try {
        prepare(*database, kReadersCache);
        integerOf(*database, "SELECT count(*) FROM sqlite_schema");
        return database;
    } catch (const SQLite::Exception& error) {
        // A WAL file beside it cannot be made in a folder that is not ours to write, or on a full disk; without one the
        // file itself is complete.
        const int code = error.getErrorCode();
        std::error_code absent;
        const auto walBytes = fs::file_size(file.string() + "-wal", absent);
        const bool noRoom = (code == SQLITE_FULL || code == SQLITE_IOERR) && isFull(file);
        const bool refused = code == SQLITE_CANTOPEN || code == SQLITE_READONLY || noRoom;
        if (!refused || (!absent && walBytes > 0)) throw;
    }
    auto immutable = openImmutable(file);
    prepare(*immutable, kReadersCache);
    return immutable;
}

// True when the file is a history that only needs opening; throws when it must not be touched.
bool inspect(const fs::path& file, std::span<const Migration> steps) {
    std::error_code error;
    if (!fs::exists(file, error) || fs::file_size(file, error) == 0) return false;
    checkHeader(file, steps.back().version);
    auto database = openReadOnly(file);
    const Version version = snapshotVersionOf(*database, file, steps.back().version);
    if (!version.fresh) checkContent(*database, file);
    return version.number == steps.back().version;
}

}  // namespace

Problem problemOf(const SQLite::Exception& error, const fs::path& file) {
    const std::string words = error.what();
    const int code = error.getErrorCode();
    const bool mayBeFull = code == SQLITE_IOERR || code == SQLITE_CANTOPEN;
    if (mayBeFull && isFull(file)) return {file.string(), "history.full", {words}};
    switch (code) {
        case SQLITE_CORRUPT: return {file.string(), "history.corrupt", {words}};
        case SQLITE_NOTADB: return {file.string(), "history.not-a-history", {}};
        case SQLITE_FULL: return {file.string(), "history.full", {words}};
        case SQLITE_BUSY: return {file.string(), "history.busy", {words}};
        case SQLITE_CONSTRAINT: return {file.string(), "history.refused", {words}};
        default: return {file.string(), "history.unwritable", {words}};
    }
}

std::unique_ptr<Database> openForWriting(const fs::path& file, std::span<const Migration> steps) {
    return translated(file, [&] {
        const bool current = inspect(file, steps);
        auto database =
            std::make_unique<Database>(file.string(), SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE, kBusyMilliseconds);
        prepare(*database, kWritersCache);
        if (sqlite3_db_readonly(database->getHandle(), "main") == 1) {
            refuse(file, "history.unwritable", {"it may only be read"});
        }
        enterWal(*database);
        database->exec("PRAGMA synchronous = FULL");
        if (!current) migrate(*database, file, steps);
        return database;
    });
}

std::unique_ptr<Database> openForReading(const fs::path& file, std::span<const Migration> steps) {
    return translated(file, [&] {
        std::error_code error;
        if (!fs::exists(file, error)) refuse(file, "history.absent");
        checkHeader(file, steps.back().version);
        auto database = openReadOnly(file);
        const Version version = snapshotVersionOf(*database, file, steps.back().version);
        if (version.fresh) refuse(file, "history.absent");
        if (version.number < steps.back().version) {
            refuse(file, "history.older", {std::to_string(version.number), std::to_string(steps.back().version)});
        }
        return database;
    });
}

}  // namespace lockstep
