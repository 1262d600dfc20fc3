import { closeSync, mkdirSync, openSync, readdirSync, readSync, statSync, utimesSync, writeSync } from "node:fs";
import { join } from "node:path";
import { interleave } from "../lib/stats.mjs";

const FILES = 2_000;
/** MB that a search reads; the budget of 2 s applies to 1,000 MB. */
const SEARCHED = 250;
const BUDGET_MS = (2_000 * SEARCHED) / 1_000;

const line = (entry) => `${JSON.stringify({ type: "message", timestamp: "2026-01-01T00:00:00.000Z", message: entry })}\n`;
const prompt = (text) => line({ role: "user", content: text, timestamp: 1 });
const output = line({ role: "toolResult", toolCallId: "c", toolName: "bash", content: [{ type: "text", text: "a line that a tool has printed\n".repeat(120) }], isError: false, timestamp: 1 });

function writeSession(dir, number, bodies) {
	const id = `${String(number).padStart(8, "0")}-0000-4000-8000-000000000000`;
	const path = join(dir, `2026-01-01T00-00-00-000Z_${id}.jsonl`);
	const file = openSync(path, "w", 0o600);
	writeSync(file, `${JSON.stringify({ type: "session", version: 1, id, timestamp: "2026-01-01T00:00:00.000Z", cwd: "/" })}\n`);
	for (const body of bodies) writeSync(file, body);
	closeSync(file);
	utimesSync(path, number, number);
}

/** Modification times and first bytes of all files of a directory. */
function readHeads(dir) {
	const room = Buffer.allocUnsafe(64 * 1024);
	for (const name of readdirSync(dir)) {
		const path = join(dir, name);
		statSync(path);
		const file = openSync(path, "r");
		readSync(file, room, 0, room.length, 0);
		closeSync(file);
	}
}

/** Listing many sessions, and searching a text that only the oldest session contains. */
export async function sessionCatalog({ rounds, workshop }) {
	const { listSessions, searchSessions } = await workshop.source("src/log/catalog.ts", "src/log/search.ts");
	const many = join(workshop.dir, "many");
	const large = join(workshop.dir, "large");
	for (const dir of [many, large]) mkdirSync(dir);
	for (let number = 1; number <= FILES; number++) {
		writeSession(many, number, [prompt(`look at part ${number}`), output.repeat(number % 12)]);
	}
	const part = output.repeat(Math.ceil(10_000_000 / output.length));
	for (let number = 1; number <= SEARCHED / 10; number++) {
		writeSession(large, number, [prompt("go on"), part, prompt(number === 1 ? "the Needle is here" : "done")]);
	}
	const values = await interleave(rounds, {
		heads: async () => {
			const started = performance.now();
			readHeads(many);
			return { ms: performance.now() - started };
		},
		list: async () => {
			const started = performance.now();
			const sessions = await listSessions(many);
			const ms = performance.now() - started;
			if (sessions.length !== FILES || sessions[0].firstMessage !== `look at part ${FILES}`) throw new Error(`${sessions.length} sessions`);
			return { ms };
		},
		search: async () => {
			const started = performance.now();
			const { value } = await searchSessions(large, "needle").next();
			const ms = performance.now() - started;
			if (value?.excerpt !== "the Needle is here") throw new Error(`found ${JSON.stringify(value)}`);
			return { ms };
		},
	});
	return [
		{ name: `list of ${FILES} sessions`, unit: "ms", values: values.list.ms, floor: "bare reads", floorValues: values.heads.ms, budget: { atMost: 100 } },
		{ name: `search through ${SEARCHED} MB`, unit: "ms", values: values.search.ms, budget: { atMost: BUDGET_MS } },
	];
}

/** Entries that each measured run appends. */
const APPENDED = 500;
/** CPU for one entry in µs, without waiting for the disk. */
const APPEND_BUDGET_US = 50;

/** Cost of appending an entry to a long log. The floor writes the same line to a plain file. */
export async function logAppend({ rounds, workshop }) {
	const { SessionLog } = await workshop.source("src/log/session-log.ts");
	const entry = JSON.parse(prompt("please look at the parser"));
	const bare = openSync(join(workshop.dir, "bare.jsonl"), "a");
	const floor = async () => ({ us: cpuOf(() => writeSync(bare, `${JSON.stringify(entry)}\n`)) });
	const rows = [];
	for (const size of [1_000, 100_000]) {
		const dir = join(workshop.dir, `log-${size}`);
		mkdirSync(dir);
		writeSession(dir, 1, [prompt("go on").repeat(size)]);
		const log = SessionLog.open(join(dir, readdirSync(dir)[0]), { onWriteError: (error) => { throw error; } });
		const values = await interleave(rounds, { floor, append: async () => ({ us: cpuOf(() => log.append(entry)) }) });
		if (log.length !== size + 1 + rounds * APPENDED) throw new Error(`${log.length} entries`);
		log.close();
		rows.push({
			name: `append an entry at ${size} entries, CPU`,
			unit: "µs",
			values: values.append.us,
			floor: "a bare write",
			floorValues: values.floor.us,
			budget: { atMost: APPEND_BUDGET_US },
		});
	}
	closeSync(bare);
	return rows;
}

/** User and system CPU of the process in µs, for each of many runs. */
function cpuOf(run) {
	const before = process.cpuUsage();
	for (let n = 0; n < APPENDED; n++) run();
	const { user, system } = process.cpuUsage(before);
	return (user + system) / APPENDED;
}
