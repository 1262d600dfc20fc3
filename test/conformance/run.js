// Runs the client scenarios of the conformance kit of MCP with the built pi as the client.
// Usage: node test/conformance/run.js, on Node 22 or later, after `npm run build`
// The kit is not a dependency, because it needs a newer Node than pi: npx installs it. The alpha is pinned because no stable
// version has the scenarios of 2026-07-28. The scenarios of logins (auth/…) are not run yet.
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const KIT = "@modelcontextprotocol/conformance@0.2.0-alpha.12";
const SCENARIOS = {
	"2025-11-25": ["initialize", "tools_call", "elicitation-sep1034-client-defaults", "sse-retry"],
	"2026-07-28": [
		"tools_call",
		"request-metadata",
		"sep-2322-client-request-state",
		"http-standard-headers",
		"http-custom-headers",
		"http-invalid-tool-headers",
		"json-schema-ref-no-deref",
	],
};

const root = fileURLToPath(new URL("../..", import.meta.url));
const output = mkdtempSync(join(tmpdir(), "pi-conformance-"));
const failed = [];
for (const [revision, scenarios] of Object.entries(SCENARIOS)) {
	for (const scenario of scenarios) {
		const args = ["--command", "node test/conformance/client.mjs", "--scenario", scenario, "--spec-version", revision];
		const kit = spawnSync("npx", ["--yes", KIT, "client", ...args, "-o", output], { cwd: root, encoding: "utf8" });
		console.log(`${revision} ${scenario}: ${kit.status === 0 ? "passed" : "FAILED"}`);
		if (kit.status === 0) continue;
		failed.push(scenario);
		console.log(`${kit.stdout}${kit.stderr}`);
	}
}
rmSync(output, { recursive: true, force: true });
process.exitCode = failed.length > 0 ? 1 : 0;
