import type { BuiltContext } from "../../context/context-message.js";
import { type ContextReport, createContextReport } from "../../context/ledger.js";
import { findNativeSummary } from "../../context/native-compaction.js";
import type { MeteredInput } from "../../context-bench/meter.js";
import type { BenchSession, Strategy } from "../../context-bench/play.js";
import { PiError } from "../../errors.js";
import { isMessageEntry, type SessionEntry } from "../../log/entry.js";
import type { ModeIO } from "../../modes/mode.js";
import { printJson, printLines } from "../standard-io.js";
import { describeReport } from "./context.js";

const NONE: Strategy = { name: "none", hooks: [] };

/** Collects one request of a session under each strategy, for `--show`. */
export class ShownRequest {
	readonly #session: BenchSession;
	readonly #strategies: readonly Strategy[];
	readonly #before = new Map<string, BuiltContext>();
	readonly #reports = new Map<string, ContextReport>();

	/**
	 * @param reply index of the reply in the recording
	 * @throws PiError `bad_arguments` unless there is one session with this reply
	 */
	constructor(
		private readonly reply: number,
		sessions: readonly BenchSession[],
		strategies: readonly Strategy[],
	) {
		const [session, ...others] = sessions;
		if (!session || others.length > 0)
			throw new PiError("bad_arguments", `--show ${reply} needs one session, not ${sessions.length}`, {
				hint: "choose it with --sessions <id|file>",
			});
		if (!isReply(session.entries[reply])) {
			const near = session.entries.findIndex((entry, index) => index > reply && isReply(entry));
			throw new PiError("bad_arguments", `--show ${reply}: entry ${reply} is not a reply of a model`, {
				hint: `the request that it answers is shown${near < 0 ? "" : `; the next reply is entry ${near}`}`,
			});
		}
		this.#session = session;
		this.#strategies = strategies.length > 0 ? strategies : [NONE];
	}

	/** Receives every request of every strategy. */
	readonly note = (strategy: string, { reply, message, context, entries }: MeteredInput): void => {
		const { path: session } = this.#session;
		const hooks = this.#strategies.find(({ name }) => name === strategy)?.hooks;
		if (reply === this.reply && hooks && entries) {
			const previous = this.#before.get(strategy) ?? "none";
			const all = entries();
			const native = findNativeSummary(context.messages, all, message);
			this.#reports.set(strategy, createContextReport({ session, context, entries: all, hooks, previous, native }));
		}
		this.#before.set(strategy, context);
	};

	/** Prints the request under each strategy. @returns 1 if one of them has none */
	async print(io: ModeIO, isJson: boolean): Promise<number> {
		const found = this.#strategies.map(({ name }) => ({ strategy: name, report: this.#reports.get(name) }));
		if (isJson)
			await printJson(
				io,
				found.map(({ strategy, report }) => ({ strategy, ...report })),
			);
		else
			await printLines(
				io,
				found.flatMap(({ strategy, report }, at) => [
					...(at > 0 ? [""] : []),
					`under ${strategy}, the request that entry ${this.reply} of the recording answers:`,
					...(report ? describeReport(report, io.columns) : ["the provider refused it, or it never arrived"]),
				]),
			);
		return found.every(({ report }) => report) ? 0 : 1;
	}
}

function isReply(entry: SessionEntry | undefined): boolean {
	return isMessageEntry(entry) && entry.message.role === "assistant";
}
