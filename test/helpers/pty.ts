import { readFileSync, write as writeToFile } from "node:fs";
import { Socket } from "node:net";
import pty from "@lydell/node-pty";
import headless from "@xterm/headless";
import { onTestFailed, onTestFinished } from "vitest";
import { keyBytes } from "./keys.js";
import { type PiOptions, piPlace, piProgram } from "./pi-environment.js";
import { type Cell, rowText, screenCells } from "./screen-cells.js";

/** How a test starts the program in a terminal. */
export interface PtyOptions extends PiOptions {
	columns?: number;
	rows?: number;
}

/** The program's exit. `signal` is 0 when no signal ended it. */
export interface PtyExit {
	code: number;
	signal: number;
}

/** The program in a real terminal; an emulator shows what a user would see. */
export interface PiTerminal {
	readonly pid: number;
	readonly cwd: string;
	readonly agentDir: string;
	/** All bytes that the program wrote, escape sequences included. */
	output(): string;
	/** The visible lines without trailing spaces. */
	screen(): Promise<string>;
	/** The scrollback and the screen below it. */
	scrollback(): Promise<string>;
	/** The screen as cells, one list per row. */
	cells(): Promise<Cell[][]>;
	/** Position of the cursor on the screen, 0-based. */
	cursor(): Promise<{ column: number; row: number }>;
	/** The palette's index of the color in which the screen shows a text, at its last place; null for the default color. */
	colorOf(text: string): Promise<Cell["color"]>;
	/**
	 * Resolves with the screen when it shows the text; with `scrollback`, when the text is anywhere.
	 * Rejects with the screen when the program ends first or the timeout expires.
	 */
	waitForText(wanted: string | RegExp, options?: WaitOptions): Promise<string>;
	/** Resolves with the screen when it no longer shows the text. */
	waitForGone(unwanted: string | RegExp, options?: WaitOptions): Promise<string>;
	/** Resolves with the screen when `found` returns true for it. */
	waitForScreen(found: (screen: string) => boolean, condition: string, options?: WaitOptions): Promise<string>;
	/** Sends text as typed, in one write. */
	type(text: string): void;
	/** Sends text as a bracketed paste. */
	paste(text: string): void;
	/** Sends keys by name (see keys.ts). Whatever is sent after an escape waits until the program has read that. */
	press(...keys: string[]): Promise<void>;
	resize(columns: number, rows: number): void;
	kill(signal?: NodeJS.Signals): void;
	/** Closes the terminal, like closing its window. */
	hangUp(): void;
	readonly exited: Promise<PtyExit>;
}

export interface WaitOptions {
	/** Default 10 000. */
	timeoutMs?: number;
	/** Searches the scrollback too. */
	scrollback?: boolean;
}

interface PtyWriter {
	write(text: string): void;
	/** Sends a key that the program must read before anything else. */
	writeAlone(text: string): void;
	/** Resolves when the program's terminal has taken everything. */
	drain(): Promise<void>;
}

/**
 * Writes to a pseudoterminal without blocking. The library's own `write` waits in a loop while the terminal is full; the
 * program's output is not read then, and both wait for each other.
 */
function createWriter(child: pty.IPty, isOver: () => boolean): PtyWriter {
	const { fd } = child as unknown as { fd: number };
	const waiting: { bytes: Buffer; isAlone: boolean }[] = [];
	let isWriting = false;
	const drained: (() => void)[] = [];
	const flush = () => {
		const first = waiting[0];
		if (first === undefined || isOver()) {
			isWriting = false;
			for (const resolve of drained.splice(0)) resolve();
			return;
		}
		isWriting = true;
		writeToFile(fd, first.bytes, (error, count = 0) => {
			// EAGAIN: the terminal is full.
			if (error) return void setTimeout(flush, 2);
			first.bytes = first.bytes.subarray(count);
			if (first.bytes.length > 0) return flush();
			waiting.shift();
			if (first.isAlone) void untilRead(child.pid).then(flush);
			else flush();
		});
	};
	const add = (text: string, isAlone: boolean) => {
		waiting.push({ bytes: Buffer.from(text), isAlone });
		if (!isWriting) flush();
	};
	return {
		write: (text) => add(text, false),
		writeAlone: (text) => add(text, true),
		async drain() {
			if (isWriting) await new Promise<void>((resolve) => drained.push(resolve));
		},
	};
}

/**
 * Resolves when a program has probably processed a lone escape. Together with another key in one read, or soon after it,
 * escape would be Alt with that key, and a busy machine delays reads.
 */
async function untilRead(pid: number): Promise<void> {
	// A program that sleeps waits for input: it has read the escape. Its parser waits some milliseconds for more.
	for (let look = 0; look < 100; look++) {
		await new Promise((resolve) => setTimeout(resolve, 20));
		if (isAsleep(pid)) break;
	}
	await new Promise((resolve) => setTimeout(resolve, 60));
}

/** True also if the system does not say. */
function isAsleep(pid: number): boolean {
	try {
		return /^State:\s+[^R]/m.test(readFileSync(`/proc/${pid}/status`, "utf8"));
	} catch {
		return true;
	}
}

