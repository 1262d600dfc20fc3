import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { builtInModels } from "../../src/models/built-in-models.js";
import { startListServer } from "../helpers/list-server.js";
import { httpError, type LoopbackProvider, startProvider } from "../helpers/loopback-provider.js";
import { startPi } from "../helpers/pty.js";
import { runPi, spawnPi } from "../helpers/run-pi.js";
import { tempAgentDir, tempDir } from "../helpers/temp.js";
import { agentDirFor, openPi, submit } from "./support.js";

const NOTICE =
	"claude-haiku-6 is not in pi's list of anthropic models · using the facts of claude-haiku-4-5 · pi models update reads the current list";
const KEY = { ANTHROPIC_API_KEY: "loopback-key" };
const MODEL = ["--model", "anthropic/claude-haiku-6"];

/** An agent directory in which a loopback provider is at the address of Anthropic. */
function place(provider: LoopbackProvider, settings: object = {}): string {
	const anthropic = { baseUrl: provider.baseUrl("anthropic-messages") };
	return tempAgentDir({ models: { providers: { anthropic } }, settings: { retry: { baseDelayMs: 1 }, ...settings } });
}

describe("an id that no list has", () => {
	test.each([
		[["-p", ...MODEL, "hi"], {}],
		[["-p", "--provider", "anthropic", "--model", "claude-haiku-6", "hi"], {}],
		[["-p", "hi"], { defaultProvider: "anthropic", defaultModel: "claude-haiku-6" }],
		[["-p", ...MODEL, "--models", "anthropic/claude-haiku-6", "hi"], {}],
	])("is used with one notice: %j", async (args, settings) => {
		const provider = await startProvider();
		provider.reply("It works.");
		const run = await runPi(args, { agentDir: place(provider, settings), env: KEY });
		expect(run).toMatchObject({ code: 0, stdout: "It works.\n", stderr: `${NOTICE}\n` });
		expect(provider.requests[0]?.body.model).toBe("claude-haiku-6");
	});

	test("is used with the key of the command line", async () => {
		const provider = await startProvider();
		provider.reply("It works.");
		const run = await runPi(["-p", ...MODEL, "--api-key", "k", "hi"], { agentDir: place(provider) });
		expect(run).toMatchObject({ code: 0, stdout: "It works.\n" });
	});

	test("continues a session that was recorded with it", async () => {
		const provider = await startProvider();
		provider.reply("One.", "Two.");
		const at = { agentDir: place(provider), env: KEY, cwd: tempDir() };
		await runPi(["-p", ...MODEL, "hi"], at);
		expect(await runPi(["-p", "--continue", "again"], at)).toMatchObject({
			code: 0,
			stdout: "Two.\n",
			stderr: `${NOTICE}\n`,
		});
		expect(provider.requests[1]?.body.model).toBe("claude-haiku-6");
	});

	test("can be set by RPC", async () => {
		const provider = await startProvider();
		provider.reply("It works.");
		const rpc = spawnPi(["--mode", "rpc", "--model", "anthropic/claude-haiku-4-5", "--no-session"], {
			agentDir: place(provider),
			env: KEY,
		});
		rpc.write('{"id":1,"type":"set_model","provider":"anthropic","modelId":"claude-haiku-6"}\n');
		await rpc.waitFor(({ stdout }) => stdout.includes('"command":"set_model"'));
		expect(rpc.stdout()).toContain('"success":true');
		expect(rpc.stdout()).toContain("using the facts of claude-haiku-4-5");
		rpc.end();
		await rpc.exited.catch(() => {});
	});

	test.each([40, 80, 120])(
		"can be chosen with /model, which names the relative once, at %i columns",
		async (columns) => {
			const provider = await startProvider();
			provider.reply("It works.");
			const pi = await openPi({
				agentDir: place(provider),
				env: KEY,
				columns,
				rows: 40,
				args: ["--model", "anthropic/claude-haiku-4-5"],
			});
			await pi.waitForText("0%");
			await submit(pi, "/model anthropic/claude-haiku-6");
			await pi.waitForText("Model: anthropic/claude-haiku-6");
			await submit(pi, "hi");
			await pi.waitForText("It works.");
			await submit(pi, "/model anthropic/claude-haiku-4-5");
			await pi.waitForText("Model: anthropic/claude-haiku-4-5");
			await submit(pi, "/model anthropic/claude-haiku-6");
			await pi.waitForText("Model: anthropic/claude-haiku-6");
			const text = (await pi.scrollback()).replace(/ ▎ /g, " ").replace(/\s+/g, " ");
			expect(text.split("using the facts of claude-haiku-4-5").length - 1).toBe(1);
		},
	);

	test("that the provider does not know ends with similar ids and exit code 2, without a retry", async () => {
		const provider = await startProvider();
		provider.on(() => httpError(404, {}, "model: claude-haiku-6"));
		const run = await runPi(["-p", ...MODEL, "hi"], { agentDir: place(provider), env: KEY });
		expect(run).toMatchObject({ code: 2, stdout: "" });
		expect(run.stderr).toMatch(
			/anthropic does not know claude-haiku-6 \(404 model: claude-haiku-6\) · did you mean claude-haiku-4-5[^?]*\? · choose another model with --model, list them with pi models list\n$/,
		);
		expect(provider.requests).toHaveLength(1);
	});

	test("is remembered for the directory once it has answered", async () => {
		const provider = await startProvider();
		provider.reply(httpError(404, {}, "model: claude-haiku-6"), "It works.", "Again.");
		const at = { agentDir: place(provider), env: KEY, cwd: tempDir() };
		const file = join(at.agentDir, "last-models.json");
		expect((await runPi(["-p", ...MODEL, "hi"], at)).code).toBe(2);
		expect(existsSync(file)).toBe(false);
		await runPi(["-p", ...MODEL, "hi"], at);
		expect(readFileSync(file, "utf8")).toContain("claude-haiku-6");
		await runPi(["-p", "hi"], at);
		expect(provider.requests.at(-1)?.body.model).toBe("claude-haiku-6");
	});

	test("of a provider without a key needs the key, as a listed model does", async () => {
		const agentDir = tempAgentDir();
		const run = (id: string) => runPi(["-p", "--model", `anthropic/${id}`, "hi"], { agentDir });
		const [known, news] = [await run("claude-haiku-4-5"), await run("claude-haiku-6")];
		expect(known).toMatchObject({ code: 1, stderr: expect.stringContaining("set ANTHROPIC_API_KEY") });
		expect(news).toMatchObject({ code: 1, stderr: `${NOTICE}\n${known.stderr}` });
	});

	test("of a provider without a key is asked for it by /model", async () => {
		const pi = await openPi({ agentDir: agentDirFor(await startProvider()) });
		await pi.waitForText("0%");
		await submit(pi, "/model anthropic/claude-haiku-6");
		await pi.waitForText(/API key for Anthropic|Log in to Anthropic/);
	});
});

