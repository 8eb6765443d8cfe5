#pragma once

namespace lockstep {

// The standard output and the standard error become streams that never fail their writers, so that nobody is thrown out
// of a run by a full disk or a reader who has gone. From the first bytes on that cannot be written, all are left out:
// what has arrived is a beginning without gaps. A descriptor that the program was started without is taken, so that no
// file of ours gets its number. SIGPIPE ends the program, whatever it inherited: whoever would rather go on ignores it.
// First thing in main().
void guardStandardStreams();

// errno of the write to the standard output that failed; 0: what was flushed has arrived. EPIPE: its reader has gone.
// Any thread.
int outputError();

}  // namespace lockstep
