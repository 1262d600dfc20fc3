import { existsSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { readLastModel, saveLastModel } from "../../../src/models/last-models.js";
import { modelName } from "../../../src/models/models.js";
import { type CreateAgentSessionOptions, createAgentSession } from "../../../src/sdk/create-session.js";
import { startProvider } from "../../helpers/loopback-provider.js";
import { tempAgentDir, tempDir, writeFiles } from "../../helpers/temp.js";

const lab = (...ids: string[]) => ({
	lab: { baseUrl: "http://127.0.0.1:9/v1", api: "openai-completions", apiKey: "k", models: ids.map((id) => ({ id })) },
});
const MODELS = { providers: { ...lab("a", "b", "c"), other: { ...lab("x").lab } } };

interface Place {
	agentDir: string;
	cwd: string;
}

function place(content: { models?: unknown; settings?: unknown } = {}): Place {
	return { agentDir: tempAgentDir({ models: MODELS, ...content }), cwd: tempDir("pi-project-") };
}

async function open({ agentDir, cwd }: Place, options: CreateAgentSessionOptions = {}) {
	const session = await createAgentSession({
		session: { kind: "memory" },
		localServers: { ports: {} },
		...options,
		cwd,
		home: tempDir("pi-home-"),
		env: { PI_CODING_AGENT_DIR: agentDir, PATH: process.env.PATH },
	});
	onTestFinished(() => session.dispose());
	const used = () => [session.model && modelName(session.model), session.thinkingLevel];
	const find = async (name: string) => {
		const model = (await session.controls.availableModels()).find((candidate) => modelName(candidate) === name);
		if (!model) throw new Error(`no ${name}`);
		return model;
	};
	return { session, used, find };
}

/** Chooses a model and a level in a session, and ends it. */
async function choose(at: Place, name: string, level: "low" | "high" = "high"): Promise<void> {
	const { session, find } = await open(at);
	await session.setModel(await find(name));
	session.setThinkingLevel(level);
	await session.dispose();
}

describe("the model and level last used in a directory", () => {
	test("start the next session there, and no session elsewhere", async () => {
		const at = place();
		expect((await open(at)).used()).toEqual(["lab/a", "medium"]);
		await choose(at, "lab/b");
		expect((await open(at)).used()).toEqual(["lab/b", "high"]);
		expect((await open({ ...at, cwd: tempDir() })).used()).toEqual(["lab/a", "medium"]);
	});

	test("are also those of a run that a flag chose", async () => {
		const provider = await startProvider();
		const at = place({ models: { providers: { ...MODELS.providers, ...Object(provider.modelsJson()).providers } } });
		provider.reply("Hello.");
		const { session } = await open(at, { model: "loopback/scripted", thinkingLevel: "low" });
		await session.start();
		await session.prompt("hi");
		await session.dispose();
		expect((await open(at)).used()).toEqual(["loopback/scripted", "low"]);
	});

	test.each<[string, unknown, CreateAgentSessionOptions, unknown[]]>([
		["a flag", {}, { model: "lab/c", thinkingLevel: "off" }, ["lab/c", "off"]],
		["a level after the model", {}, { model: "lab/c:low" }, ["lab/c", "low"]],
		["another provider", {}, { provider: "other" }, ["other/x", "high"]],
		["the model of the settings", { defaultProvider: "lab", defaultModel: "c" }, {}, ["lab/c", "high"]],
		["the level of the settings", { defaultThinkingLevel: "minimal" }, {}, ["lab/b", "minimal"]],
		["another provider of the settings", { defaultProvider: "other" }, {}, ["other/x", "high"]],
		["rememberModel: false", { rememberModel: false }, {}, ["lab/a", "medium"]],
	])("yield to %s", async (_, settings, options, expected) => {
		const at = place();
		await choose(at, "lab/b");
		writeFiles(at.agentDir, { "settings.json": settings });
		expect((await open(at, options)).used()).toEqual(expected);
	});

	test("are used if the settings or a flag name only their provider", async () => {
		const at = place({ settings: { defaultProvider: "lab" } });
		await choose(at, "lab/b");
		expect((await open(at)).used()).toEqual(["lab/b", "high"]);
		expect((await open(at, { provider: "lab" })).used()).toEqual(["lab/b", "high"]);
	});

	test("are not stored with rememberModel: false", async () => {
		const at = place({ settings: { rememberModel: false } });
		await choose(at, "lab/b");
		expect(readLastModel(join(at.agentDir, "last-models.json"), at.cwd)).toBeNull();
	});

	test("are replaced with a warning that names both models if the model is gone", async () => {
		const at = place();
		await choose(at, "other/x");
		writeFiles(at.agentDir, { "models.json": { providers: lab("a") } });
		const { session, used } = await open(at);
		expect(used()).toEqual(["lab/a", "high"]);
		expect(session.loaded.warnings).toEqual(["other/x is gone; using lab/a"]);
	});

	test("are used even if the provider's list lacks the model", async () => {
		const at = place();
		await choose(at, "lab/b");
		writeFiles(at.agentDir, { "models.json": { providers: lab("a") } });
		const { session, used } = await open(at);
		expect(used()).toEqual(["lab/b", "high"]);
		expect(session.loaded.warnings).toEqual([
			"b is not in pi's list of lab models · using the facts of a · pi models update reads the current list",
		]);
	});

	test("are found on a local server", async () => {
		const server = createServer((_, response) => response.end(JSON.stringify({ data: [{ id: "qwen" }] })));
		await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
		onTestFinished(() => void server.close());
		const at = place();
		const { port } = server.address() as AddressInfo;
		await saveLastModel(join(at.agentDir, "last-models.json"), at.cwd, {
			provider: "ollama",
			modelId: "qwen",
			thinkingLevel: "low",
		});
		const localServers = { ports: { ollama: port }, timeoutMs: 5000 };
		expect((await open(at, { localServers })).used()).toEqual(["ollama/qwen", "low"]);
	});
});

describe("last-models.json", () => {
	test("is written only if another model or directory was the last", async () => {
		const path = join(tempDir(), "last-models.json");
		const save = async (cwd: string, modelId: string) => {
			const before = existsSync(path) ? statSync(path).ino : 0;
			await saveLastModel(path, cwd, { provider: "loopback", modelId, thinkingLevel: "high" });
			return statSync(path).ino !== before;
		};
		const [first, second] = [tempDir(), tempDir()];
		expect([await save(first, "a"), await save(first, "a"), await save(first, "b")]).toEqual([true, false, true]);
		expect([await save(second, "b"), await save(first, "b"), await save(first, "b")]).toEqual([true, true, false]);
	});

	const used = { provider: "lab", modelId: "b", thinkingLevel: "low" as const };

	test("is private, and keeps the entries of other directories when several processes write", async () => {
		const path = join(tempDir(), "last-models.json");
		const dirs = Array.from({ length: 10 }, () => tempDir());
		await Promise.all(dirs.map((dir) => saveLastModel(path, dir, used)));
		expect(dirs.map((dir) => readLastModel(path, dir))).toEqual(dirs.map(() => used));
		expect(statSync(path).mode & 0o777).toBe(0o600);
	});

	test("drops the least recently used directories", async () => {
		const path = join(tempDir(), "last-models.json");
		const old = Object.fromEntries(Array.from({ length: 600 }, (_, at) => [`/dir/${at}`, used]));
		writeFileSync(path, JSON.stringify({ version: 1, projects: old }));
		await saveLastModel(path, "/dir/0", used);
		const names = Object.keys(JSON.parse(readFileSync(path, "utf8")).projects);
		expect([names.length, names[0], names.at(-1)]).toEqual([500, "/dir/101", "/dir/0"]);
	});

	test.each(["{", "[]", '{"projects":7}', '{"projects":{"/d":{"provider":"lab","modelId":7,"thinkingLevel":"low"}}}'])(
		"%s counts as empty",
		(content) => {
			const path = join(tempDir(), "last-models.json");
			writeFileSync(path, content);
			expect(readLastModel(path, "/d")).toBeNull();
		},
	);
});

test("a program can name models that no list has, each with one notice", async () => {
	const { session, used } = await open(place(), { model: "lab/d" });
	const notices: string[] = [];
	session.subscribe((event) => {
		if (event.type === "notice") notices.push(event.message);
	});
	const notice = (id: string) =>
		`${id} is not in pi's list of lab models · using the facts of a · pi models update reads the current list`;
	expect(used()[0]).toBe("lab/d");
	expect(session.loaded.warnings).toEqual([notice("d")]);
	for (const name of ["lab/e", "lab/d", "lab/e"]) await session.setModel(name);
	expect(used()[0]).toBe("lab/e");
	expect(notices).toEqual([notice("e")]);
	expect((await session.controls.findModel("lab", "f"))?.id).toBe("f");
	expect(await session.controls.findModel("nobody", "f")).toBeNull();
});

describe("a session whose model is gone", () => {
	test("continues with another, and a warning names both, also when it is opened later", async () => {
		const provider = await startProvider();
		provider.reply("Hello.");
		const loopback = Object(provider.modelsJson()).providers;
		const at = place({ models: { providers: { ...loopback, ...lab("a") } } });
		const first = await open(at, { model: "loopback/scripted", session: { kind: "new" } });
		await first.session.start();
		await first.session.prompt("hi");
		const { sessionFile } = first.session;
		await first.session.dispose();
		writeFiles(at.agentDir, { "models.json": { providers: lab("a") }, "settings.json": { rememberModel: false } });

		const again = await open(at, { session: { kind: "continue" } });
		expect(again.used()[0]).toBe("lab/a");
		expect(again.session.loaded.warnings).toEqual(["loopback/scripted is gone; using lab/a"]);
		await again.session.dispose();

		const { session } = await open(at);
		await session.start();
		await session.switchSession(sessionFile ?? "");
		expect(session.loaded.warnings).toEqual(["loopback/scripted is gone; using lab/a"]);
	});
});

describe("names that do not exist", () => {
	test.each<[CreateAgentSessionOptions, string]>([
		[{ model: "nope" }, 'No model "nope"'],
		[{ provider: "nope" }, 'No provider "nope"'],
		[{ provider: "nope", model: "a" }, 'No provider "nope"'],
		[{ models: ["nope", "nope*"] }, 'No model matches --models "nope", "nope*"'],
	])("%j is refused", async (options, message) => {
		await expect(open(place(), options)).rejects.toMatchObject({ code: "model_unknown", message });
	});

	test("one of several patterns is named in a warning, and the others work", async () => {
		const { session, find } = await open(place(), { models: ["nope", "lab/*", "anthropic/*"] });
		expect(session.loaded.warnings).toEqual([
			'--models "nope" matches no model',
			'--models "anthropic/*" matches only models without a key',
		]);
		await session.setModel(await find("lab/a"));
		expect((await session.cycleModel(1))?.id).toBe("b");
	});

	test.each<[CreateAgentSessionOptions]>([[{ model: "mine/x" }], [{ provider: "mine" }], [{ models: ["mine/*"] }]])(
		"%j: a broken models.json is named, because it could define them",
		async (options) => {
			const at = place();
			writeFileSync(join(at.agentDir, "models.json"), '{"providers": {"mine": }}');
			await expect(open(at, options)).rejects.toMatchObject({
				code: "model_unknown",
				hint: expect.stringContaining(`models.json has a problem: ${join(at.agentDir, "models.json")}:1:24`),
			});
		},
	);

	test("without any model, a broken models.json is named", async () => {
		const at = place();
		writeFileSync(join(at.agentDir, "models.json"), "{");
		const { session } = await open(at);
		await session.start();
		await expect(session.prompt("hi")).rejects.toMatchObject({
			code: "model_missing",
			hint: expect.stringMatching(/^fix models\.json, set ANTHROPIC_API_KEY/),
		});
	});
});
