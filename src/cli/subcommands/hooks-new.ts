import { existsSync } from "node:fs";
import { join, relative } from "node:path";
import { PiError } from "../../errors.js";
import { printJson, printLines } from "../standard-io.js";
import { compilerConfig } from "./compiler-config.js";
import type { SubcommandContext } from "./location.js";
import { alreadyExists, hookSource, linkPackage, rejectBuiltin, writeNewFile } from "./scaffold.js";

const NAME = /^[a-z0-9][a-z0-9_-]{0,63}$/i;

/**
 * `pi hooks new NAME`: writes a working hook and a test that runs and, if missing, a tsconfig.json so that editors and tsc
 * find their types.
 * @param inProject writes to the hooks of the project instead of those of the user
 * @throws PiError `bad_arguments` for an invalid name and for a hook that already exists; `config_write_failed`
 */
export async function newHook(
	{ target, inProject }: { target: string; inProject: boolean },
	{ location: { paths }, options, io }: SubcommandContext,
): Promise<number> {
	const name = target.replace(/\.ts$/, "");
	if (!NAME.test(name)) {
		throw new PiError("bad_arguments", `Invalid hook name ${JSON.stringify(target)}`, {
			hint: "use up to 64 letters, digits, _ and -",
		});
	}
	rejectBuiltin(name);
	const dir = inProject ? paths.project.hooks : paths.hooks;
	const file = join(dir, `${name}.ts`);
	const other = join(dir, name, "index.ts");
	if (existsSync(other)) throw alreadyExists(other);
	const tsconfig = join(dir, "tsconfig.json");
	writeNewFile(file, hookSource(name));
	const tests = join(dir, "tests");
	const test = join(tests, `${name}.test.mjs`);
	const wroteTest = !existsSync(test);
	if (wroteTest) writeNewFile(test, testSource(name));
	linkPackage(join(tests, "node_modules", "@mariozechner", "pi-coding-agent"));
	const wroteConfig = !existsSync(tsconfig);
	if (wroteConfig) writeNewFile(tsconfig, `${JSON.stringify(compilerConfig(), null, "\t")}\n`);
	if (options.json) {
		await printJson(io, {
			path: file,
			test: wroteTest ? test : null,
			tsconfig: wroteConfig ? tsconfig : null,
		});
		return 0;
	}
	const shown = inProject ? relative(paths.cwd, file) : file;
	const shownTest = inProject ? relative(paths.cwd, test) : test;
	await printLines(io, [
		`Wrote ${file}`,
		...(wroteTest ? [`Wrote ${test}`] : []),
		...(wroteConfig ? [`Wrote ${tsconfig}`] : []),
		"",
		`Next: pi hooks check ${shown}   load the hook and list what it registers`,
		`      pi hooks test ${shown}    run it on a sample session`,
		`      node --test ${shownTest}   run its test`,
		`      /reload in a running pi, then /${name}${inProject ? "; project hooks must be trusted first: pi hooks trust" : ""}`,
	]);
	return 0;
}

function testSource(name: string): string {
	return `// @ts-check
import assert from "node:assert/strict";
import { test } from "node:test";
import { createHookTest, toolCall } from "@mariozechner/pi-coding-agent/testing";

test("git push is blocked, and the tool calls are counted", async () => {
	const t = await createHookTest({
		hooks: [new URL(${JSON.stringify(`../${name}.ts`)}, import.meta.url)],
		replies: [toolCall("bash", { command: "git push" }), "I have not pushed."],
	});
	try {
		await t.run("Push the branch.");
		assert.match(t.requests[1]?.messages.at(-1)?.text ?? "", /Only the user may push/);
		assert.match((await t.run(${JSON.stringify(`/${name}`)})).status ?? "", /^1 tool calls/);
		assert.deepEqual(t.errors, []);
	} finally {
		await t.dispose();
	}
});
`;
}
