import { expect, test } from "vitest";
import { run } from "../cli/subcommands/run.js";
import { png } from "../helpers/images.js";
import { startSession } from "../helpers/session.js";
import { example } from "./example.js";

const HOOK = example("describe-images.ts");
const given = (model?: string) => () => ({
	values: model === undefined ? {} : { "describe-images": model },
	problem: null,
});
const image = png(4, 4);

test("another model describes an image once; the model of the session gets the description, and it counts as a request of the hook", async () => {
	const { session, provider, sent, agentDir, cwd } = await startSession({
		hookFiles: [HOOK],
		session: { kind: "new" },
		readFlags: given("loopback-anthropic/scripted"),
	});
	provider.reply("a red button", "I see", "still");
	await session.prompt("look", { images: [image] });
	await session.prompt("again", { images: [image] });
	expect(provider.requests.map(({ api }) => api)).toEqual([
		"anthropic-messages",
		"openai-completions",
		"openai-completions",
	]);
	expect(sent(2)[0]).toMatch(/^user: look[\s\S]*\(an image, described by a model that saw it\)\na red button$/);
	expect(provider.requests.slice(1).flatMap(({ messages }) => messages.map(({ images }) => images))).not.toContain(1);
	expect(session.entries.find(({ type }) => type === "request_usage")).toMatchObject({
		purpose: "hook describe-images",
	});
	const path = session.sessionFile ?? "";
	await session.dispose();
	const verified = await run({ name: "context", verify: true }, { agentDir, cwd, session: path, hooks: [HOOK] });
	expect(verified.stdout).toBe("All 2 requests match the recorded ones\n");
});

test("a model that cannot see is named, and the image is sent", async () => {
	const { session, provider, notices } = await startSession({ hookFiles: [HOOK], readFlags: given("no/model") });
	provider.reply("I see");
	await session.prompt("look", { images: [image] });
	expect(notices().join("\n")).toContain("--describe-images no/model is no model that can see");
	expect(provider.requests[0]?.messages.at(-1)?.images).toBe(1);
});

test("without the flag nothing is asked", async () => {
	const { session, provider } = await startSession({ hookFiles: [HOOK], readFlags: given() });
	provider.reply("I see");
	await session.prompt("look", { images: [image] });
	expect(provider.requests).toHaveLength(1);
});
