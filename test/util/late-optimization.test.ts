import { execFileSync } from "node:child_process";
import v8 from "node:v8";
import { expect, onTestFinished, test, vi } from "vitest";
import { optimizeLate } from "../../src/util/late-optimization.js";

test("V8 gets only options that this Node version has", async () => {
	const options = execFileSync(process.execPath, ["--v8-options"], { encoding: "utf8" });
	const given = vi.spyOn(v8, "setFlagsFromString").mockImplementation(() => {});
	onTestFinished(() => given.mockRestore());
	await optimizeLate();
	for (const [option] of given.mock.calls) expect(options).toContain(`${option.split("=")[0]} (`);
});

test("only Node 20 gets options", async () => {
	const given = vi.spyOn(v8, "setFlagsFromString").mockImplementation(() => {});
	onTestFinished(() => given.mockRestore());
	await optimizeLate("22.1.0");
	await optimizeLate("24.0.0");
	expect(given.mock.calls).toEqual([]);
	await optimizeLate("20.19.0");
	expect(given.mock.calls).toEqual([["--interrupt-budget=1500000"]]);
});
