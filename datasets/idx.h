#pragma once
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "datasets/byte_stream.h"

namespace lockstep {

// The IDX format of the MNIST family (yann.lecun.com/exdb/mnist): big-endian magic 00 00 type rank, one u32 per axis,
// data. Plain or gzip. Sizes are checked against the file before memory is taken: no allocation is larger than the
// file, or for gzip than 1,032 times the file (or than 128 KiB, for the decompressor).
struct IdxImages {
    std::int64_t count = 0;
    int height = 0, width = 0;
    std::vector<std::uint8_t> pixels;
};

// Throw ProblemError naming the file: idx.wrong-magic, idx.bad-dimension, idx.truncated, idx.over-long, file.*, gzip.*.
// Images of EMNIST, by the name of the file, lie on their side there (pytorch/vision issue 8783), and upright here.
IdxImages readIdxImages(const std::filesystem::path& file);
IdxImages readIdxImages(const std::filesystem::path& file, std::unique_ptr<ByteStream> bytes);
std::vector<std::uint8_t> readIdxLabels(const std::filesystem::path& file);

// The four files of one collection within a folder.
struct IdxFiles {
    std::string name;  // "" or what stands before "train-images": "emnist-letters"
    std::filesystem::path trainImages, trainLabels, testImages, testLabels;  // empty: not there
};

// Every collection of the folder, by name: [NAME-](train|t10k|test)-(images[-.]idx3|labels[-.]idx1)-ubyte[.gz]. A plain
// file is preferred to its packed twin.
std::vector<IdxFiles> findIdxFiles(const std::filesystem::path& folder);

// Whether a file has images, by its name or by how it begins: in the name's place a person may have put another. What
// cannot be read begins in no way.
bool isNamedAsIdxImages(const std::filesystem::path& file);
bool beginsAsIdxImages(const std::filesystem::path& file);
bool beginsAsIdxImages(ByteStream& bytes);

// Of such files those that a model is asked about: of each folder's collections the test images, or else the training
// images; of other names all. In the order of their names.
std::vector<std::filesystem::path> idxToAskAbout(std::vector<std::filesystem::path> files);

}  // namespace lockstep
