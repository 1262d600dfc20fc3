// Runs the client scenarios of the conformance kit of MCP with the built pi as the client.
// Usage: npm run test:conformance, or on Node 22 or later: node test/conformance/run.js [scenario…] [--outputFile.json=FILE]
// The kit is not a dependency, because it needs a newer Node than pi: npx installs it. The alpha is pinned because no stable
// version has the scenarios of 2026-07-28.
import { spawn } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { availableParallelism, tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const KIT = "@modelcontextprotocol/conformance@0.2.0-alpha.12";
const REVISIONS = ["2025-11-25", "2026-07-28"];
/** Checks that fail, and why; any other result is a failure, success included. */
const EXPECTED_FAILURES = {
	// pi takes the name of the dialect from a schema that it sends to a model: some providers refuse it, and it says nothing to one.
	// The scenario sees only what the model has received.
	"json-schema-2020-12-preservation": ["json-schema-2020-12-client-$schema-preserved"],
};

const root = fileURLToPath(new URL("../..", import.meta.url));
const output = mkdtempSync(join(tmpdir(), "pi-conformance-"));

/** Runs the kit. @returns its exit status and all that it printed, without colors */
function kit(...args) {
	const started = spawn("npx", ["--yes", KIT, ...args], { cwd: root, stdio: ["ignore", "pipe", "pipe"] });
	let text = "";
	for (const stream of [started.stdout, started.stderr])
		stream.setEncoding("utf8").on("data", (part) => (text += part));
	return new Promise((resolve, reject) => {
		started.once("error", reject);
		started.once("close", (status) => resolve({ status, text: text.replace(/\u001b\[\d*m/g, "") }));
	});
}

/** The scenarios of the revisions. */
async function scenarios(named) {
	const { text } = await kit("list", "--client");
	const listed = [...text.matchAll(/^ *- (\S+) \[(.*)\]$/gm)].flatMap(([, name, revisions]) =>
		REVISIONS.filter((revision) => revisions.split(",").includes(revision)).map((revision) => ({ name, revision })),
	);
	if (listed.length === 0) throw new Error(`${KIT} lists no scenarios:\n${text}`);
	return named.length === 0 ? listed : listed.filter(({ name }) => named.includes(name));
}

async function passes({ name, revision }) {
	const client = "node test/conformance/client.mjs";
	const { status, text } = await kit(
		...["client", "--command", client, "--scenario", name, "--spec-version", revision, "-o", output],
	);
	const failures = [...text.matchAll(/\[([^\s\]]+) *\] FAILURE /g)].map(([, check]) => check);
	const expected = EXPECTED_FAILURES[name] ?? [];
	const isAsExpected = expected.length > 0 ? `${failures}` === `${expected}` : status === 0 && failures.length === 0;
	const reason = expected.length > 0 ? ` except ${expected.join(", ")}` : "";
	console.log(`${revision} ${name}: ${isAsExpected ? `passed${reason}` : `FAILED\n${text}`}`);
	return isAsExpected;
}

const args = process.argv.slice(2);
const report = args.find((arg) => arg.startsWith("--outputFile.json="))?.replace(/^[^=]*=/, "");
const queue = await scenarios(args.filter((arg) => !arg.startsWith("--")));
const results = [];
const work = async () => {
	for (let next = queue.shift(); next; next = queue.shift()) results.push(await passes(next));
};
await Promise.all(Array.from({ length: Math.min(availableParallelism(), 4) }, work));
rmSync(output, { recursive: true, force: true });
const numPassedTests = results.filter(Boolean).length;
const numFailedTests = results.length - numPassedTests;
console.log(`conformance: ${numPassedTests} scenarios passed, ${numFailedTests} failed`);
if (report !== undefined) writeFileSync(report, JSON.stringify({ numPassedTests, numFailedTests }));
process.exitCode = numFailedTests > 0 || results.length === 0 ? 1 : 0;
