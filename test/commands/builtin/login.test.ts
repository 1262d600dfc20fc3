import { readFileSync, statSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import type { CommandShell } from "../../../src/commands/command.js";
import type { SessionUI } from "../../../src/hooks/session-ui.js";
import { registerLogin } from "../../../src/models/logins.js";
import { providerName } from "../../../src/models/provider-names.js";
import { createAgentSession } from "../../../src/sdk/create-session.js";
import { startListServer } from "../../helpers/list-server.js";
import { listen } from "../../helpers/proxy.js";
import { startSession } from "../../helpers/session.js";
import { type AgentDirContent, tempAgentDir, tempDir } from "../../helpers/temp.js";

const MANUAL_CODE = { type: "manual_code" as const, message: "Code?" };

/** A screen that answers with this secret and the option with this label. */
function screen(secret: string | null, chosen: (label: string) => boolean) {
	const pages: string[][] = [];
	const copied: string[] = [];
	const shell: CommandShell = {
		copy: async (text) => void copied.push(text),
		setEditorText: () => {},
		secret: async () => secret,
		quit: () => {},
		hotkeys: () => [],
		show: (title, lines) => {
			pages.push([title, ...lines]);
			return () => {};
		},
	};
	const select = async (title: string, options: readonly { label: string; value: unknown }[]) => {
		// Stays open until the login closes it.
		if (title.startsWith("Waiting for")) return new Promise(() => {});
		return options.find(({ label }) => chosen(label))?.value ?? null;
	};
	const ui: SessionUI = {
		select: select as SessionUI["select"],
		confirm: async () => false,
		input: async () => "the code",
		notify: () => {},
	};
	return { shell, ui, pages, copied };
}

/** A session without models of its own. */
async function startUnconfigured(content: AgentDirContent = {}, options: { offline?: boolean } = {}) {
	const session = await createAgentSession({
		cwd: tempDir(),
		home: tempDir(),
		env: { PI_CODING_AGENT_DIR: tempAgentDir(content) },
		session: { kind: "memory" },
		localServers: { ports: {} },
		...options,
	});
	onTestFinished(() => session.dispose());
	return session;
}

describe("/login", () => {
	test.each(["anthropic", "openai", "google"])(
		"chooses the model that the same key of %s gives at startup",
		async (id) => {
			const key = "0123456789abcdef0123";
			const configured = await startUnconfigured({ auth: { [id]: { type: "api_key", key } } });
			const session = await startUnconfigured();
			expect(session.model).toBeNull();
			const { shell, ui } = screen(key, (label) => label === providerName(id));
			session.attachUI({ ...ui, confirm: async () => true }, shell);
			await session.prompt(`/login ${id}`);
			expect(session.model).toMatchObject({ provider: id, id: configured.model?.id });
		},
	);

	test.each([
		["copilot", "Log in to GitHub Copilot", ["GitHub Copilot"]],
		["Kimi", "Log in to Kimi For Coding", expect.arrayContaining(["Kimi For Coding"])],
		["moonshot", "Which provider?", ["Moonshot AI", "Moonshot AI (China)"]],
		["anthropic", "Log in to Anthropic", ["Anthropic (Claude Pro/Max)", "Anthropic"]],
	])("finds %s by a part of a provider's name", async (name, title, labels) => {
		const { session } = await startSession();
		const { shell, ui } = screen(null, () => false);
		const asked: unknown[] = [];
		const select = async (question: string, options: readonly { label: string }[]) => {
			asked.push(question, [...new Set(options.map(({ label }) => label))]);
			return null;
		};
		session.attachUI({ ...ui, select: select as SessionUI["select"] }, shell);
		await session.prompt(`/login ${name}`);
		expect(asked).toEqual([title, labels]);
	});

	test("asks about a key that was pasted as several lines", async () => {
		const { session } = await startSession();
		const { shell, ui } = screen("sk-proj-0123456789\u2028sk-proj-9876543210", () => false);
		const asked: string[] = [];
		const confirm = async (title: string, message: string) => {
			asked.push(`${title} ${message}`);
			return false;
		};
		session.attachUI({ ...ui, confirm }, shell);
		await session.prompt("/login deepseek");
		expect(asked).toEqual(["Save this API key? It may be wrong: it was pasted as several lines."]);
	});

	test("asks about a key that looks wrong, and saves nothing when the user declines", async () => {
		const { session } = await startSession();
		const { shell, ui } = screen("sk-ant-0123456789", () => false);
		const asked: string[] = [];
		const confirm = async (title: string, message: string) => {
			asked.push(`${title} ${message}`);
			return false;
		};
		session.attachUI({ ...ui, confirm }, shell);
		expect(await session.prompt("/login openai")).toEqual({ kind: "command", status: null });
		expect(asked).toEqual(["Save this API key? It may be wrong: it looks like a key of Anthropic."]);
		expect(await session.prompt("/logout")).toMatchObject({ status: "No saved API keys or logins" });
	});

	test("saves a pasted key in a private file, and the next request uses it", async () => {
		const { session, agentDir } = await startSession({ model: "openai/gpt-4o" });
		const { shell, ui } = screen(" sk-pasted-key ", () => false);
		session.attachUI(ui, shell);
		expect(await session.prompt("/login openai")).toMatchObject({ status: "Saved your OpenAI account" });
		const file = join(agentDir, "auth.json");
		expect(JSON.parse(readFileSync(file, "utf8"))).toEqual({ openai: { type: "api_key", key: "sk-pasted-key" } });
		expect(statSync(file).mode & 0o777).toBe(0o600);
		expect(await session.controls.availableModels()).toContainEqual(expect.objectContaining({ provider: "openai" }));
		expect(JSON.stringify(session.entries)).not.toContain("sk-pasted-key");
	});

	describe("tries a pasted key once", () => {
		const KEY = "sk-proj-0123456789abcdef0123";

		/** Pastes the key when /login asks for one of the provider at this address. */
		async function paste(baseUrl: string, { provider = "openai", confirms = false, offline = false } = {}) {
			const models = { providers: { [provider]: { baseUrl } } };
			const session = await startUnconfigured({ models }, { offline });
			const { shell, ui } = screen(null, () => false);
			const asked: string[] = [];
			const notices: string[] = [];
			const secret = async (title: string) => {
				asked.push(title.replace(/:\d+/, ""));
				return asked.length === 1 ? KEY : null;
			};
			const confirm = async (_: string, message: string) => {
				asked.push(message.replace(/:\d+/, ""));
				return confirms;
			};
			const notify = (text: string) => void notices.push(text.replace(/:\d+/, ""));
			session.attachUI({ ...ui, confirm, notify }, { ...shell, secret });
			const result = await session.prompt(`/login ${provider}`);
			expect(JSON.stringify([asked, notices, result, session.entries])).not.toContain(KEY);
			const removed = await session.prompt(`/logout ${provider}`);
			return {
				asked,
				notices,
				isSaved: JSON.stringify(removed).includes(`Removed the ${providerName(provider)} account`),
			};
		}

		test("and asks again when the provider refuses it", async () => {
			const { origin, requests } = await startListServer({ "/models": 401 });
			expect(await paste(origin)).toEqual({
				asked: [
					"API key for OpenAI",
					"Not saved: 127.0.0.1 answered 401: the key is not accepted · API key for OpenAI",
				],
				notices: [],
				isSaved: false,
			});
			expect(requests.map(({ headers }) => headers.authorization)).toEqual([`Bearer ${KEY}`]);
		});

		test("and knows the answer of Google to a wrong key", async () => {
			const server = createServer((_, response) => {
				response.writeHead(400).end(JSON.stringify({ error: { details: [{ reason: "API_KEY_INVALID" }] } }));
			});
			const origin = `http://127.0.0.1:${await listen(server)}`;
			expect(await paste(origin, { provider: "google", confirms: true })).toMatchObject({
				asked: expect.arrayContaining([
					"Not saved: 127.0.0.1 answered 400: the key is not accepted · API key for Google",
				]),
				isSaved: false,
			});
		});

		test.each([true, false])("and asks about one without the right to list models: %s", async (confirms) => {
			const { origin } = await startListServer({ "/models": 403 });
			expect(await paste(origin, { confirms })).toEqual({
				asked: ["API key for OpenAI", "It may be wrong: 127.0.0.1 answered 403: the key is not accepted."],
				notices: [],
				isSaved: confirms,
			});
		});

		test("and saves it without a word when the provider accepts it", async () => {
			const { origin } = await startListServer({ "/models": { data: [{ id: "gpt-4o" }] } });
			expect(await paste(origin)).toEqual({ asked: ["API key for OpenAI"], notices: [], isSaved: true });
		});

		test("and saves it, saying so, when the provider cannot be asked", async () => {
			const { origin } = await startListServer({ "/models": 500 });
			expect(await paste(origin)).toMatchObject({
				notices: ["The key is saved but was not tried: 127.0.0.1 answered 500"],
				isSaved: true,
			});
		});

		test("but sends nothing offline", async () => {
			const { origin, requests } = await startListServer({ "/models": 401 });
			expect(await paste(origin, { offline: true })).toMatchObject({
				notices: ["The key is saved but was not tried: pi is offline"],
				isSaved: true,
			});
			expect(requests).toEqual([]);
		});
	});

	test("does nothing when canceled, and suggests the nearest provider for an unknown one", async () => {
		const { session } = await startSession();
		const { shell, ui } = screen(null, () => false);
		session.attachUI(ui, shell);
		expect(await session.prompt("/login")).toEqual({ kind: "command", status: null });
		expect(await session.prompt("/login openai")).toEqual({ kind: "command", status: null });
		await expect(session.prompt("/login opnai")).rejects.toMatchObject({ hint: expect.stringContaining("openai") });
	});

	test("logs in through a web site: shows the address, asks for the code, saves the tokens", async () => {
		const remove = registerLogin({
			provider: "test-site",
			name: "Test Site",
			async login({ notify, prompt }) {
				notify({ type: "auth_url", url: "https://example.com/login", instructions: "Open this:" });
				const code = await prompt({ type: "text", message: "Code?" });
				return { type: "oauth", access: `token for ${code}`, refresh: "again", expires: Date.now() + 3_600_000 };
			},
			refresh: async (tokens) => tokens,
			toAuth: async ({ access }) => ({ apiKey: access }),
		});
		onTestFinished(remove);
		const { session, agentDir } = await startSession();
		const { shell, ui, pages } = screen(null, (label) => label === "Test Site");
		session.attachUI(ui, shell);
		await session.prompt("/login");
		expect(pages).toEqual([["Log in to Test Site", "Open this:", "https://example.com/login"]]);
		expect(JSON.parse(readFileSync(join(agentDir, "auth.json"), "utf8"))).toMatchObject({
			"test-site": { type: "oauth", access: "token for the code" },
		});
		expect(await session.prompt("/logout test-site")).toMatchObject({ status: "Removed the test-site account" });
		expect(await session.prompt("/logout")).toMatchObject({ status: "No saved API keys or logins" });
	});

	test("copies the address of a login with Enter, and goes on waiting for the code", async () => {
		onTestFinished(
			registerLogin({
				provider: "test-site",
				name: "Test Site",
				async login({ notify, prompt }) {
					notify({ type: "auth_url", url: "https://example.com/login" });
					return {
						type: "oauth",
						access: await prompt(MANUAL_CODE),
						refresh: "again",
						expires: Date.now() + 3_600_000,
					};
				},
				refresh: async (tokens) => tokens,
				toAuth: async ({ access }) => ({ apiKey: access }),
			}),
		);
		const { session, agentDir } = await startSession();
		const { shell, ui, copied } = screen(null, () => false);
		const answers = ["", "the code"];
		session.attachUI({ ...ui, input: async () => answers.shift() ?? null }, shell);
		await session.prompt("/login test-site");
		expect(copied).toEqual(["https://example.com/login"]);
		expect(JSON.parse(readFileSync(join(agentDir, "auth.json"), "utf8"))).toMatchObject({
			"test-site": { access: "the code" },
		});
	});

	test("offers to copy the address while a login waits for the browser", async () => {
		let finish = () => {};
		onTestFinished(
			registerLogin({
				provider: "test-site",
				name: "Test Site",
				async login({ notify }) {
					notify({ type: "device_code", verificationUri: "https://example.com/device", userCode: "ABCD" });
					await new Promise<void>((resolve) => {
						finish = resolve;
					});
					return { type: "oauth", access: "token", refresh: "again", expires: Date.now() + 3_600_000 };
				},
				refresh: async (tokens) => tokens,
				toAuth: async ({ access }) => ({ apiKey: access }),
			}),
		);
		const { session } = await startSession();
		const { shell, ui, copied } = screen(null, () => false);
		const select = async (_: string, options: readonly { label: string; value: unknown }[]) => {
			const copy = options.find(({ label }) => label === "Copy the address");
			if (!copy || copied.length > 0) return new Promise(() => {});
			setImmediate(() => finish());
			return copy.value;
		};
		session.attachUI({ ...ui, select: select as SessionUI["select"] }, shell);
		expect(await session.prompt("/login test-site")).toMatchObject({
			status: expect.stringMatching(/^Saved your Test Site account/),
		});
		expect(copied).toEqual(["https://example.com/device"]);
	});

	test("fails without a terminal", async () => {
		const { session } = await startSession();
		await expect(session.prompt("/login openai")).rejects.toMatchObject({ code: "not_a_terminal" });
	});
});
