import { spawn } from "node:child_process";

// Starts the program of PI_TEST_PROGRAM under strace, which writes the network calls of all its processes to PI_TEST_STRACE.
const { PI_TEST_PROGRAM = "", PI_TEST_STRACE = "", ...env } = process.env;
const calls = "trace=connect,bind,listen,sendto,sendmsg,sendmmsg";
const strace = ["-f", "-qq", "--seccomp-bpf", "-e", calls, "-e", "signal=none", "-o", PI_TEST_STRACE];
const child = spawn("strace", [...strace, process.execPath, PI_TEST_PROGRAM, ...process.argv.slice(2)], {
	// Not for this process itself, which is no part of pi.
	env: { ...env, NODE_OPTIONS: env.PI_TEST_NODE_OPTIONS },
	stdio: "inherit",
});
child.once("exit", (code) => process.exit(code ?? 1));
