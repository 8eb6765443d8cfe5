#pragma once
#include <QByteArray>
#include <filesystem>
#include <string>

// Writes a file and the folders above it.
void put(const std::filesystem::path& file, const std::string& bytes);

// Two classes of PPM images, told apart by their brightness, and a file that is none.
void writeImages(const std::filesystem::path& root, int perClass);

// Builds a plugin as a stranger would: the header, the template, and a compiler. The library is folder/build/NAME.so;
// returns what went wrong, or nothing. `sources` empty: the template's own dataset.
QByteArray buildOutOfTree(const std::filesystem::path& folder, const char* name, const std::filesystem::path& sources);
