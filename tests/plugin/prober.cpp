#include "engine/plugin/plugin_host.h"

int main(int count, char** words) { return count == 2 ? lockstep::probePlugin(words[1]) : 2; }
