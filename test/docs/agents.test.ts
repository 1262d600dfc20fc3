import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { messageText } from "../../src/index.js";
import { toolCall } from "../helpers/loopback-provider.js";
import { startSession } from "../helpers/session.js";
import { tempAgentDir, writeFiles } from "../helpers/temp.js";

const page = readFileSync(fileURLToPath(new URL("../../docs/agents.md", import.meta.url)), "utf8");
const blocks = [...page.matchAll(/^```(\w+) ?(\S*)\n([\s\S]*?)^```$/gm)].map(([, , name = "", code = ""]) => ({
	name,
	code,
}));
const named = (name: string) => blocks.filter((block) => block.name === name).map(({ code }) => code);

test("the settings, the definition and the calls of the page work", async () => {
	const calls: unknown[] = named("agent").map((code) => JSON.parse(code));
	expect(blocks).toHaveLength(2 + calls.length + named("").length);
	const agentDir = tempAgentDir();
	writeFiles(agentDir, { "settings.json": named("settings.json")[0], "agents/scout.md": named("agents/scout.md")[0] });
	const { session, provider } = await startSession({ agentDir, bundledHooks: true });
	expect(await session.prompt("/agents")).toMatchObject({
		status: "scout  finds the files and functions that matter for a task  read, grep, find, ls",
	});
	provider.on(({ messages }) => {
		if (messages[0]?.text.startsWith("You explore a code base.")) return `about: ${messages.at(-1)?.text}`;
		const next = messages.filter(({ role }) => role === "tool").length;
		return next < calls.length ? [toolCall("agent", { ...Object(calls[next]) })] : (messages.at(-1)?.text ?? "");
	});
	const result = await session.prompt("go");
	const last = result.kind === "run" ? result.outcome.last : null;
	expect(last && messageText(last)).toBe(
		"## 1. scout: done\n\nabout: Where are coupons validated?\n\n" +
			"## 2. scout: done\n\nabout: Which tests cover src/cart.ts?",
	);
});
