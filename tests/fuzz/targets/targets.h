#pragma once
#include "tests/fuzz/fuzz_target.h"

// A function per parser, one short file each; and the largest allocation that its header declares.
namespace lockstep::fuzz {

bool runIdx(Input input);    // a file of images or labels, plain or gzip
bool runCifar(Input input);  // u8 which, u16 bytes of class names, names, records
bool runJpeg(Input input);
bool runPng(Input input);
bool runImageFolder(Input input);  // u8 settings, three u16 sizes, four files
bool runTextCsv(Input input);      // a table of texts and labels
bool runLabelList(Input input);    // as a CSV, and as lines of text
bool runArchive(Input input);      // a tar or zip, read in place
bool runCheckpoint(Input input);
bool runTrialSpec(Input input);
bool runTrainEvent(Input input);
bool runProtocol(Input input);     // a stream of lines, as either side would receive it
bool runTraceFile(Input input);    // u16 bytes there at first, a segment
bool runSeriesChunk(Input input);  // see series_chunk.cpp
bool runPluginAnswer(Input input);
bool runPluginTable(Input input);  // see plugin_table.cpp

std::size_t capOfIdx(std::size_t bytes);
std::size_t capOfCifar(std::size_t bytes);
std::size_t capOfImage(std::size_t bytes);
std::size_t capOfCsv(std::size_t bytes);
std::size_t capOfArchive(std::size_t bytes);
std::size_t capOfJson(std::size_t bytes);
std::size_t capOfTraceFile(std::size_t bytes);
std::size_t capOfSeriesChunk(std::size_t bytes);
std::size_t capOfPluginTable(std::size_t bytes);

}  // namespace lockstep::fuzz