/** Starts the program in its own pseudoterminal and kills it at the end of the test. */
export function startPi(options: PtyOptions = {}): PiTerminal {
	const place = piPlace(options);
	const columns = options.columns ?? 80;
	const rows = options.rows ?? 24;
	const emulator = new headless.Terminal({ cols: columns, rows, scrollback: 100_000, allowProposedApi: true });
	const child = pty.spawn(process.execPath, [options.entry ?? piProgram(), ...(options.args ?? [])], {
		cols: columns,
		rows,
		cwd: place.cwd,
		env: { TERM: "xterm-256color", ...place.env },
	});
	const { write, writeAlone, drain } = createWriter(child, () => exit !== null);
	const written: string[] = [];
	const watchers = new Set<() => void>();
	let exit: PtyExit | null = null;
	const notify = () => {
		for (const watcher of [...watchers]) watcher();
	};
	child.onData((data) => {
		written.push(data);
		emulator.write(data, notify);
	});
	// The emulator answers device queries like a terminal.
	emulator.onData((answer) => {
		write(answer);
	});
	const exited = new Promise<PtyExit>((resolve) => {
		child.onExit(({ exitCode, signal }) => {
			exit = { code: exitCode, signal: signal ?? 0 };
			// The emulator has not processed the rest of the output yet.
			emulator.write("", notify);
			resolve(exit);
		});
	});
	onTestFinished(async () => {
		if (!exit) child.kill("SIGKILL");
		await exited;
		emulator.dispose();
	});
	onTestFailed(() => console.error(`The screen of pi (process ${child.pid}) when the test failed:\n${visible()}`));

	/** A frame can arrive in several pieces. As in a terminal, only complete ones are seen. */
	const isInFrame = () => emulator.modes.synchronizedOutputMode && exit === null;
	const parsed = async () => {
		await new Promise<void>((resolve) => emulator.write("", resolve));
		if (!isInFrame()) return;
		await new Promise<void>((resolve) => {
			const look = () => {
				if (isInFrame()) return;
				watchers.delete(look);
				resolve();
			};
			watchers.add(look);
		});
	};
	const lines = (from: number) => {
		const buffer = emulator.buffer.active;
		const found: string[] = [];
		for (let row = from; row < buffer.length; row++) found.push(rowText(buffer.getLine(row)));
		return found.join("\n").trimEnd();
	};
	const visible = () => lines(emulator.buffer.active.baseY);

	const waitForScreen: PiTerminal["waitForScreen"] = (
		found,
		condition,
		{ timeoutMs = 10_000, scrollback = false } = {},
	) =>
		new Promise((resolve, reject) => {
			const settle = (failure?: string) => {
				clearTimeout(timer);
				watchers.delete(look);
				if (failure === undefined) resolve(visible());
				else reject(new Error(`${failure}. The screen:\n${visible()}`));
			};
			const look = () => {
				if (isInFrame()) return;
				if (found(scrollback ? lines(0) : visible())) settle();
				else if (exit) settle(`The program ended (code ${exit.code}, signal ${exit.signal}) before ${condition}`);
			};
			const timer = setTimeout(() => settle(`Timed out after ${timeoutMs} ms waiting for ${condition}`), timeoutMs);
			watchers.add(look);
			look();
		});

	return {
		pid: child.pid,
		cwd: place.cwd,
		agentDir: place.agentDir,
		output: () => written.join(""),
		async screen() {
			await parsed();
			return visible();
		},
		async scrollback() {
			await parsed();
			return lines(0);
		},
		async cells() {
			await parsed();
			return screenCells(emulator);
		},
		async cursor() {
			await parsed();
			return { column: emulator.buffer.active.cursorX, row: emulator.buffer.active.cursorY };
		},
		async colorOf(text) {
			await parsed();
			const rows = visible().split("\n");
			const row = rows.findLastIndex((line) => line.includes(text));
			if (row < 0) throw new Error(`${text} is not on the screen:\n${visible()}`);
			return screenCells(emulator)[row]?.[rows[row]?.lastIndexOf(text) ?? 0]?.color ?? null;
		},
		waitForScreen,
		waitForText: (wanted, wait) => waitForScreen((screen) => contains(screen, wanted), `${wanted} to show`, wait),
		waitForGone: (unwanted, wait) => waitForScreen((screen) => !contains(screen, unwanted), `${unwanted} to go`, wait),
		type: write,
		paste: (text) => write(`\x1b[200~${text}\x1b[201~`),
		async press(...keys) {
			for (const key of keys) (key === "escape" ? writeAlone : write)(keyBytes(key));
			await drain();
		},
		resize(newColumns, newRows) {
			emulator.resize(newColumns, newRows);
			child.resize(newColumns, newRows);
		},
		kill: (signal = "SIGTERM") => child.kill(signal),
		hangUp: () => closeMaster(child),
		exited,
	};
}

function contains(screen: string, wanted: string | RegExp): boolean {
	return typeof wanted === "string" ? screen.includes(wanted) : wanted.test(screen);
}

/** Closes the program's terminal without sending a signal, to test the behavior of the system. */
function closeMaster(child: pty.IPty): void {
	const socket: unknown = Reflect.get(child, "_socket");
	if (!(socket instanceof Socket)) throw new Error("This version of node-pty has no socket of its terminal");
	socket.destroy();
}
