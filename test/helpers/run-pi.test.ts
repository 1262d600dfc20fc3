import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { isObject, parseJson } from "./json.js";
import { runPi } from "./run-pi.js";

const manifest = parseJson(readFileSync(new URL("../../package.json", import.meta.url), "utf8"));

test.each(["--version", "-v"])("%s prints the version of the package before anything is loaded", async (flag) => {
	const version = isObject(manifest) ? String(manifest.version) : "";
	expect(await runPi([flag])).toEqual({ code: 0, signal: null, stdout: `${version}\n`, stderr: "" });
});
