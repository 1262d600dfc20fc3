import { spawn } from "node:child_process";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, onTestFinished, test } from "vitest";
import { atomicWriteFile } from "../../src/util/fs.js";
import { temporaryPath } from "../../src/util/temporary-file.js";
import { tempDir } from "../helpers/temp.js";

const root = fileURLToPath(new URL("../..", import.meta.url));

/** Begins to write a file, and never ends. */
const ENDLESS = `
import { atomicWriteFile } from ${JSON.stringify(`${root}src/util/fs.ts`)};
async function* endless() {
	yield "begun";
	setInterval(() => {}, 1000);
	await new Promise(() => {});
}
await atomicWriteFile(process.argv[2], endless());
`;

test("a killed writer leaves no temporary file beyond the next write in the directory", async () => {
	const [dir, script] = [tempDir(), join(tempDir(), "endless.mjs")];
	writeFileSync(script, ENDLESS);
	const writer = spawn(process.execPath, ["--import", `${root}bin/run-from-source.js`, script, join(dir, "a")]);
	onTestFinished(() => void writer.kill("SIGKILL"));
	const temporary = () => readdirSync(dir).filter((name) => name.startsWith(".pi-"));
	await expect.poll(temporary).toHaveLength(1);
	// Those of running processes, of other machines and of other programs remain.
	const [name = ""] = temporary();
	const others = [
		`.pi-${process.ppid}-${name.split("-").slice(2).join("-")}`,
		".pi-1-elsewhere-01234567.tmp",
		".pi-x.tmp",
	];
	for (const other of others) writeFileSync(join(dir, other), "");
	await atomicWriteFile(join(dir, "b"), "1");
	expect(readdirSync(dir).sort()).toEqual([...others, name, "b"].sort());
	const ended = new Promise((resolve) => writer.once("close", resolve));
	writer.kill("SIGKILL");
	await ended;
	await atomicWriteFile(join(dir, "b"), "2");
	expect(readdirSync(dir).sort()).toEqual([...others, "b"].sort());
	expect(readFileSync(join(dir, "b"), "utf8")).toBe("2");
});

test("temporary files have names of their own", () => {
	expect(temporaryPath("/a/b")).not.toBe(temporaryPath("/a/b"));
	expect(temporaryPath("/a/b")).toMatch(/^\/a\/\.pi-\d+-[\w.]+-[0-9a-f]{8}\.tmp$/);
});
