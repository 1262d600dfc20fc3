import { spawnSync } from "node:child_process";
import { writeSync } from "node:fs";
import { dirname, sep } from "node:path";
import { fileURLToPath } from "node:url";
import { type MessagePort, parentPort, receiveMessageOnPort, workerData } from "node:worker_threads";
import { stripAll } from "../util/sanitize.js";
import { CELLS, type WatchdogData, type WatchdogMessage, type WatchedFile } from "./watchdog-cells.js";

/** The wait for an answer is split into this many sleeps, so that a suspended process (Ctrl+Z) loses only one of them. */
const SLEEPS = 10;
/** Maximum wait for the stack of the main thread, ms. Code that blocks in a system call has none. */
const STACK_MS = 1000;

/** What the thread has been told so far. */
interface Known {
	labels: Map<number, string>;
	files: Map<string, WatchedFile>;
}

/** Body of the watchdog thread; runs until pi exits. @see Watchdog */
async function watch(port: MessagePort, { cells, restore, isTerminal }: WatchdogData): Promise<never> {
	const known: Known = { labels: new Map(), files: new Map() };
	const sleep = (ms: number) => Atomics.wait(cells, CELLS.sleep, 0, ms);
	const isRunning = () => Atomics.load(cells, CELLS.running) > 0;
	for (let ping = 1; ; ping++) {
		if (!isRunning()) Atomics.wait(cells, CELLS.awake, 0);
		Atomics.store(cells, CELLS.awake, 0);
		const limitMs = Atomics.load(cells, CELLS.limitMs);
		sleep(limitMs);
		// A main thread that only waits for I/O can answer; one in an endless loop cannot.
		port.postMessage(ping);
		for (let slept = 0; slept < SLEEPS && Atomics.load(cells, CELLS.answer) !== ping; slept++) {
			sleep(limitMs / SLEEPS);
		}
		if (Atomics.load(cells, CELLS.answer) === ping) continue;
		read(port, known);
		const label = known.labels.get(Atomics.load(cells, CELLS.latest)) ?? "";
		// Without a running call, only code of a hook or tool that is running now is to blame.
		const name = isRunning() ? label : nameOf(await stackOfMain(), known.files);
		if (name !== null) kill(name, 2 * limitMs, { restore, isTerminal });
	}
}

/** Receives the messages sent so far. */
function read(port: MessagePort, { labels, files }: Known): void {
	for (let received = receiveMessageOnPort(port); received; received = receiveMessageOnPort(port)) {
		const message: WatchdogMessage = received.message;
		if ("label" in message) labels.set(message.label, message.text);
		else files.set(message.realPath, message);
	}
}

/** The files on the stack of the main thread, innermost first; empty if it cannot be interrupted. */
async function stackOfMain(): Promise<string[]> {
	const { Session } = await import("node:inspector");
	const session = new Session();
	session.connectToMainThread();
	try {
		return await new Promise<string[]>((resolve) => {
			const paths = new Map<string, string>();
			session.on("Debugger.scriptParsed", ({ params }) => void paths.set(params.scriptId, pathOf(params.url)));
			session.once("Debugger.paused", ({ params }) => {
				resolve(params.callFrames.map(({ location }) => paths.get(location.scriptId) ?? ""));
			});
			session.post("Debugger.enable");
			session.post("Debugger.pause");
			setTimeout(() => resolve([]), STACK_MS);
		});
	} finally {
		// Lets the main thread continue.
		session.disconnect();
	}
}

function pathOf(url: string): string {
	return url.startsWith("file:") ? fileURLToPath(url) : url;
}

/** Names the file that the main thread runs, or the one in whose folder it is; null if it is neither a hook nor a tool. */
function nameOf(stack: readonly string[], files: ReadonlyMap<string, WatchedFile>): string | null {
	const inFolder = (path: string) =>
		[...files.values()].find(
			({ realPath }) => path.startsWith(dirname(realPath) + sep) && !path.includes("node_modules"),
		);
	const found = stack.map((path) => files.get(path)).find(Boolean) ?? stack.map(inFolder).find(Boolean);
	return found ? stripAll(`${found.kind} ${found.path} in a timer or promise`) : null;
}

function kill(name: string, ms: number, { restore, isTerminal }: Omit<WatchdogData, "cells">): void {
	if (restore !== null) write(1, restore);
	// Leaves raw mode; without stty the user has to reset the terminal.
	if (isTerminal) spawnSync("stty", ["sane"], { stdio: [0, "ignore", "ignore"] });
	const seconds = Math.round(ms / 100) / 10;
	write(2, `pi: ${name} blocked pi for ${seconds} s, so pi exited · fix or remove it, or start with --no-hooks\n`);
	// The only exit that does not need the blocked main thread.
	process.kill(process.pid, "SIGKILL");
}

function write(fd: number, text: string): void {
	try {
		writeSync(fd, text);
	} catch {
		// The terminal or the reader is gone; pi exits anyway.
	}
}

if (parentPort) void watch(parentPort, workerData);
