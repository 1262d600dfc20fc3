import { existsSync } from "node:fs";
import { join } from "node:path";
import { expect, test, vi } from "vitest";
import { startSession } from "../helpers/session.js";
import { example } from "./example.js";

const HOOK = example("test-command.ts");

function makefile(recipe: string) {
	return startSession({ hookFiles: [HOOK], files: { Makefile: `test:\n\t@${recipe}\n` } });
}

test("reports that the tests pass and sends nothing", async () => {
	const { session, provider } = await makefile("echo fine");
	expect(await session.prompt("/test")).toEqual({ kind: "command", status: "The tests pass (make test)" });
	expect(provider.requests).toEqual([]);
});

test("sends the output of failing tests to the agent, and passes the arguments on", async () => {
	const { session, provider, sent } = await startSession({
		hookFiles: [HOOK],
		files: { "package.json": { scripts: { test: "echo tested && echo 1 failed >&2 && exit 3 #" } } },
	});
	provider.reply("I will look");
	await session.prompt("/test 'one file'");
	expect(sent(1)[0]).toContain("The tests fail: `npm test --silent -- one file` exited with code 3");
	expect(sent(1)[0]).toContain("tested");
	expect(sent(1)[0]).toContain("1 failed");
});

test("sends the end of a long output", async () => {
	const { session, provider, sent } = await makefile("seq 1 20000; echo the verdict; false");
	provider.reply("ok");
	await session.prompt("/test");
	expect(sent(1)[0]).toContain("the verdict");
	expect(sent(1)[0]?.length).toBeLessThan(21_000);
});

test("escape aborts the tests and sends nothing", async () => {
	const { session, provider, cwd } = await makefile("touch started; sleep 60; touch ended");
	const running = session.prompt("/test");
	await vi.waitFor(() => expect(existsSync(join(cwd, "started"))).toBe(true), { timeout: 5000 });
	await session.abort();
	expect(await running).toEqual({ kind: "command", status: null });
	expect(provider.requests).toEqual([]);
	expect(existsSync(join(cwd, "ended"))).toBe(false);
});

test("lists the searched files if there are no tests", async () => {
	const { session } = await startSession({ hookFiles: [HOOK], files: { "package.json": {} } });
	expect(await session.prompt("/test")).toEqual({
		kind: "command",
		status: "No test command found in package.json, Cargo.toml, go.mod, pyproject.toml, Makefile",
	});
});
