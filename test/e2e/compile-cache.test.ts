import { spawnSync } from "node:child_process";
import { statSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { piProgram } from "../helpers/pi-environment.js";
import { tempDir } from "../helpers/temp.js";

/** Stands in for what Node has from 22.1 on, so that every Node shows where the cache would be. */
const PRELOAD = `data:text/javascript,${encodeURIComponent(
	'import module from "node:module"; module.enableCompileCache = (where) => console.error("cache:" + where);',
)}`;

test("compiled code is kept among the user's own files, where nobody else can write", () => {
	const agentDir = join(tempDir(), "agent");
	const { stderr } = spawnSync(process.execPath, ["--import", PRELOAD, piProgram(), "--list-models"], {
		encoding: "utf8",
		env: { PATH: process.env.PATH, PI_CODING_AGENT_DIR: agentDir, PI_OFFLINE: "1" },
	});
	const directory = join(agentDir, "cache", "node");
	expect(stderr).toContain(`cache:${directory}\n`);
	expect(statSync(directory).mode & 0o777).toBe(0o700);
});

test("a home that cannot be written to costs the cache and nothing else", () => {
	const { stderr, status } = spawnSync(process.execPath, ["--import", PRELOAD, piProgram(), "--list-models"], {
		encoding: "utf8",
		env: { PATH: process.env.PATH, PI_CODING_AGENT_DIR: "/dev/null/agent", PI_OFFLINE: "1" },
	});
	expect(stderr).not.toContain("cache:");
	expect(stderr).toContain("No model is set up");
	expect(status).toBe(1);
});
