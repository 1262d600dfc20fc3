import { renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { watchFile } from "../../src/util/watch-file.js";
import { tempDir, writeFiles } from "../helpers/temp.js";

test("a change is reported once, even if an editor replaces the file", async () => {
	const home = tempDir();
	writeFiles(home, { "t/dusk.json": {}, "t/other.json": {} });
	const path = join(home, "t/dusk.json");
	let changes = 0;
	const close = watchFile(path, () => {
		changes += 1;
	});
	onTestFinished(close);
	writeFileSync(path, '{"base": "dark"}');
	writeFileSync(path, '{"base": "light"}');
	await expect.poll(() => changes).toBe(1);
	writeFileSync(join(home, "t/other.json"), "{ }");
	writeFileSync(`${path}~`, "{}");
	renameSync(`${path}~`, path);
	await expect.poll(() => changes).toBe(2);
	rmSync(path);
	await expect.poll(() => changes).toBe(3);
	close();
	writeFileSync(path, "{}");
	const again = watchFile(path, () => {
		changes += 10;
	});
	onTestFinished(again);
	writeFileSync(path, "{ }");
	await expect.poll(() => changes).toBe(13);
});

test("watching a file in a missing directory is a no-op", () => {
	watchFile(join(tempDir(), "nowhere", "x.json"), () => {})();
});
