// The long form of test/tools/large-trees.test.ts: files of gigabytes, a tree of 500,000 files.
import { appendFileSync, createWriteStream, mkdirSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { startModelServer } from "../lib/model-server.mjs";
import { interleave } from "../lib/stats.mjs";
import { startInTerminal } from "../lib/terminal.mjs";
import { overCall } from "./floods.mjs";

const FILES = 500_000;
const IN_FOLDER = 500;
const MEMORY = { atMost: 150 };

function writeTree(root) {
	for (let folder = 0; folder < FILES / IN_FOLDER; folder++) {
		const path = join(root, "packages", `part${folder % 100}`, `source${folder}`);
		mkdirSync(path, { recursive: true });
		for (let file = 0; file < IN_FOLDER; file++) writeFileSync(join(path, `file${file}.ts`), "export const common = 1;\n");
	}
	mkdirSync(join(root, "zebra"));
	writeFileSync(join(root, "zebra", "needle.ts"), "haystack\n");
	return root;
}

const line = (number) => `line ${String(number).padStart(9, "0")} of a log, as long as most of its lines are\n`;

/** 5 GB, most of it a hole: 100,000 lines at the start, one line of zeros, 100 lines at the end. */
function writeSparseFile(path) {
	writeFileSync(path, Array.from({ length: 100_000 }, (_, index) => line(index + 1)).join(""));
	truncateSync(path, 5_000_000_000);
	appendFileSync(path, `\n${Array.from({ length: 100 }, (_, index) => line(100_002 + index)).join("")}`);
}

/** 300 MB of lines. @returns their number */
async function writeLongFile(path) {
	const stream = createWriteStream(path);
	let lines = 0;
	for (let bytes = 0; bytes < 300_000_000; ) {
		const part = Array.from({ length: 10_000 }, () => line(++lines)).join("");
		bytes += part.length;
		if (!stream.write(part)) await new Promise((resolve) => stream.once("drain", resolve));
	}
	await new Promise((resolve) => stream.end(resolve));
	return lines;
}

/** Reads by offset in large files: time until the model has the result, and memory of pi. */
export async function largeFiles(bench) {
	const { cwd } = bench.workshop.sandbox();
	writeSparseFile(join(cwd, "sparse.log"));
	const lines = await writeLongFile(join(cwd, "long.log"));
	const cases = [
		["the start of 5 GB", { path: "sparse.log", offset: 1000 }, 250],
		["line 300 of 300 MB", { path: "long.log", offset: 300 }, 250],
		["the end of 300 MB", { path: "long.log", offset: lines - 10 }, 2_000],
		["the end of 5 GB", { path: "sparse.log", offset: 100_050 }, 20_000],
	];
	const rows = [];
	for (const [name, args, atMost] of cases) {
		const { wall, peak } = await overCall({ name: "read", arguments: args }, bench, cwd);
		rows.push({ name: `read ${name}`, unit: "ms", values: wall, budget: { atMost } });
		rows.push({ name: `read ${name}: peak memory`, unit: "MiB", values: peak, budget: MEMORY });
	}
	return rows;
}

/** Types `@` in a large tree. @returns ms to the first results, ms to a match that is listed last, the slowest echo meanwhile */
async function mention(command, sandbox) {
	const terminal = startInTerminal(command, sandbox);
	try {
		await terminal.painted();
		await delay(1_500);
		const [from, typed] = [terminal.chunks.length, terminal.now()];
		terminal.write("@");
		const first = (await terminal.waitFor("packages/", { from })) - typed;
		const echoes = [];
		for (let key = 2; key < 22; key++) echoes.push(await terminal.echo(key));
		const narrowed = terminal.chunks.length;
		terminal.write(`${"\x7f".repeat(20)}zebraneedle`);
		const found = (await terminal.waitFor("needle.ts", { from: narrowed })) - typed;
		return { first, found, slowest: Math.max(...echoes) };
	} finally {
		await terminal.close();
	}
}

/** `@`, find and grep in a tree of 500,000 files. */
export async function largeTree(bench) {
	const { rounds, workshop } = bench;
	const cwd = writeTree(workshop.sandbox().cwd);
	const server = await startModelServer(() => ({ text: "hello" }));
	try {
		const sandbox = { ...workshop.sandbox({ "models.json": server.modelsJson() }), cwd };
		const at = await interleave(rounds, { at: () => mention([...workshop.pi, "--model", "bench/scripted", "--no-session"], sandbox) });
		const find = await overCall({ name: "find", arguments: { pattern: "*.ts" } }, bench, cwd);
		const grep = await overCall({ name: "grep", arguments: { pattern: "common" } }, bench, cwd);
		return [
			{ name: "@ in 500,000 files: first results", unit: "ms", values: at.at.first, budget: { atMost: 150 } },
			{ name: "@ in 500,000 files: slowest key meanwhile", unit: "ms", values: at.at.slowest, budget: { atMost: 50 } },
			{ name: "@ in 500,000 files: file named with 11 keys found", unit: "ms", values: at.at.found },
			{ name: "find in 500,000 files", unit: "ms", values: find.wall, budget: { atMost: 5_000 } },
			{ name: "find in 500,000 files: peak memory", unit: "MiB", values: find.peak, budget: MEMORY },
			{ name: "grep in 500,000 files: first 100 matches", unit: "ms", values: grep.wall, budget: { atMost: 1_000 } },
			{ name: "grep in 500,000 files: peak memory", unit: "MiB", values: grep.peak, budget: MEMORY },
		];
	} finally {
		await server.close();
	}
}
