import { expect, test } from "vitest";
import { startSession } from "../../helpers/session.js";

test("/tools off removes a tool from the next request and the system prompt, /tools on restores it", async () => {
	const { session, provider } = await startSession();
	provider.reply("one", "two", "three");
	await session.prompt("hi");
	expect(await session.prompt("/tools off bash write")).toMatchObject({ status: "Off for this session: bash, write" });
	await session.prompt("hi");
	expect(await session.prompt("/tools on bash write")).toMatchObject({ status: "All tools are on" });
	await session.prompt("hi");
	const names = provider.requests.map(({ body }) => JSON.stringify(body.tools).match(/"name":"(?:bash|write|read)"/g));
	expect(names).toEqual([
		['"name":"read"', '"name":"bash"', '"name":"write"'],
		['"name":"read"'],
		['"name":"read"', '"name":"bash"', '"name":"write"'],
	]);
	const prompts = provider.requests.map(({ messages }) => messages.find(({ role }) => role === "system")?.text ?? "");
	expect(prompts.map((text) => /\bbash\b/.test(text))).toEqual([true, false, true]);
	expect(prompts[2]).toBe(prompts[0]);
});

test("/tools lists the tools without a screen", async () => {
	const { session } = await startSession({ tools: ["read", "bash"] });
	await session.prompt("/tools off bash");
	expect(await session.prompt("/tools")).toMatchObject({
		status: "Tools\non   read  built-in\noff  bash  built-in",
	});
});

test("/tools suggests the nearest tool for an unknown name, and explains its usage", async () => {
	const { session } = await startSession();
	await expect(session.prompt("/tools off bahs")).rejects.toMatchObject({
		code: "tool_unknown",
		hint: "did you mean bash?",
	});
	await expect(session.prompt("/tools away bash")).rejects.toMatchObject({ code: "bad_arguments" });
	await expect(session.prompt("/tools off")).rejects.toMatchObject({ code: "bad_arguments" });
});

test("/tools completes actions and tool names", async () => {
	const { session } = await startSession({ tools: ["read", "bash", "grep"] });
	await session.prompt("/tools off bash");
	const complete = async (prefix: string) =>
		(await session.completeArguments("tools", prefix)).map(({ value }) => value);
	expect(await complete("o")).toEqual(["on", "off"]);
	expect(await complete("off ")).toEqual(["off read", "off grep"]);
	expect(await complete("on ")).toEqual(["on bash"]);
	expect(await complete("off read g")).toEqual(["off read grep"]);
});
