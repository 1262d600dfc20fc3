import pty from "@lydell/node-pty";

/** Letters that no program prints on its own, measured like those that people type; each keystroke of a benchmark uses another one. */
const FIRST_MARK = 0x180;
const MARKS = 300;

/** Mark number `n`. */
export function mark(n) {
	return String.fromCharCode(FIRST_MARK + (n % MARKS));
}

/** Starts a program in a pseudoterminal and records its output with arrival times, in ms since the start. */
export function startInTerminal(command, { env, cwd, columns = 120, rows = 40 }) {
	const [file, ...args] = command;
	const started = performance.now();
	const child = pty.spawn(file, args, { cols: columns, rows, cwd, env });
	const chunks = [];
	const watchers = new Set();
	let exited = null;
	const notify = () => {
		for (const watcher of [...watchers]) watcher();
	};
	child.onData((data) => {
		chunks.push({ at: performance.now() - started, data });
		// Terminals answer this query, and programs may wait for the answer.
		if (data.includes("\x1b[c")) child.write("\x1b[?62;22c");
		notify();
	});
	const ended = new Promise((resolve) => {
		child.onExit((exit) => {
			exited = exit;
			notify();
			resolve(exit);
		});
	});

	return {
		pid: child.pid,
		chunks,
		now: () => performance.now() - started,
		write: (text) => child.write(text),
		bytes: () => chunks.reduce((sum, chunk) => sum + Buffer.byteLength(chunk.data), 0),
		/**
		 * Resolves with the time of the first chunk that holds `text`, looking from chunk number `from` on.
		 * Rejects when the program ends first or after `timeoutMs`.
		 */
		waitFor(text, { from = 0, timeoutMs = 60_000 } = {}) {
			let seen = from;
			let tail = "";
			return new Promise((resolve, reject) => {
				const settle = (finish) => {
					clearTimeout(timer);
					watchers.delete(look);
					finish();
				};
				const look = () => {
					for (; seen < chunks.length; seen++) {
						const window = tail + chunks[seen].data;
						if (window.includes(text)) {
							const { at } = chunks[seen];
							return settle(() => resolve(at));
						}
						tail = window.slice(-text.length);
					}
					if (exited) settle(() => reject(new Error(`ended (${exited.exitCode}) before ${JSON.stringify(text)}:\n${lastOf(chunks)}`)));
				};
				const timer = setTimeout(
					() => settle(() => reject(new Error(`no ${JSON.stringify(text)} in ${timeoutMs} ms:\n${lastOf(chunks)}`))),
					timeoutMs,
				);
				watchers.add(look);
				look();
			});
		},
		/**
		 * Resolves with the index of the first chunk that shows a letter or a line, other than `typed`: until a program takes
		 * over, the terminal itself echoes keys.
		 */
		async painted(typed = "", timeoutMs = 30_000) {
			const deadline = performance.now() + timeoutMs;
			for (;;) {
				const index = chunks.findIndex(({ data }) => visible(data).replaceAll(typed, "") !== "");
				if (index !== -1) return index;
				if (exited || performance.now() > deadline) throw new Error(`nothing painted:\n${lastOf(chunks)}`);
				await new Promise((resolve) => setTimeout(resolve, 1));
			}
		},
		/** Types mark number `n`. @returns the ms until it is shown */
		async echo(n, timeoutMs = 20_000) {
			const from = chunks.length;
			const typed = performance.now() - started;
			child.write(mark(n));
			return (await this.waitFor(mark(n), { from, timeoutMs })) - typed;
		},
		/** Ends the program as closing its window does: most keep compiled code for their next start when they end. */
		async close() {
			if (!exited) child.kill("SIGHUP");
			const timer = setTimeout(() => child.kill("SIGKILL"), MAX_END_MS);
			await ended;
			clearTimeout(timer);
		},
	};
}

/** Time that a program has to end, ms. */
const MAX_END_MS = 3000;

/** The printable characters of terminal output. */
function visible(data) {
	return data.replace(/\x1b\[[0-?]*[ -/]*[@-~]|\x1b[\]P_^][^\x07\x1b]*(?:\x07|\x1b\\)?|\x1b./g, "").replace(/[\s\x00-\x1f]/g, "");
}

function lastOf(chunks) {
	return chunks
		.map((chunk) => chunk.data)
		.join("")
		.slice(-600)
		.replaceAll("\x1b", "␛");
}
