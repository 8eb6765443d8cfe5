#pragma once
#include <zlib.h>

#include <cstdint>
#include <cstdio>
#include <span>
#include <string>
#include <vector>

#include "dataset_files.h"

// Archives made in memory for the tests of their readers.
namespace lockstep::test {

struct Member {
    std::string name;
    Bytes bytes;
    char type = '0';  // of a tar
};

inline Bytes bytesOf(const std::string& text) { return Bytes(text.begin(), text.end()); }

// A header of ustar; a size beyond 8 GiB as GNU writes it.
inline Bytes tarHeader(const std::string& name, std::uint64_t size, char type = '0') {
    Bytes block(512, 0);
    const auto put = [&](std::size_t at, const std::string& text) { std::copy(text.begin(), text.end(), &block[at]); };
    char octal[16];
    std::snprintf(octal, sizeof octal, "%011llo", static_cast<unsigned long long>(size));
    put(0, name.substr(0, 100));
    put(100, "0000644");
    if (size >> 33 == 0) put(124, octal);
    else block[124] = 0x80;
    for (std::size_t i = 0; i < 8 && size >> 33; ++i) block[128 + i] = static_cast<std::uint8_t>(size >> (56 - 8 * i));
    put(148, "        ");
    block[156] = static_cast<std::uint8_t>(type);
    put(257, std::string("ustar\0", 6) + "00");
    unsigned sum = 0;
    for (const std::uint8_t byte : block) sum += byte;
    std::snprintf(octal, sizeof octal, "%06o", sum);
    put(148, octal);
    block[154] = 0;
    return block;
}

inline void addToTar(Bytes& tar, const Member& member) {
    const Bytes header = tarHeader(member.name, member.bytes.size(), member.type);
    tar.insert(tar.end(), header.begin(), header.end());
    tar.insert(tar.end(), member.bytes.begin(), member.bytes.end());
    tar.resize((tar.size() + 511) / 512 * 512);
}

inline Bytes tarOf(const std::vector<Member>& members) {
    Bytes tar;
    for (const Member& each : members) addToTar(tar, each);
    tar.resize(tar.size() + 1024);
    return tar;
}

inline void putLittle(Bytes& out, std::uint64_t value, int bytes) {
    for (int i = 0; i < bytes; ++i) out.push_back(static_cast<std::uint8_t>(value >> 8 * i));
}

inline void putText(Bytes& out, const std::string& text) { out.insert(out.end(), text.begin(), text.end()); }

// Stored, or said to be packed by `method`; `isLarge`: as zip64 has it.
inline Bytes zipOf(const std::vector<Member>& members, int method = 0, bool isLarge = false) {
    Bytes zip, directory;
    for (const auto& [name, bytes, type] : members) {
        const std::uint64_t offset = zip.size(), crc = crc32(0, bytes.data(), static_cast<uInt>(bytes.size()));
        putText(zip, "PK\3\4");
        putLittle(zip, 20, 2), putLittle(zip, 0, 2), putLittle(zip, static_cast<std::uint64_t>(method), 2);
        putLittle(zip, 0, 4), putLittle(zip, crc, 4), putLittle(zip, bytes.size(), 4), putLittle(zip, bytes.size(), 4);
        putLittle(zip, name.size(), 2), putLittle(zip, 4, 2);
        putText(zip, name), putText(zip, "zz"), putLittle(zip, 0, 2);  // an extra field of its own
        zip.insert(zip.end(), bytes.begin(), bytes.end());

        putText(directory, "PK\1\2");
        putLittle(directory, 20, 2), putLittle(directory, 20, 2), putLittle(directory, 0, 2);
        putLittle(directory, static_cast<std::uint64_t>(method), 2), putLittle(directory, 0, 4);
        putLittle(directory, crc, 4);
        for (int i = 0; i < 2; ++i) putLittle(directory, isLarge ? 0xffffffff : bytes.size(), 4);
        putLittle(directory, name.size(), 2), putLittle(directory, isLarge ? 28 : 0, 2), putLittle(directory, 0, 2);
        putLittle(directory, 0, 4), putLittle(directory, 0, 4);
        putLittle(directory, isLarge ? 0xffffffff : offset, 4);
        putText(directory, name);
        if (!isLarge) continue;
        putLittle(directory, 1, 2), putLittle(directory, 24, 2);
        putLittle(directory, bytes.size(), 8), putLittle(directory, bytes.size(), 8), putLittle(directory, offset, 8);
    }
    const std::uint64_t at = zip.size(), end = at + directory.size();
    zip.insert(zip.end(), directory.begin(), directory.end());
    if (isLarge) {
        putText(zip, "PK\6\6"), putLittle(zip, 44, 8), putLittle(zip, 45, 2), putLittle(zip, 45, 2);
        putLittle(zip, 0, 8), putLittle(zip, members.size(), 8), putLittle(zip, members.size(), 8);
        putLittle(zip, directory.size(), 8), putLittle(zip, at, 8);
        putText(zip, "PK\6\7"), putLittle(zip, 0, 4), putLittle(zip, end, 8), putLittle(zip, 1, 4);
    }
    putText(zip, "PK\5\6"), putLittle(zip, 0, 4);
    for (int i = 0; i < 2; ++i) putLittle(zip, isLarge ? 0xffff : members.size(), 2);
    putLittle(zip, isLarge ? 0xffffffff : directory.size(), 4), putLittle(zip, isLarge ? 0xffffffff : at, 4);
    putLittle(zip, 2, 2), putText(zip, "hi");  // a comment
    return zip;
}

}  // namespace lockstep::test
