import { expect, test } from "vitest";
import { toolCall } from "../../helpers/loopback-provider.js";
import { startSession } from "../../helpers/session.js";

const GATE = `export default (pi) => pi.on("tool_call", async (_event, ctx) => {
	await ctx.ui.confirm("Run it?", "");
});`;
const QUICK = `export default (pi) => pi.on("tool_call", () => {});`;

test("a slow handler is reported while it runs and when it returns; a fast one never", async () => {
	let answer = (_isWanted: boolean) => {};
	const confirm = () =>
		new Promise<boolean>((resolve) => {
			answer = resolve;
		});
	const test = await startSession({ hooks: { "gate.ts": GATE, "quick.ts": QUICK }, ui: { confirm } });
	test.session.subscribe(({ type }) => type === "hook_running" && answer(true));
	test.provider.reply([toolCall("bash", { command: "true" })], "ok");
	await test.session.prompt("u1");
	const hookPath = `${test.agentDir}/hooks/gate.ts`;
	expect(test.events.filter(({ type }) => type === "hook_running" || type === "hook_done")).toEqual([
		{ type: "hook_running", hookPath, event: "tool_call", ms: 250 },
		{ type: "hook_done", hookPath, event: "tool_call" },
	]);
});
