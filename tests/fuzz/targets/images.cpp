#include <vector>

#include "datasets/cut_picture.h"
#include "datasets/entries.h"
#include "datasets/image_codec.h"
#include "engine/core/result.h"
#include "tests/fuzz/fuzz_files.h"
#include "tests/fuzz/targets/targets.h"

namespace lockstep::fuzz {

namespace {

// Pictures of many pixels are allowed and take long: their headers are all that is looked at here.
bool isSmall(Input image) {
    try {
        const PictureSize size = sizeOfImage(image, "");
        return std::int64_t{size.height} * size.width <= 1 << 16;
    } catch (const ProblemError&) {
        return true;
    }
}

bool decodes(Input image, auto&& decode) {
    if (!isSmall(image)) return false;
    try {
        for (const int channels : {1, 3}) {
            std::vector<std::uint8_t> square(static_cast<std::size_t>(channels) * 16 * 16);
            for (const Decode how : {Decode::Fast, Decode::Exact}) {
                const ImageRule rule{.size = 16, .channels = channels, .decode = how};
                const auto part = [&](const DecodeWish& wish, DecodedPart& into) { decode(image, wish, into); };
                cutPicture(
                    part, rule, [&](int height, int width) { return rule.middle(height, width); }, square);
                const RandomCut random{.least = 0.1};
                cutPicture(
                    part, rule, [&](int height, int width) { return randomCut(random, height, width, 1, 2, 3); },
                    square);
            }
        }
        return true;
    } catch (const ProblemError&) {
        return false;
    }
}

struct Folder : MemoryFolder {
    Folder() {
        std::filesystem::create_directory(path() / "cat");
        std::filesystem::create_directory(path() / "dog");
    }
};

}  // namespace

std::size_t capOfImage(std::size_t bytes) { return std::max(bytes, kLargestPicture); }

bool runJpeg(Input input) {
    return decodes(input,
                   [](Input image, const DecodeWish& wish, DecodedPart& into) { decodeJpeg(image, "", wish, into); });
}

bool runPng(Input input) {
    return decodes(input,
                   [](Input image, const DecodeWish& wish, DecodedPart& into) { decodePng(image, "", wish, into); });
}

bool runImageFolder(Input input) {
    static const Folder folder;
    static const DatasetEntry entry = imageFolderEntry({});
    Slicer slicer(input);
    const auto settings = slicer.number<std::uint8_t>();
    const std::uint16_t sizes[] = {slicer.number<std::uint16_t>(), slicer.number<std::uint16_t>(),
                                   slicer.number<std::uint16_t>(), 0xffff};
    const char* names[] = {"cat/1.jpg", "cat/2.png", "dog/1.jpeg", "dog/2.PNG"};
    for (std::size_t file = 0; file < 4; ++file) {
        const Input bytes = slicer.take(sizes[file]);
        if (!isSmall(bytes)) return false;
        folder.write(names[file], bytes);
    }
    const char* colours[] = {"auto", "grey", "rgb", "auto"};
    const std::map<std::string, ParamValue> given = {
        {"size", std::int64_t{settings >> 2}}, {"colour", std::string(colours[settings & 3])}, {"test_share", 0.5}};
    return entry.open(folder.path(), ParamValues::from(entry.params, given, "").value(), {}).ok();
}

}  // namespace lockstep::fuzz
