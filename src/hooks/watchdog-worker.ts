import { spawnSync } from "node:child_process";
import { writeSync } from "node:fs";
import { type MessagePort, parentPort, receiveMessageOnPort, workerData } from "node:worker_threads";
import { CELLS, type WatchdogData } from "./watchdog-cells.js";

/** The wait for an answer is split into this many sleeps, so that a suspended process (Ctrl+Z) loses only one of them. */
const SLEEPS = 10;

/** Body of the watchdog thread; runs until pi exits. @see Watchdog */
function watch(port: MessagePort, { cells, restore, isTerminal }: WatchdogData): never {
	const sleep = (ms: number) => Atomics.wait(cells, CELLS.sleep, 0, ms);
	for (let ping = 1; ; ) {
		Atomics.wait(cells, CELLS.running, 0);
		const limitMs = Atomics.load(cells, CELLS.limitMs);
		sleep(limitMs);
		if (Atomics.load(cells, CELLS.running) === 0) continue;
		// A main thread that only waits for I/O can answer; one in an endless loop cannot.
		port.postMessage(ping);
		for (let slept = 0; slept < SLEEPS && Atomics.load(cells, CELLS.answer) !== ping; slept++) {
			sleep(limitMs / SLEEPS);
		}
		if (Atomics.load(cells, CELLS.answer) !== ping) {
			kill(nameOf(port, Atomics.load(cells, CELLS.latest)), 2 * limitMs, { restore, isTerminal });
		}
		ping++;
	}
}

/** The text of a label, from the label messages received so far. */
function nameOf(port: MessagePort, label: number): string {
	let name = "";
	for (let received = receiveMessageOnPort(port); received; received = receiveMessageOnPort(port)) {
		const message: { label: number; text: string } = received.message;
		if (message.label === label) name = message.text;
	}
	return name;
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

if (parentPort) watch(parentPort, workerData);
