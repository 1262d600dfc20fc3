import { createServer } from "node:http";
import { describe, expect, onTestFinished, test } from "vitest";
import type { HookAPI } from "../../src/hooks/types.js";
import { type CreateAgentSessionOptions, createAgentSession } from "../../src/sdk/create-session.js";
import { httpError, type LoopbackProvider, startProvider, toolCall } from "../helpers/loopback-provider.js";
import { listen, startProxy } from "../helpers/proxy.js";
import { tempAgentDir, tempDir, writeFiles } from "../helpers/temp.js";

/** Creates and starts a session of a program, with directories of its own. */
async function start(models: unknown, options: CreateAgentSessionOptions = {}) {
	const session = await createAgentSession({
		cwd: tempDir("pi-project-"),
		home: tempDir("pi-home-"),
		agentDir: tempAgentDir({ models }),
		model: "loopback/scripted",
		session: { kind: "memory" },
		localServers: { ports: {} },
		settings: { retry: { enabled: false } },
		env: { PATH: process.env.PATH },
		...options,
	});
	onTestFinished(() => session.dispose());
	await session.start();
	return session;
}

type Session = Awaited<ReturnType<typeof start>>;

/** The last reply, as text or error. */
function lastReply({ entries }: Session): string {
	const { message }: { message?: { errorMessage?: string; content?: { text?: string }[] } } = Object(entries.at(-1));
	return message?.errorMessage ?? message?.content?.[0]?.text ?? "";
}

/** models.json with the provider under another address and key. */
function modelsJson(provider: LoopbackProvider, change: object): unknown {
	const { providers } = Object(provider.modelsJson());
	return { providers: { loopback: { ...providers.loopback, ...change } } };
}

/** A provider whose replies wait until all of `count` requests have arrived, so that the requests overlap. */
async function startTogether(count: number): Promise<LoopbackProvider> {
	const provider = await startProvider();
	return provider.on(async ({ messages }) => {
		await provider.request(count);
		const text = messages.findLast(({ role }) => role === "user")?.text ?? "";
		const status = /fails with (\d+)/.exec(text)?.[1];
		return status ? httpError(Number(status), {}, `no luck with ${text}`) : `done ${text}`;
	});
}

test("two sessions with the same names in other agent directories use their own servers, keys and settings", async () => {
	const providers = [await startProvider(), await startProvider()];
	const keys = { apiKey: "!echo key-of-$TENANT", headers: { "x-tenant": "TENANT_NAME" } };
	const sessions = await Promise.all(
		providers.map((provider, at) =>
			start(modelsJson(provider, keys), {
				env: { PATH: process.env.PATH, TENANT: `${at}`, TENANT_NAME: `tenant ${at}` },
				settings: { queueMode: at === 0 ? "all" : "one-at-a-time", shellPath: at === 0 ? "/bin/sh" : "/bin/bash" },
				systemPrompt: `You serve tenant ${at}.`,
				tools: at === 0 ? ["read", "bash"] : ["bash"],
			}),
		),
	);
	for (const provider of providers) provider.reply([toolCall("bash", { command: "echo $0" })], "done");
	await Promise.all(sessions.map((session, at) => session.prompt(`hi ${at}`)));
	expect(
		providers.map(({ requests }) => [
			requests.length,
			requests[0]?.headers.authorization,
			requests[0]?.headers["x-tenant"],
			requests[0]?.messages.map(({ text }) => text.split("\n")[0]),
			requests[1]?.messages.at(-1)?.text,
		]),
	).toEqual([
		[2, "Bearer key-of-0", "tenant 0", ["You serve tenant 0.", "hi 0"], "/bin/sh"],
		[2, "Bearer key-of-1", "tenant 1", ["You serve tenant 1.", "hi 1"], "/bin/bash"],
	]);
	expect(sessions.map(({ settings }) => settings.queueMode)).toEqual(["all", "one-at-a-time"]);
	await sessions[0]?.dispose();
	providers[1]?.reply("still here");
	await sessions[1]?.prompt("and now?");
	expect(sessions[1] && lastReply(sessions[1])).toBe("still here");
});

test("a change of settings, tools, model or hooks in one session does not reach the other", async () => {
	const provider = await startProvider();
	const shared: string[] = [];
	const note = (pi: HookAPI) => void pi.events.on("note", (data) => void shared.push(`heard ${data}`));
	const emit = (pi: HookAPI) => pi.command("emit", { handler: () => pi.events.emit("note", "one") });
	const [one, two] = await Promise.all([
		start(provider.modelsJson(), { hooks: [emit] }),
		start(provider.modelsJson(), { hooks: [note] }),
	]);
	await one.prompt("/emit");
	one.setQueueMode("all");
	one.setAutoCompaction(false);
	one.setThinkingLevel("high");
	one.setName("first");
	await one.prompt("/tools off bash");
	expect(shared).toEqual([]);
	expect([two.controls.queueMode, two.autoCompaction, two.thinkingLevel, two.sessionName]).toEqual([
		"one-at-a-time",
		true,
		"medium",
		null,
	]);
	provider.reply("a", "b");
	await one.prompt("hi");
	await two.prompt("hi");
	const offers = provider.requests.map(({ body }) => JSON.stringify(body.tools).includes('"name":"bash"'));
	expect(offers).toEqual([false, true]);
});

