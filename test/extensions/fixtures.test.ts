import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { expect, onTestFinished, test } from "vitest";
import { createHookTest, type HookTestOptions, toolCall } from "../../src/testing/index.js";

// Ten extensions as users write them, against the published types, unmodified.

const root = fileURLToPath(new URL("../..", import.meta.url));

async function tryExtension(name: string, options: Omit<HookTestOptions, "hooks"> = {}) {
	const extensions = [new URL(`../fixtures/extensions/${name}.ts`, import.meta.url)];
	const t = await createHookTest({ ...options, hooks: [], extensions });
	onTestFinished(() => t.dispose());
	return t;
}

test("the extensions have correct types with the published declarations", { timeout: 120_000 }, () => {
	const tsc = `${root}node_modules/typescript/bin/tsc`;
	const args = [tsc, "-p", `${root}test/fixtures/extensions`, "--pretty", "false", "--checkers", "1"];
	const { stdout, stderr } = spawnSync(process.execPath, args, { encoding: "utf8" });
	expect(stdout + stderr).toBe("");
});

test("status line: a status follows the turns", async () => {
	const t = await tryExtension("status-line", { replies: ["one"] });
	expect(t.screen.statuses).toEqual({ turns: "ready" });
	await t.run("go");
	expect(t.screen.statuses).toEqual({ turns: "✓ 1 turns" });
	expect(t.errors).toEqual([]);
});

test("plan mode: tools, status, widget, a message that the model sees, and its removal", async () => {
	const t = await tryExtension("plan-mode", { replies: [toolCall("bash", { command: "ls" }), "a plan", "done"] });
	await t.run("/plan");
	expect(t.notices).toContain("Plan mode is on");
	expect(t.screen).toMatchObject({
		statuses: { plan: "plan" },
		widgets: { plan: ["Plan mode: the model may only read"] },
	});
	await t.run("clean up");
	expect(t.requests[0]?.messages.map(({ text }) => text)).toEqual([
		"clean up",
		"[PLAN MODE] Only read, then propose a plan.",
	]);
	expect(t.requests[0]?.tools.toSorted()).toEqual(["find", "grep", "ls", "read"]);
	await t.run("/plan");
	await t.run("go");
	expect(t.requests.at(-1)?.messages.map(({ text }) => text)).not.toContain(
		"[PLAN MODE] Only read, then propose a plan.",
	);
	expect(t.entries.filter(({ type }) => type === "custom")).toEqual([
		expect.objectContaining({ customType: "plan-mode", data: { isOn: true } }),
		expect.objectContaining({ customType: "plan-mode", data: { isOn: false } }),
	]);
	expect(t.errors).toEqual([]);
});

test("plan mode: a flag turns it on at the start", async () => {
	const t = await tryExtension("plan-mode", { flags: { plan: true } });
	expect(t.screen.statuses).toEqual({ plan: "plan" });
});

test("todo: a tool with its own drawing, whose state comes from the session", async () => {
	const t = await tryExtension("todo", {
		replies: [
			toolCall("todo", { action: "add", text: "write" }),
			toolCall("todo", { action: "toggle", id: 1 }),
			"done",
		],
	});
	await t.run("plan it");
	expect(t.requests[2]?.messages.at(-1)?.text).toBe("[x] #1 write");
	await t.run("/todos");
	expect(t.notices).toContain("0 of 1 tasks are open");
	const next = await tryExtension("todo", { entries: t.entries.slice(1) });
	await next.run("/todos");
	expect(next.notices).toContain("0 of 1 tasks are open");
	expect([...t.errors, ...next.errors]).toEqual([]);
});

test("questionnaire: dialogs in a tool", async () => {
	const questions = [
		{ prompt: "Color?", options: ["red", "blue"] },
		{ prompt: "Size?", options: ["S"] },
	];
	const t = await tryExtension("questionnaire", {
		replies: [toolCall("questionnaire", { questions }), "ok", toolCall("questionnaire", { questions }), "ok"],
		dialogs: ["blue", "Other", "XL", true, null],
	});
	await t.run("ask");
	expect(t.requests[1]?.messages.at(-1)?.text).toBe("blue\nXL");
	await t.run("ask again");
	expect(t.requests[3]?.messages.at(-1)?.text).toBe("The user canceled.");
	expect(t.errors).toEqual([]);
});

test("custom footer: a component with the data of the session, the theme and the branch", async () => {
	const t = await tryExtension("custom-footer", { replies: ["hello"] });
	await t.run("go");
	await t.run("/footer");
	expect(t.screen.footer?.join("")).toMatch(/^↓\d+ +\S+ no branch$/);
	await t.run("/footer");
	expect(t.screen.footer).toBeNull();
	expect(t.errors).toEqual([]);
});

test("sub-agent: programs, partial results, errors, and a message that starts a run", async () => {
	const t = await tryExtension("sub-agent", { replies: [toolCall("delegate", { task: "count" }), "done", "thanks"] });
	await t.run("go");
	expect(t.requests[1]?.messages.at(-1)?.text).toBe("count");
	await t.run("/delegate review");
	expect(t.requests[2]?.messages.at(-1)).toMatchObject({ role: "user", text: "done: review" });
	expect(t.requests[2]?.messages.filter(({ text }) => text === "done: review")).toHaveLength(1);
	expect(await t.session.completeArguments("delegate", "r")).toMatchObject([{ value: "review" }]);
	expect(t.errors).toEqual([]);
});

test("snake: a component with keys, and its result", async () => {
	const t = await tryExtension("snake", { dialogs: [["down", " ", " ", "q"]] });
	await t.run("/snake");
	expect(t.errors).toEqual([]);
	expect(t.notices).toContain("The snake was 3 long");
	expect(t.entries.at(-1)).toMatchObject({ type: "custom", customType: "snake", data: { length: 3 } });
});

test("ssh: arguments changed in place, the system prompt, and commands of the user", async () => {
	const t = await tryExtension("ssh", {
		flags: { ssh: "me@box" },
		replies: [toolCall("bash", { command: "true" }), "done"],
	});
	expect(t.screen.statuses).toEqual({ ssh: "ssh me@box" });
	await t.run("go");
	const call = t.entries.find((entry) => entry.type === "message" && JSON.stringify(entry).includes("toolResult"));
	expect(JSON.stringify(call)).toContain('ssh me@box \\"true\\"');
	expect(t.requests[0]?.systemPrompt).toContain("(on me@box)");
	expect(t.errors).toEqual([]);
});

test("model status: the model, its changes, and the context", async () => {
	const t = await tryExtension("model-status");
	const [first] = Object.values(t.screen.statuses);
	expect(first).toBe(t.session.model?.id);
	t.session.setThinkingLevel("high");
	await t.run("/usage-of-context");
	expect(t.notices.join("\n")).toMatch(/tokens, thinking/);
	expect(t.errors).toEqual([]);
});

test("input transform: a prompt is changed, handled or left alone", async () => {
	const t = await tryExtension("input-transform", { replies: ["4", "hi"] });
	await t.run("?quick 2 + 2");
	expect(t.requests[0]?.messages.at(-1)?.text).toBe("Answer in one sentence: 2 + 2");
	await t.run("ping");
	expect(t.notices).toContain("pong");
	await t.run("hello");
	expect(t.requests[1]?.messages.at(-1)?.text).toBe("hello");
	expect(t.errors).toEqual([]);
});
