import { spawnSync } from "node:child_process";
import { writeSync } from "node:fs";
import { type MessagePort, parentPort, receiveMessageOnPort, workerData } from "node:worker_threads";
import { CELLS, type WatchdogData } from "./watchdog-cells.js";

/** A question is waited for in so many short sleeps: time for which the whole process was stopped counts as one. */
const SLEEPS = 10;

/** Watches over the program from a thread of its own, for as long as it lives. @see Watchdog */
function watch(port: MessagePort, { cells, restore, isTerminal }: WatchdogData): never {
	const sleep = (ms: number) => Atomics.wait(cells, CELLS.nothing, 0, ms);
	for (let question = 1; ; ) {
		Atomics.wait(cells, CELLS.running, 0);
		const limitMs = Atomics.load(cells, CELLS.limitMs);
		sleep(limitMs);
		if (Atomics.load(cells, CELLS.running) === 0) continue;
		// Whoever waits for something can answer this, however long it takes.
		port.postMessage(question);
		for (let slept = 0; slept < SLEEPS && Atomics.load(cells, CELLS.answer) !== question; slept++) {
			sleep(limitMs / SLEEPS);
		}
		if (Atomics.load(cells, CELLS.answer) !== question) {
			end(nameOf(port, Atomics.load(cells, CELLS.latest)), 2 * limitMs, { restore, isTerminal });
		}
		question++;
	}
}

/** What a label stands for, of all that were told. */
function nameOf(port: MessagePort, label: number): string {
	let name = "";
	for (let told = receiveMessageOnPort(port); told; told = receiveMessageOnPort(port)) {
		const message: { label: number; text: string } = told.message;
		if (message.label === label) name = message.text;
	}
	return name;
}

function end(name: string, ms: number, { restore, isTerminal }: Omit<WatchdogData, "cells">): void {
	if (restore !== null) write(1, restore);
	// Keys are read raw until someone says otherwise; without stty the user has to.
	if (isTerminal) spawnSync("stty", ["sane"], { stdio: [0, "ignore", "ignore"] });
	const seconds = Math.round(ms / 100) / 10;
	write(
		2,
		`pi: ${name} let nothing else run for ${seconds} s, so pi was ended · mend it or move it away; --no-hooks starts without hooks\n`,
	);
	// The one way out that needs nothing of the thread that hangs.
	process.kill(process.pid, "SIGKILL");
}

function write(fd: number, text: string): void {
	try {
		writeSync(fd, text);
	} catch {
		// The terminal or the reader is gone; the end comes all the same.
	}
}

if (parentPort) watch(parentPort, workerData);