describe("proxies", () => {
	test("of one session carry its requests only, whatever the process and other sessions use", async () => {
		const provider = await startProvider();
		provider.on(() => "done");
		const port = Number(new URL(provider.origin).port);
		const proxies = [await startProxy({ port }), await startProxy({ port })];
		const outside = await listen(createServer((_, response) => response.end("direct")));
		const models = modelsJson(provider, { baseUrl: "http://models.test/v1" });
		const [first, second, direct] = await Promise.all([
			...proxies.map((proxy) => start(models, { env: { HTTP_PROXY: `http://127.0.0.1:${proxy.port}` } })),
			start(provider.modelsJson()),
		]);
		await Promise.all([first?.prompt("one"), second?.prompt("two"), direct?.prompt("three")]);
		const forwarded = "POST http://models.test/v1/chat/completions";
		expect(proxies.map(({ requests }) => requests)).toEqual([[forwarded], [forwarded]]);
		expect(provider.requests.length).toBe(3);
		expect(await (await fetch(`http://localhost:${outside}`)).text()).toBe("direct");
		await expect(fetch("http://models.test")).rejects.toThrow();
		expect(proxies.map(({ requests }) => requests.length)).toEqual([1, 1]);
		const none = await start(models);
		await none.prompt("four");
		expect(lastReply(none)).toMatch(/^cannot connect to loopback at models\.test:80: DNS/);
		expect(proxies.map(({ requests }) => requests.length)).toEqual([1, 1]);
	});

	test("are named in the failures of their session only", async () => {
		const refused = { baseUrl: "http://models.test/v1", api: "openai-completions", apiKey: "k" };
		const models = { providers: { loopback: { ...refused, models: [{ id: "scripted" }] } } };
		const proxies = [await startProxy({ refuses: 403 }), await startProxy({ refuses: 502 })];
		const sessions = await Promise.all(
			proxies.map(({ port }) => start(models, { env: { HTTP_PROXY: `http://127.0.0.1:${port}` } })),
		);
		await Promise.all(sessions.map((session) => session.prompt("hi")));
		expect(sessions.map(lastReply)).toEqual([expect.stringContaining("403"), expect.stringContaining("502")]);
	});

	test("that are malformed are refused", async () => {
		await expect(start({}, { env: { HTTPS_PROXY: "ftp://x" } })).rejects.toMatchObject({ code: "proxy_invalid" });
	});
});

describe("overlapping requests to one server", () => {
	test("fail with their own errors", async () => {
		const provider = await startTogether(4);
		const sessions = await Promise.all([1, 2, 3, 4].map(() => start(provider.modelsJson())));
		const prompts = ["fails with 400", "hi", "fails with 404", "fails with 429"];
		await Promise.all(sessions.map((session, at) => session.prompt(prompts[at] ?? "")));
		expect(sessions.map(lastReply)).toEqual([
			"400 no luck with fails with 400",
			"done hi",
			"404 no luck with fails with 404",
			"429 no luck with fails with 429",
		]);
	});

	test("report their own responses to the hooks of their session", async () => {
		const provider = await startTogether(3);
		const seen: number[][] = [[], [], []];
		const sessions = await Promise.all(
			seen.map((list) =>
				start(provider.modelsJson(), {
					hooks: [(pi) => pi.on("response", ({ status }) => void list.push(status))],
				}),
			),
		);
		const prompts = ["fails with 400", "hi", "fails with 503"];
		await Promise.all(sessions.map((session, at) => session.prompt(prompts[at] ?? "")));
		expect(seen).toEqual([[400], [200], [503]]);
	});
});

test("sessions in one process load their own copies of the same hook file", async () => {
	const provider = await startProvider();
	const dir = tempDir();
	writeFiles(dir, {
		"count.ts": `let count = 0;
export default (pi) => pi.command("count", { handler: () => ({ status: String(++count) }) });`,
	});
	const [one, two] = await Promise.all([1, 2].map(() => start(provider.modelsJson(), { hooks: [`${dir}/count.ts`] })));
	await one?.prompt("/count");
	expect(await one?.prompt("/count")).toEqual({ kind: "command", status: "2" });
	expect(await two?.prompt("/count")).toEqual({ kind: "command", status: "1" });
});
