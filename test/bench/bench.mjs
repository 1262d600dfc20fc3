// Measures the built program against the budgets, as ratios to the floors of the same run.
// Usage: node test/bench/bench.mjs [names…] [--rounds N] [--save] [--json] [--program FILE]
//        node test/bench/bench.mjs --versus COMMAND [--versus-print ARGUMENTS] [--versus-setup COMMAND] [--rounds N] [--json]
// docs/performance.md explains both.
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { cpus } from "node:os";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { createWorkshop, ROOT } from "./lib/workshop.mjs";
import { summarize } from "./lib/stats.mjs";
import { contextBuild, nextRequest } from "./measures/context.mjs";
import { bashFlood, longArguments } from "./measures/floods.mjs";
import { hooksScreen, hooksStart } from "./measures/hooks.mjs";
import { firstRequest, printStream, toolTurns } from "./measures/print.mjs";
import { remoteTools } from "./measures/remote.mjs";
import { largeRequest, resumeSession } from "./measures/resume.mjs";
import { largeFiles, largeTree } from "./measures/scale.mjs";
import { deltaStream, historyEcho, idleScreen, screenStream, waitingScreen } from "./measures/screen.mjs";
import { logAppend, sessionCatalog } from "./measures/sessions.mjs";
import { fastPaths, firstPaint } from "./measures/start.mjs";
import { versus } from "./measures/versus.mjs";

const MEASURES = {
	version: fastPaths,
	paint: firstPaint,
	request: firstRequest,
	hooks: hooksStart,
	widgets: hooksScreen,
	turns: toolTurns,
	print: printStream,
	flood: bashFlood,
	arguments: longArguments,
	stream: screenStream,
	deltas: deltaStream,
	idle: idleScreen,
	waiting: waitingScreen,
	history: historyEcho,
	context: contextBuild,
	next: nextRequest,
	remote: remoteTools,
	resume: resumeSession,
	large: largeRequest,
	sessions: sessionCatalog,
	append: logAppend,
	files: largeFiles,
	tree: largeTree,
};
/** Written by `--save`; docs/performance.md shows its figures. */
const BASELINE = join(ROOT, `test/bench/baseline-${process.versions.node.split(".")[0]}.json`);
/** Measured only by name: they write 5 GB of sparse files and 500,000 small ones, and start an SSH server. */
const ONLY_BY_NAME = new Set(["files", "tree", "remote"]);
const LATEST = join(ROOT, "test/bench/latest.local.json");
const DEFAULT_ROUNDS = 5;

const options = readArguments(process.argv.slice(2));
const baseline = existsSync(BASELINE) ? JSON.parse(readFileSync(BASELINE, "utf8")) : { rows: {} };
const workshop = await createWorkshop(options.program);
const rows = {};
let failures = 0;
const print = options.json ? console.error : console.log;
const measures = options.versus ? { versus } : MEASURES;

print(`Node ${process.version}, ${cpus().length} CPUs, ${options.rounds} rounds; min / median / max\n`);
try {
	for (const name of options.names) {
		try {
			for (const row of await measures[name]({ rounds: options.rounds, workshop, other: options.versus })) report(row);
		} catch (error) {
			failures += 1;
			print(`✗ ${name}: ${error instanceof Error ? error.message : error}`);
		}
	}
} finally {
	workshop.remove();
}
const result = { node: process.version, cpus: cpus().length, at: new Date().toISOString(), rows };
if (!options.versus) writeFileSync(LATEST, `${JSON.stringify(result, null, "\t")}\n`);
if (options.save) {
	const saved = { ...result, rows: { ...baseline.rows, ...rows } };
	writeFileSync(BASELINE, `${JSON.stringify(saved, null, "\t")}\n`);
}
if (options.json) console.log(JSON.stringify(result, null, "\t"));
print(failures === 0 ? options.versus ? "\nAll measured; a ratio below 1 means that pi is ahead." : "\nAll within budget." : `\n${failures} over budget or not measured.`);
process.exitCode = failures === 0 ? 0 : 1;

/** Prints and records one row. Ratios are ratios of medians. */
function report({ name, unit, values, floor, floorValues, budget }) {
	const measured = summarize(values);
	const base = floorValues && summarize(floorValues);
	const ratio = base && base.median > 0 ? measured.median / base.median : null;
	const within = !budget || (budget.ratio !== undefined ? ratio !== null && ratio <= budget.ratio : measured.median <= budget.atMost);
	if (!within) failures += 1;
	const before = options.versus ? undefined : baseline.rows[name];
	rows[name] = { unit, ...measured, ...(budget && { budget }), ...(floor ? { floor, floorMedian: base.median, ratio } : {}) };
	const parts = [
		`${within ? (budget ? "✓" : " ") : "✗"} ${name.padEnd(48)}`,
		spread(measured, unit).padEnd(30),
		(floor ? `${floor} ${spread(base, unit)}${ratio === null ? "" : ` → ${ratio.toFixed(2)}×`}` : "").padEnd(46),
		(budget ? `budget ${budget.ratio !== undefined ? `${budget.ratio}×` : `${budget.atMost} ${unit}`}` : "").padEnd(16),
		before ? `before ${before.ratio ? `${before.ratio.toFixed(2)}×` : short(before.median)}` : "",
	];
	print(parts.join(" ").trimEnd());
}

function spread({ min, median, max }, unit) {
	return `${short(min)} / ${short(median)} / ${short(max)} ${unit}`.trimEnd();
}

function short(value) {
	return value >= 100 ? value.toFixed(0) : value >= 10 ? value.toFixed(1) : value.toFixed(2);
}

function readArguments(args) {
	const known = {
		save: { type: "boolean" },
		json: { type: "boolean" },
		program: { type: "string" },
		rounds: { type: "string", default: String(DEFAULT_ROUNDS) },
		versus: { type: "string" },
		"versus-print": { type: "string", default: "-p {prompt}" },
		"versus-setup": { type: "string" },
	};
	try {
		const { values, positionals } = parseArgs({ args, options: known, allowPositionals: true });
		const unknown = positionals.find((name) => !(name in MEASURES));
		if (unknown !== undefined) usage(`unknown measurement ${unknown}`);
		const rounds = Number(values.rounds);
		if (!Number.isInteger(rounds) || rounds < 1) usage("--rounds takes a whole number");
		if (values.versus !== undefined && (positionals.length > 0 || values.save)) usage("--versus takes no measurements and no --save");
		const versus = values.versus && { command: values.versus, print: values["versus-print"], setup: values["versus-setup"] };
		const names = positionals.length > 0 ? positionals : Object.keys(MEASURES).filter((name) => !ONLY_BY_NAME.has(name));
		const program = values.program && resolve(values.program);
		return { names: versus ? ["versus"] : names, rounds, program, versus, save: values.save, json: values.json };
	} catch (error) {
		return usage(error.message);
	}
}

function usage(problem) {
	console.error(
		`${problem}\nmeasurements: ${Object.keys(MEASURES).join(", ")}\noptions: --rounds N, --save, --json, --program FILE, --versus COMMAND, --versus-print ARGUMENTS, --versus-setup COMMAND`,
	);
	process.exit(2);
}
