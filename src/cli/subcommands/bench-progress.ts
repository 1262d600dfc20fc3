import type { AskedRequests } from "../../context-bench/remembered-answers.js";
import type { ModeIO } from "../../modes/mode.js";
import { formatCost, plural } from "../../util/format-amounts.js";

/** The running bench on a terminal. */
export interface BenchProgress {
	/** Aborted by Escape or Ctrl+C. */
	signal: AbortSignal;
	progress(done: number, total: number, session: string, strategy: string): void;
	/** Shows what models were asked so far. */
	asked(asked: AskedRequests): void;
	end(): void;
}

const STOP = " · Escape stops";

/** Shows progress on a terminal in one line, and stops on Escape or Ctrl+C. */
export function listenForStop(io: ModeIO): BenchProgress {
	const { stdin, stderr } = process;
	const stop = new AbortController();
	const onKey = (key: Buffer) => {
		if (["\u001b", "\u0003"].includes(key.toString())) stop.abort();
	};
	const isShown = io.outIsTerminal && stderr.isTTY === true;
	const canStop = isShown && stdin.isTTY === true;
	if (canStop) {
		stdin.setRawMode(true);
		stdin.on("data", onKey);
		stdin.resume();
	}
	let [runs, at, requests] = ["", "", ""];
	let isEnded = false;
	const show = () => {
		if (!isShown || isEnded) return;
		// A line that wraps cannot be replaced. The figures count more than the names.
		const room = (stderr.columns || 80) - 1 - runs.length - requests.length - STOP.length;
		io.err(`\r\u001b[K${runs}${requests}${at.length > room ? `${at.slice(0, Math.max(0, room - 1))}…` : at}${STOP}`);
	};
	return {
		signal: stop.signal,
		progress(done, total, session, strategy) {
			runs = `${done} of ${plural(total, "run")}`;
			at = ` · ${strategy} · ${session}`;
			show();
		},
		asked({ requests: count, cost }) {
			requests = ` · asked ${plural(count, "request")}, ${formatCost(cost)}`;
			show();
		},
		end() {
			isEnded = true;
			if (isShown) io.err("\r\u001b[K");
			if (!canStop) return;
			stdin.off("data", onKey);
			stdin.setRawMode(false);
			stdin.pause();
		},
	};
}
