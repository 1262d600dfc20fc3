// Measures the built program against the budgets, as ratios to the floors of the same run.
// Usage: node test/bench/bench.mjs [names…] [--rounds N] [--save] [--program FILE]
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { cpus } from "node:os";
import { join, resolve } from "node:path";
import { createWorkshop, ROOT } from "./lib/workshop.mjs";
import { summarize } from "./lib/stats.mjs";
import { contextBuild, nextRequest } from "./measures/context.mjs";
import { bashFlood, longArguments } from "./measures/floods.mjs";
import { hooksScreen, hooksStart } from "./measures/hooks.mjs";
import { firstRequest, printStream, toolTurns } from "./measures/print.mjs";
import { resumeSession } from "./measures/resume.mjs";
import { historyEcho, idleScreen, screenStream, waitingScreen } from "./measures/screen.mjs";
import { logAppend, sessionCatalog } from "./measures/sessions.mjs";
import { fastPaths, firstPaint } from "./measures/start.mjs";

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
	idle: idleScreen,
	waiting: waitingScreen,
	history: historyEcho,
	context: contextBuild,
	next: nextRequest,
	resume: resumeSession,
	sessions: sessionCatalog,
	append: logAppend,
};
const BASELINE = join(ROOT, "test/bench/baseline.json");
const LATEST = join(ROOT, "test/bench/latest.local.json");
const DEFAULT_ROUNDS = 5;

const options = readArguments(process.argv.slice(2));
const baseline = existsSync(BASELINE) ? JSON.parse(readFileSync(BASELINE, "utf8")) : { rows: {} };
const workshop = await createWorkshop(options.program);
const rows = {};
let failures = 0;

console.log(`Node ${process.version}, ${cpus().length} CPUs, ${options.rounds} rounds; min / median / max\n`);
try {
	for (const name of options.names) {
		try {
			for (const row of await MEASURES[name]({ rounds: options.rounds, workshop })) report(row);
		} catch (error) {
			failures += 1;
			console.log(`✗ ${name}: ${error instanceof Error ? error.message : error}`);
		}
	}
} finally {
	workshop.remove();
}
const result = { node: process.version, cpus: cpus().length, at: new Date().toISOString(), rows };
writeFileSync(LATEST, `${JSON.stringify(result, null, "\t")}\n`);
if (options.save) {
	const saved = { ...result, rows: { ...baseline.rows, ...rows } };
	writeFileSync(BASELINE, `${JSON.stringify(saved, null, "\t")}\n`);
}
console.log(failures === 0 ? "\nAll within budget." : `\n${failures} over budget or not measured.`);
process.exitCode = failures === 0 ? 0 : 1;

/** Prints and records one row. Ratios are ratios of medians. */
function report({ name, unit, values, floor, floorValues, budget }) {
	const measured = summarize(values);
	const base = floorValues && summarize(floorValues);
	const ratio = base && base.median > 0 ? measured.median / base.median : null;
	const within = !budget || (budget.ratio !== undefined ? ratio !== null && ratio <= budget.ratio : measured.median <= budget.atMost);
	if (!within) failures += 1;
	const before = baseline.rows[name];
	rows[name] = { unit, ...measured, ...(floor ? { floor, floorMedian: base.median, ratio } : {}) };
	const parts = [
		`${within ? (budget ? "✓" : " ") : "✗"} ${name.padEnd(48)}`,
		spread(measured, unit).padEnd(30),
		(floor ? `${floor} ${spread(base, unit)}${ratio === null ? "" : ` → ${ratio.toFixed(2)}×`}` : "").padEnd(46),
		(budget ? `budget ${budget.ratio !== undefined ? `${budget.ratio}×` : `${budget.atMost} ${unit}`}` : "").padEnd(16),
		before ? `before ${before.ratio ? `${before.ratio.toFixed(2)}×` : short(before.median)}` : "",
	];
	console.log(parts.join(" ").trimEnd());
}

function spread({ min, median, max }, unit) {
	return `${short(min)} / ${short(median)} / ${short(max)} ${unit}`.trimEnd();
}

function short(value) {
	return value >= 100 ? value.toFixed(0) : value >= 10 ? value.toFixed(1) : value.toFixed(2);
}

function readArguments(args) {
	const names = [];
	let rounds = DEFAULT_ROUNDS;
	let save = false;
	let program;
	for (let index = 0; index < args.length; index++) {
		const arg = args[index];
		if (arg === "--save") save = true;
		else if (arg === "--program") program = resolve(args[++index] ?? usage("--program takes a file"));
		else if (arg === "--rounds") rounds = Number(args[++index]);
		else if (arg in MEASURES) names.push(arg);
		else usage(`unknown argument ${arg}`);
	}
	if (!Number.isInteger(rounds) || rounds < 1) usage("--rounds takes a whole number");
	return { names: names.length > 0 ? names : Object.keys(MEASURES), rounds, save, program };
}

function usage(problem) {
	console.error(`${problem}; measurements: ${Object.keys(MEASURES).join(", ")}; options: --rounds N, --save, --program FILE`);
	process.exit(2);
}
