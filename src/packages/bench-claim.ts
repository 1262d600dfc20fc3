import { posix } from "node:path";
import { BUNDLED_PREFIX, hookName } from "../hooks/hook-name.js";
import type { CodeFile } from "../trust/code-files.js";
import { isRecord } from "../util/is-record.js";
import { revealLine } from "../util/reveal.js";
import { type PackageSource, packageName, shortName } from "./source.js";

/** What a package says its context strategies save: its `bench.json`. Figures and texts are its own, and nobody has checked them. */
export interface BenchClaim {
	/** `provider/id` whose prices were used instead of the recorded ones. */
	model: string | null;
	/** Day of the bench, `YYYY-MM-DD`. */
	date: string | null;
	sessions: number;
	requests: number;
	strategies: readonly ClaimedStrategy[];
}

/** The claim for one strategy. */
export interface ClaimedStrategy {
	/** As the package names it, such as `./hooks/squeeze.ts`. */
	strategy: string;
	/** The same for `pi context bench` here, such as `pi-squeeze:squeeze`; null if the package does not bring these hooks. */
	word: string | null;
	/** Tokens. */
	sent: number;
	cached: number;
	resent: number;
	/** USD, without and with the strategy; null if unknown. */
	none: number | null;
	cost: number | null;
	/** What the model used and still has in front of it, in percent. */
	evidence: number;
}

const FILE = "bench.json";
const MAX_BYTES = 4 * 1024 * 1024;
const MAX_STRATEGIES = 20;
const MAX_TEXT = 60;

/**
 * Reads the `bench.json` of a package: the output of `pi context bench --json`, of which only some fields count.
 * @param source of the package
 * @param hooks the files of its hooks, relative to it
 * @returns null if it has no claim; a sentence if the claim is not valid
 */
export function readBenchClaim(
	files: readonly Pick<CodeFile, "rel" | "bytes">[],
	source: PackageSource,
	hooks: readonly string[],
): BenchClaim | string | null {
	const file = files.find(({ rel }) => rel === FILE);
	if (!file) return null;
	try {
		if (file.bytes.length > MAX_BYTES) throw new Error(`it is larger than ${MAX_BYTES / 1024 / 1024} MB`);
		return readClaim(parse(file.bytes), (strategy) => wordOf(strategy, source, hooks));
	} catch (error) {
		return `its ${FILE} is ignored: ${error instanceof Error ? error.message : "it cannot be read"}`;
	}
}

function parse(bytes: Uint8Array): unknown {
	try {
		return JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes));
	} catch {
		throw new Error("it is not valid JSON");
	}
}

function readClaim(value: unknown, findWord: (strategy: string) => string | null): BenchClaim {
	if (!isRecord(value)) throw new Error("it is not an object");
	const { model = null, date = null, sessions, total } = value;
	if (model !== null && typeof model !== "string") throw new Error("model is not a text");
	if (date !== null && (typeof date !== "string" || Number.isNaN(Date.parse(date))))
		throw new Error("date is not a date");
	if (!Array.isArray(sessions) || sessions.length === 0) throw new Error("sessions is not a list with sessions");
	if (!Array.isArray(total) || total.length < 2 || total.length > MAX_STRATEGIES)
		throw new Error(`total is not a list of none and 1 to ${MAX_STRATEGIES - 1} strategies`);
	const [base, ...others] = total.map((row, at) => readRow(row, `total[${at}]`));
	if (base?.strategy !== "none") throw new Error("total[0].strategy is not none");
	return {
		model: model === null ? null : shown(model),
		date: date === null ? null : new Date(date).toISOString().slice(0, 10),
		sessions: sessions.length,
		requests: sessions.reduce((sum, session, at) => sum + amount(session, "requests", `sessions[${at}]`), 0),
		strategies: others.map(({ strategy, ...row }) => ({
			...{ strategy: shown(strategy), word: findWord(strategy), ...row },
			none: base.cost,
		})),
	};
}

function readRow(row: unknown, at: string) {
	if (!isRecord(row) || typeof row.strategy !== "string" || row.strategy.trim() === "")
		throw new Error(`${at}.strategy is not a text`);
	const { strategy, totals, evidence } = row;
	const [sent, cached, resent] = ["sent", "cached", "resent"].map((name) => amount(totals, name, `${at}.totals`));
	const [needed, kept] = ["needed", "kept"].map((name) => amount(evidence, name, `${at}.evidence`));
	if (sent === undefined || cached === undefined || resent === undefined || needed === undefined || kept === undefined)
		throw new Error(`${at} lacks figures`);
	if (cached > sent) throw new Error(`${at}.totals.cached is more than sent`);
	if (kept > needed) throw new Error(`${at}.evidence.kept is more than needed`);
	const cost = isRecord(totals) && totals.cost === null ? null : amount(totals, "cost", `${at}.totals`);
	return { strategy, sent, cached, resent, cost, evidence: needed === 0 ? 100 : (100 * kept) / needed };
}

function amount(value: unknown, name: string, at: string): number {
	const found = isRecord(value) ? value[name] : undefined;
	if (typeof found === "number" && Number.isFinite(found) && found >= 0) return found;
	throw new Error(`${at}.${name} is not a number from 0`);
}

/** One short line without control characters: a package must not draw on the screen. */
function shown(text: string): string {
	return revealLine(text, { maxLength: MAX_TEXT });
}

function wordOf(strategy: string, source: PackageSource, hooks: readonly string[]): string | null {
	const words = strategy.split("+").map((part) => {
		const name = part.trim();
		if (/^pi:[\w-]+$/.test(name)) return name;
		const path = posix.normalize(name.replace(/^\.\//, ""));
		return hooks.includes(path) ? `${shortName(source)}:${hookName(`${packageName(source)}/${path}`)}` : null;
	});
	const isComplete = words.every((word) => word !== null) && words.some((word) => !word?.startsWith(BUNDLED_PREFIX));
	return isComplete ? words.join("+") : null;
}
