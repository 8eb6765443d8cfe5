#include <zlib.h>

#include <QtTest>

#include "dataset_files.h"
#include "datasets/gzip.h"

using namespace lockstep;
using namespace lockstep::test;

namespace {

Bytes packed(const Bytes& plain) {
    z_stream state{};
    deflateInit2(&state, 9, Z_DEFLATED, 16 + MAX_WBITS, 9, Z_DEFAULT_STRATEGY);
    Bytes out(deflateBound(&state, plain.size()) + 64);
    state.next_in = const_cast<std::uint8_t*>(plain.data());
    state.avail_in = static_cast<uInt>(plain.size());
    state.next_out = out.data();
    state.avail_out = static_cast<uInt>(out.size());
    deflate(&state, Z_FINISH);
    out.resize(state.total_out);
    deflateEnd(&state);
    return out;
}

// Everything in the file, read in pieces of `step` bytes; or the code of the problem.
struct Read {
    Bytes bytes;
    std::string code;
};

Read readAll(const Bytes& file, std::size_t step) {
    static const Folder folder;
    writeFile(folder / "x.gz", file);
    Read out;
    try {
        const auto stream = unpackGzip(folder / "x.gz", openPlain(folder / "x.gz"));
        Bytes piece(step);
        for (std::size_t got; (got = stream->read(piece)) > 0;) {
            out.bytes.insert(out.bytes.end(), piece.begin(), piece.begin() + static_cast<std::ptrdiff_t>(got));
        }
    } catch (const ProblemError& error) {
        out.code = error.problem().code;
    }
    return out;
}

Bytes sample(std::size_t size) {
    Bytes bytes;
    for (std::size_t i = 0; i < size; ++i) bytes.push_back(static_cast<std::uint8_t>(i * i / 7 % 251));
    return bytes;
}

}  // namespace

class TestGzip : public QObject {
    Q_OBJECT
private slots:
    void roundTripsInAnyPieces() {
        const Bytes plain = sample(5000);
        for (const std::size_t step : {1u, 7u, 4999u, 5000u, 5001u, 100000u})
            QCOMPARE(readAll(packed(plain), step).bytes, plain);
        const Bytes zeros(3 << 20);
        QVERIFY(readAll(packed(zeros), 1000).bytes == zeros);  // output pending after the last input
        QCOMPARE(readAll(packed({}), 10).code, std::string());
    }

    void membersAreJoined() {
        Bytes two = packed(sample(10));
        const Bytes second = packed(sample(20));
        two.insert(two.end(), second.begin(), second.end());
        QCOMPARE(readAll(two, 100).bytes.size(), std::size_t{30});
        two.push_back(0);
        QCOMPARE(readAll(two, 100).code, std::string("gzip.trailing-bytes"));
    }

    void everyTruncationIsFound() {
        const Bytes whole = packed(sample(150));
        for (std::size_t size = 0; size < whole.size(); ++size) {
            const Bytes part(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size));
            QCOMPARE(readAll(part, 64).code, std::string("gzip.truncated"));
        }
    }

    void everyBitFlipOfTheDataIsFoundOrHarmless() {
        const Bytes plain = sample(40), whole = packed(plain);
        for (std::size_t bit = 0; bit < whole.size() * 8; ++bit) {
            Bytes flipped = whole;
            flipped[bit / 8] ^= static_cast<std::uint8_t>(1 << bit % 8);
            const Read read = readAll(flipped, 64);
            QVERIFY2(!read.code.empty() || read.bytes == plain, qPrintable(QString::number(bit)));
        }
    }

    void idxReadsGzip() {
        const Folder folder;
        writeFile(folder / "train-images-idx3-ubyte.gz", packed(idxImages(4, 2, 2)));
        writeFile(folder / "train-labels-idx1-ubyte.gz", packed(idxLabels({0, 1, 0, 1})));
        writeFile(folder / "t10k-images-idx3-ubyte.gz", packed(idxImages(2, 2, 2)));
        writeFile(folder / "t10k-labels-idx1-ubyte", idxLabels({0, 1}));
        QCOMPARE(codeOf(open("idx", folder.path())), std::string("ok"));
        Bytes damaged = packed(idxImages(4, 2, 2));
        damaged[damaged.size() - 6] ^= 1;  // the checksum
        writeFile(folder / "train-images-idx3-ubyte.gz", damaged);
        QCOMPARE(codeOf(open("idx", folder.path())), std::string("gzip.corrupt"));
        Bytes bomb = idxImages(4, 2, 2);
        bomb[4] = 0x7f;  // two thousand million images in 60 bytes
        writeFile(folder / "train-images-idx3-ubyte.gz", packed(bomb));
        QCOMPARE(codeOf(open("idx", folder.path())), std::string("idx.truncated"));
    }
};

QTEST_APPLESS_MAIN(TestGzip)
#include "tst_gzip.moc"
