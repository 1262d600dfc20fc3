import { rmSync, writeFileSync } from "node:fs";
import { expect, test } from "vitest";
import { PiError } from "../../src/errors.js";
import type { ReadFlags } from "../../src/hooks/flags.js";
import { startSession } from "../helpers/session.js";
import { share } from "./support.js";

const SHOW = `pi.command("show", { handler: ({ flags }) => ({ status: JSON.stringify(flags) + Object.isFrozen(flags) }) });`;

/** A command line with these flags; every other one that a test names is unknown. */
function given(values: Record<string, boolean | string>): ReadFlags {
	return (declared) => {
		const unknown = Object.keys(values).find((name) => !declared.some((flag) => flag.name === name));
		const known = Object.entries(values).filter(([name]) => name !== unknown);
		const problem = unknown === undefined ? null : new PiError("bad_arguments", `unknown option --${unknown}`);
		return { values: Object.fromEntries(known), problem };
	};
}

test("ctx.flags has the given values, and defaults for all others", async () => {
	const source = `export default (pi) => {
		pi.flag("plan", { description: "Plan first", type: "boolean" });
		pi.flag("level", { type: "string", default: "low" });
		pi.flag("dry-run", { type: "boolean", default: true });
		pi.flag("topic", { type: "string" });
		${SHOW}
	};`;
	const { session } = await startSession({
		hooks: { "a.ts": source },
		readFlags: given({ plan: true, "dry-run": false }),
	});
	expect(await session.prompt("/show")).toMatchObject({
		status: '{"plan":true,"level":"low","dry-run":false}true',
	});
});

test("a flag that is declared after the hook has loaded is refused, as the command line was checked before", async () => {
	const source = `export default (pi) => {
		pi.command("late", { handler: () => pi.flag("plan", { type: "boolean" }) });
		setTimeout(() => { try { pi.flag("later", { type: "boolean" }); } catch (error) { globalThis.__late?.(error.message); } });
		${SHOW}
	};`;
	const late = new Promise((resolve) => share("__late", resolve));
	const { session } = await startSession({ hooks: { "a.ts": source } });
	const refused = 'pi.flag("plan") was called after the hook had loaded';
	await expect(session.prompt("/late")).rejects.toThrow(refused);
	expect(await late).toContain('pi.flag("later") was called after the hook had loaded');
	expect(await session.prompt("/show")).toMatchObject({ status: "{}true" });
});

test("a flag that no hook declares stops the start before any handler runs", async () => {
	const source = `export default (pi) => {
		pi.on("session", () => pi.send("too early"));
	};`;
	await expect(startSession({ hooks: { "a.ts": source }, readFlags: given({ plan: true }) })).rejects.toMatchObject({
		code: "bad_arguments",
		message: "unknown option --plan",
	});
});

test("of two hooks with one flag the later wins, and a warning names both", async () => {
	const { session, agentDir } = await startSession({
		hooks: {
			"a.ts": `export default (pi) => pi.flag("level", { type: "boolean" });`,
			"b.ts": `export default (pi) => { pi.flag("level", { type: "string", default: "b" }); ${SHOW} };`,
		},
	});
	expect(await session.prompt("/show")).toMatchObject({ status: '{"level":"b"}true' });
	expect(session.loaded.warnings).toEqual([
		`--level is declared by ${agentDir}/hooks/a.ts and ${agentDir}/hooks/b.ts; the latter is used`,
	]);
});

test("a reload that removes a flag warns and keeps the others; the flag is gone from ctx.flags", async () => {
	const { session, agentDir } = await startSession({
		hooks: {
			"a.ts": `export default (pi) => pi.flag("plan", { type: "boolean" });`,
			"b.ts": `export default (pi) => { pi.flag("level", { type: "string" }); ${SHOW} };`,
		},
		readFlags: given({ plan: true, level: "high" }),
	});
	expect(await session.prompt("/show")).toMatchObject({ status: '{"plan":true,"level":"high"}true' });
	writeFileSync(`${agentDir}/hooks/a.ts`, "export default () => {};");
	await session.reload();
	expect(session.loaded.warnings).toEqual(["unknown option --plan"]);
	expect(await session.prompt("/show")).toMatchObject({ status: '{"level":"high"}true' });
	rmSync(`${agentDir}/hooks/b.ts`);
	await session.reload();
	expect(session.palette().map(({ name }) => name)).not.toContain("show");
});

test.each([
	[`"--plan", { type: "boolean" }`, '"--plan" is not a valid flag name'],
	[`"Plan", { type: "boolean" }`, '"Plan" is not a valid flag name'],
	[`undefined, { type: "boolean" }`, "undefined is not a valid flag name"],
	[`"no-plan", { type: "boolean" }`, "the flag --no-plan starts with --no-, which turns off a flag"],
	[`"model", { type: "string" }`, "--model is a flag of pi, so"],
	[`"session", { type: "string" }`, "--session is a flag of pi, so"],
	[`"plan"`, 'the type of the flag --plan must be "boolean" or "string"'],
	[`"plan", { type: "number" }`, 'the type of the flag --plan must be "boolean" or "string"'],
	[`"plan", { type: "boolean", default: "yes" }`, "the default of the flag --plan must be a boolean"],
	[`"plan", { type: "boolean", description: 7 }`, "the description of the flag --plan must be a string"],
])("pi.flag(%s) is refused", async (call, reason) => {
	const { session } = await startSession({ hooks: { "x.ts": `export default (pi) => pi.flag(${call});` } });
	expect(session.loaded.warnings.join()).toContain(reason);
	expect(session.loaded.warnings.join()).toContain("x.ts");
	expect(session.loaded.hooks).toEqual([]);
});