describe("an id without a provider", () => {
	async function withList(ids: string[]) {
		const server = await startListServer({ "/v1/models": { data: ids.map((id) => ({ id })) } });
		const openai = { baseUrl: `${server.origin}/v1` };
		return {
			server,
			at: { agentDir: tempAgentDir({ models: { providers: { openai } } }), env: { OPENAI_API_KEY: "k" } },
		};
	}

	test("is searched at the providers with keys", async () => {
		const { server, at } = await withList(["brand-new-1"]);
		// The server has only a list: the request itself fails, which does not mean that the model is unknown.
		const run = await runPi(["-p", "--model", "brand-new-1", "hi"], at);
		expect(run).toMatchObject({ code: 1, stdout: "" });
		expect(run.stderr).toContain("brand-new-1 is not in pi's list of openai models");
		expect(run.stderr).toMatch(/openai\/brand-new-1: 404 .* · check the provider's address in models\.json/);
		expect(server.requests[0]).toMatchObject({ path: "/v1/models", headers: { authorization: "Bearer k" } });
	});

	/** Anthropic never answers; OpenAI lists gpt-7 once it is released, and replies. */
	async function withSilentProvider() {
		let release = () => {};
		const released = new Promise<void>((resolve) => {
			release = resolve;
		});
		const silent = await startListServer({ "/v1/models?limit=1000": "silence" });
		const provider = await startProvider();
		provider.route("/v1/models", () => released.then(() => ({ data: [{ id: "gpt-7" }] })));
		const providers = {
			anthropic: { baseUrl: silent.origin },
			openai: { baseUrl: provider.baseUrl("openai-responses") },
		};
		const env = { ...KEY, OPENAI_API_KEY: "k" };
		return { provider, silent, release, at: { agentDir: tempAgentDir({ models: { providers } }), env } };
	}

	test("is used as soon as one provider has it, even if another one never answers", async () => {
		const { at, provider, silent, release } = await withSilentProvider();
		release();
		provider.reply("It works.");
		const run = await runPi(["-p", "--model", "gpt-7", "hi"], at);
		expect(run).toMatchObject({ code: 0, stdout: "It works.\n" });
		expect(provider.requests[0]?.body.model).toBe("gpt-7");
		expect(silent.requests).toHaveLength(1);
	});

	test("names the providers that pi waits for", async () => {
		const { at, provider, release } = await withSilentProvider();
		provider.on(() => "It works.");
		const run = spawnPi(["-p", "--model", "gpt-7", "hi"], at);
		run.end();
		await run.waitFor(({ stderr }) => stderr.includes("Waiting for anthropic, openai, which pi asked for gpt-7\n"));
		release();
		expect(await run.exited).toMatchObject({ code: 0, stdout: "It works.\n" });
		const pi = startPi({ ...at, args: ["--model", "gpt-7"] });
		await pi.waitForText("gpt-7", { timeoutMs: 20_000 });
		expect(await pi.scrollback()).toMatch(/^────/m);
	});

	test("that /model searches is not used once Escape has canceled the search", async () => {
		const { at, provider, release } = await withSilentProvider();
		const pi = await openPi({ ...at, env: { OPENAI_API_KEY: "k" }, args: ["--model", "openai/gpt-6-sol"] });
		await pi.waitForText("0%");
		await submit(pi, "/model gpt-7");
		await pi.waitForText("Waiting for openai, which pi asked for gpt-7");
		await pi.press("escape");
		release();
		provider.reply("It works.");
		await submit(pi, "hi");
		await pi.waitForText("It works.");
		expect(provider.requests[0]?.body.model).toBe("gpt-6-sol");
		expect(await pi.screen()).toMatch(/GPT-6 Sol · \w+\n/);
	});

	test("that no provider has is unknown", async () => {
		const { at } = await withList(["brand-new-1"]);
		const run = await runPi(["-p", "--model", "brand-new-2", "hi"], at);
		expect(run).toMatchObject({ code: 2, stderr: expect.stringMatching(/^pi: No model "brand-new-2" · /) });
	});

	test.each([
		{ args: ["--offline"], env: {} },
		{ args: [], env: { PI_OFFLINE: "1" } },
	])("is not searched with %j", async ({ args, env }) => {
		const { server, at } = await withList(["brand-new-1"]);
		const run = await runPi(["-p", ...args, "--model", "brand-new-1", "hi"], { ...at, env: { ...at.env, ...env } });
		expect(run).toMatchObject({ code: 2, stderr: expect.stringMatching(/^pi: No model "brand-new-1" · /) });
		expect(server.requests).toEqual([]);
	});
});

describe("a listed model that ends", () => {
	test("is named with the next step, and not retried", async () => {
		const provider = await startProvider();
		provider.on(() => httpError(404, {}, "model: claude-opus-4-8"));
		const run = await runPi(["-p", "--model", "anthropic/claude-opus-4-8", "hi"], {
			agentDir: place(provider),
			env: KEY,
		});
		expect(run).toMatchObject({
			code: 1,
			stderr:
				"anthropic/claude-opus-4-8: claude-opus-4-8 is no longer offered by anthropic (404 model: claude-opus-4-8) · pi models update reads the current list, or choose another with --model\n",
		});
		expect(provider.requests).toHaveLength(1);
	});

	test.each([
		"No endpoints found matching your data policy. Configure: https://openrouter.ai/settings/privacy",
		"Your organization must be verified to use the model `claude-opus-4-8`.",
	])("is not confused with a 404 for another reason, which is shown: %s", async (reason) => {
		const provider = await startProvider();
		provider.on(() => httpError(404, {}, reason));
		const run = await runPi(["-p", "--model", "anthropic/claude-opus-4-8", "hi"], {
			agentDir: place(provider),
			env: KEY,
		});
		expect(run).toMatchObject({ code: 1, stderr: expect.stringContaining(`anthropic/claude-opus-4-8: 404 ${reason}`) });
	});

	test("is announced once by the headers of its responses", async () => {
		const provider = await startProvider();
		const headers = { deprecation: "@1790000000", sunset: "Fri, 01 Jan 2027 00:00:00 GMT" };
		provider.reply(httpError(529, headers, "busy"), httpError(529, headers, "busy"), "Fine.");
		const run = await runPi(["-p", "--model", "anthropic/claude-opus-4-8", "hi"], {
			agentDir: place(provider),
			env: KEY,
		});
		expect(run).toMatchObject({ code: 0, stdout: "Fine.\n" });
		expect(
			run.stderr.match(/claude-opus-4-8 is deprecated by anthropic since 21 Sep 2026 and ends on 1 Jan 2027/g),
		).toHaveLength(1);
	});
});

describe("pi models", () => {
	const ids = builtInModels()
		.lists.of("anthropic")
		.map(({ id }) => id);
	const day = new Date().toISOString().slice(0, 10);
	const news = {
		id: "claude-opus-6",
		display_name: "Claude Opus 6",
		created_at: `${day}T00:00:00Z`,
		max_input_tokens: 2_000_000,
	};

	async function withServer() {
		const server = await startListServer({
			"/v1/models?limit=1000": { data: [...ids.filter((id) => id !== "claude-opus-4-8").map((id) => ({ id })), news] },
			"/api.json": {
				anthropic: {
					models: { "claude-opus-6": { cost: { input: 5, output: 25 }, release_date: day, tool_call: true } },
				},
			},
		});
		const agentDir = tempAgentDir({
			models: { providers: { anthropic: { baseUrl: server.origin }, openai: { baseUrl: `${server.origin}/openai` } } },
			settings: { models: { catalog: `${server.origin}/api.json` } },
		});
		return { server, at: { agentDir, env: { ...KEY, OPENAI_API_KEY: "k" } }, file: join(agentDir, "model-list.json") };
	}

	test("update prints a line per provider, and list and show know the result", async () => {
		const { at, server, file } = await withServer();
		const { host } = new URL(server.origin);
		expect(await runPi(["models", "update"], at)).toMatchObject({
			code: 0,
			stderr: "",
			stdout: [
				"anthropic        1 new (claude-opus-6), 1 retired (claude-opus-4-8)",
				`openai           failed: ${host} answered 404`,
				`${host}  1 model of 1 provider, none of openai`,
				"",
			].join("\n"),
		});
		expect(JSON.parse(readFileSync(file, "utf8"))).toMatchObject({
			version: 1,
			providers: { anthropic: { provider: { retired: ["claude-opus-4-8"] } } },
		});
		expect((await runPi(["models", "list", "opus-6"], at)).stdout).toMatch(
			/^anthropic {2}claude-opus-6 +2M +yes +yes +yes +\$5 \/ \$25 +ANTHROPIC_API_KEY$/m,
		);
		expect((await runPi(["--list-models", "opus-6"], at)).stdout).toBe(
			(await runPi(["models", "list", "opus-6"], at)).stdout,
		);
		expect((await runPi(["models", "show", "anthropic/claude-opus-6"], at)).stdout).toBe(
			[
				"model     anthropic/claude-opus-6        nearest relative claude-opus-5-5",
				"name      Claude Opus 6                  anthropic (today)",
				"context   2000000 tokens (2M)            anthropic (today)",
				"reply     128000 tokens                  nearest relative claude-opus-5-5",
				"price     $5 in, $25 out per M tokens    catalog (today)",
				"thinking  yes                            nearest relative claude-opus-5-5",
				"levels    low, medium, high, xhigh, max  nearest relative claude-opus-5-5",
				"images    yes                            nearest relative claude-opus-5-5",
				"tools     yes                            catalog (today)",
				`released  ${day.padEnd(29)}  anthropic (today)`,
				"format    anthropic-messages             nearest relative claude-opus-5-5",
				`address   ${server.origin.padEnd(29)}  models.json`,
				"key       ANTHROPIC_API_KEY",
				"",
			].join("\n"),
		);
		expect(
			JSON.parse((await runPi(["models", "show", "anthropic/claude-opus-4-8", "--json"], at)).stdout),
		).toMatchObject({
			id: "claude-opus-4-8",
			retired: true,
			from: { context: "list (22 Sep 2026)", address: "models.json" },
		});
		expect(JSON.parse((await runPi(["models", "list", "opus-6", "--json"], at)).stdout)).toMatchObject([
			{ id: "claude-opus-6", released: day },
		]);
		// The new model is the default now.
		expect(JSON.parse((await runPi(["models", "update", "anthropic", "--json"], at)).stdout)).toMatchObject({
			file,
			providers: [{ provider: "anthropic", state: "updated", added: [], retired: [] }],
			catalogFailure: null,
		});
		expect((await runPi(["doctor"], at)).stdout).toMatch(/anthropic\/claude-opus-6/);
	});

	test("show names the nearest relative of a model that no list has", async () => {
		const { at } = await withServer();
		const { stdout } = await runPi(["models", "show", "anthropic/claude-opus-6"], at);
		expect(stdout).toMatch(/^context .* nearest relative claude-opus-5-5$/m);
		expect(stdout).toMatch(/^price +unknown$/m);
		expect(await runPi(["models", "show", "nobody/nothing", "--json"], at)).toMatchObject({ code: 2, stdout: "" });
	});

	test("update is refused offline, without a key and for unknown providers, and fails if all fail", async () => {
		const { at, server } = await withServer();
		const offline = await runPi(["models", "update", "--offline"], at);
		expect(offline).toMatchObject({
			code: 2,
			stderr: "pi: pi models update needs the network, which --offline forbids · run it without --offline\n",
		});
		expect((await runPi(["models", "update"], { ...at, env: { ...KEY, PI_OFFLINE: "1" } })).stderr).toContain(
			"which PI_OFFLINE forbids",
		);
		expect((await runPi(["models", "update"], { agentDir: at.agentDir })).stderr).toMatch(/^pi: No provider has a key/);
		expect((await runPi(["models", "update", "anthropc"], at)).stderr).toMatch(
			/^pi: No provider "anthropc" · did you mean anthropic\?/,
		);
		expect(server.requests).toEqual([]);
		// The catalog alone is not an answer of the provider.
		expect(await runPi(["models", "update", "openai"], at)).toMatchObject({
			code: 1,
			stdout: expect.stringMatching(/^openai +failed: .*\n\S+ +failed: the catalog contains no provider/),
		});
		expect(await runPi(["models", "update", "amazon-bedrock", "--json"], at)).toMatchObject({ code: 1 });
		writeFileSync(join(at.agentDir, "settings.json"), JSON.stringify({ models: { catalog: `${server.origin}/gone` } }));
		expect(await runPi(["models", "update", "anthropic"], at)).toMatchObject({ code: 0 });
	});

	test("update does not ask for the models of an own provider", async () => {
		const provider = await startProvider();
		const agentDir = agentDirFor(provider);
		expect(await runPi(["models", "update", "loopback"], { agentDir })).toMatchObject({
			code: 2,
			stdout: "",
			stderr: `pi: ${join(agentDir, "models.json")} defines the models of loopback, so pi does not ask for them · add them there\n`,
		});
	});

	test("a broken list is named once and ignored", async () => {
		const { at, file } = await withServer();
		writeFileSync(file, "{");
		const run = await runPi(["models", "list", "opus-5-5"], at);
		expect(run).toMatchObject({ code: 0, stdout: expect.stringContaining("claude-opus-5-5") });
		expect(run.stderr).toMatch(/^\S+model-list\.json:1:2: [^\n]+; ignored · run pi models update to replace it\n$/);
		await runPi(["models", "update"], at);
		expect((await runPi(["models", "list", "opus-6"], at)).stderr).toBe("");
	});

	test.each([40, 80, 120])("/model updates the list in place with a key, at %i columns", async (columns) => {
		const { at, file } = await withServer();
		const pi = await openPi({ ...at, columns, rows: 40, args: ["--model", "anthropic/claude-opus-5-5"] });
		await pi.waitForText("0%");
		await submit(pi, "/model");
		await pi.waitForText(/list of\s+22 Sep/);
		await pi.press("ctrl+r");
		await pi.waitForText(/1 new, 1 retired ·\s+openai failed/);
		await pi.waitForText(/updated\s+now/);
		pi.type("anthropic/claude-opus-6");
		await pi.waitForText("Claude Opus 6 · 2M context");
		await pi.press("enter");
		await pi.waitForText("Model: anthropic/claude-opus-6");
		expect(await pi.scrollback()).not.toContain("is not in pi's list");
		expect(readFileSync(file, "utf8")).toContain("claude-opus-6");
	});

	test("with models.update weekly, an old list is updated in the background, but only in the interactive mode", async () => {
		const { at, server, file } = await withServer();
		const settings = { models: { catalog: `${server.origin}/api.json`, update: "weekly" } };
		writeFileSync(join(at.agentDir, "settings.json"), JSON.stringify(settings));
		await runPi(["-p", "/help"], at);
		const offline = await openPi({ ...at, args: ["--offline"] });
		await offline.waitForText("0%");
		expect(server.requests).toEqual([]);
		const pi = await openPi(at);
		await expect.poll(() => existsSync(file), { timeout: 10_000 }).toBe(true);
		await pi.waitForText("0%");
		expect(await pi.scrollback()).not.toMatch(/retired|failed/);
		const { length } = server.requests;
		const again = await openPi(at);
		await submit(again, "/model");
		await again.waitForText(/updated\s+now · openai failed/);
		expect(server.requests).toHaveLength(length);
		// A provider that failed is asked again after a day, alone.
		const list = JSON.parse(readFileSync(file, "utf8"));
		list.providers.openai.failedAt = new Date(Date.now() - 25 * 3_600_000).toISOString();
		writeFileSync(file, JSON.stringify(list));
		await openPi(at);
		await expect.poll(() => server.requests.length, { timeout: 10_000 }).toBe(length + 2);
		expect(
			server.requests
				.slice(length)
				.map(({ path }) => path)
				.sort(),
		).toEqual(["/api.json", "/openai/models"]);
	});
});
