package session

// Threads that a server and each runner create at their start and keep, beside the 3 to 5 of Go's runtime. A server with 12 failed 1 of
// 8 times when twelve commands started at a limit, with 16 none of 25 times.
const serverThreads, runnerThreads = 20, 2

// Processes is the number of processes and threads of a server and the runner of one command, on two processors, for limits that
// count them with those of commands. Each further runner has 5.
const Processes = 25 + 5
