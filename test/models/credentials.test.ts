import { chmodSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { describeError } from "../../src/errors.js";
import { Credentials, type CredentialsOptions, type ProviderAccess } from "../../src/models/credentials.js";
import { registerLogin } from "../../src/models/logins.js";
import { resolveSecret } from "../../src/models/secret.js";
import { model } from "../helpers/model.js";
import { tempDir } from "../helpers/temp.js";

interface Setup extends Partial<CredentialsOptions> {
	auth?: unknown;
}

function setup({ auth, ...options }: Setup = {}) {
	const dir = tempDir();
	const authFile = join(dir, "auth.json");
	if (auth !== undefined)
		writeFileSync(authFile, typeof auth === "string" ? auth : JSON.stringify(auth), { mode: 0o600 });
	const notices: string[] = [];
	const onNotice = (line: string) => notices.push(line);
	const keys = new Credentials({ authFile, env: {}, home: dir, onNotice, ...options });
	return { keys, authFile, notices, key: (provider: string) => keys.resolveApiKey({ provider }) };
}

function access(name: string, fields: Partial<ProviderAccess> = {}): ProviderAccess {
	return { name, headers: {}, authHeader: false, keyless: false, ...fields };
}

describe("precedence of keys", () => {
	test("the order is --api-key, auth.json, models.json, settings, environment", async () => {
		const { keys, key } = setup({
			auth: { openai: { type: "api_key", key: "from-auth" } },
			providers: [access("openai", { apiKey: "from-models" })],
			settingsKeys: { openai: "from-settings" },
			env: { OPENAI_API_KEY: "from-env" },
		});
		const seen: [string | undefined, string | undefined][] = [];
		const look = async (source: Credentials) =>
			seen.push([await source.resolveApiKey({ provider: "openai" }), source.keySource("openai")]);
		await keys.removeKey("nobody");
		keys.overrideKey("openai", "from-flag");
		await look(keys);
		const fresh = setup({
			providers: [access("openai", { apiKey: "from-models" })],
			settingsKeys: { openai: "from-settings" },
		});
		await look(fresh.keys);
		await look(setup({ settingsKeys: { openai: "from-settings" }, env: { OPENAI_API_KEY: "from-env" } }).keys);
		await look(setup({ env: { OPENAI_API_KEY: "from-env" } }).keys);
		await look(setup().keys);
		expect(seen).toEqual([
			["from-flag", "--api-key"],
			["from-models", "models.json"],
			["from-settings", "settings.json"],
			["from-env", "OPENAI_API_KEY"],
			[undefined, undefined],
		]);
		expect(await key("openai")).toBe("from-flag");
	});

	test("auth.json overrides models.json", async () => {
		const auth = { openai: { type: "api_key", key: "from-auth" } };
		const { keys, key } = setup({ auth, providers: [access("openai", { apiKey: "from-models" })] });
		expect([await key("openai"), keys.keySource("openai")]).toEqual(["from-auth", "auth.json"]);
	});

	test("$NAME, with braces or without, is a variable, also inside of a text", async () => {
		const providers = [
			access("whole", { apiKey: "$TOKEN" }),
			access("braces", { apiKey: `\${token2}` }),
			access("inside", { apiKey: `a-$TOKEN-\${token2}-$UNSET` }),
			access("unset", { apiKey: "$UNSET" }),
			access("no-variable", { apiKey: "$constructor" }),
			access("header", { apiKey: "key", headers: { authorization: "Token $TOKEN" } }),
		];
		const { keys, key } = setup({ providers, env: { TOKEN: "first-token", token2: "second" } });
		expect(await Promise.all(["whole", "braces", "inside", "unset", "no-variable"].map(key))).toEqual([
			"first-token",
			"second",
			"a-first-token-second-$UNSET",
			undefined,
			undefined,
		]);
		expect(keys.describeMissingKey("unset").message).toContain("reads it from UNSET, which is not set");
		const auth = await keys.requestAuth({ provider: "header", id: "any" });
		expect(auth.headers).toEqual({ authorization: "Token first-token" });
		expect(keys.redactSecrets("it said first-token")).toBe("it said ‹key›");
	});

	test("a key in models.json can be a variable, a command or the key itself", async () => {
		const providers = [
			access("variable", { apiKey: "MY_KEY" }),
			access("command", { apiKey: "!printf 'from %s' command" }),
			access("literal", { apiKey: "EMPTY" }),
			access("unset", { apiKey: "OTHER_KEY" }),
			access("failing", { apiKey: "!echo no key ring >&2; exit 3" }),
			access("silent", { apiKey: "!exit 3" }),
			access("killed", { apiKey: "!kill -s KILL $$" }),
		];
		const { keys, key } = setup({ providers, env: { MY_KEY: "from env", PATH: "/usr/bin:/bin" } });
		expect(await Promise.all(["variable", "command", "literal", "unset"].map(key))).toEqual([
			"from env",
			"from command",
			"EMPTY",
			undefined,
		]);
		expect([keys.hasKey("command"), keys.hasKey("unset")]).toEqual([true, false]);
		await expect(key("failing")).rejects.toMatchObject({
			code: "key_missing",
			message: 'The key command "echo no key ring >&2; exit 3" failed: no key ring',
		});
		await expect(key("silent")).rejects.toThrow('The key command "exit 3" failed: exit code 3');
		await expect(key("killed")).rejects.toThrow('The key command "kill -s KILL $$" failed: it was ended by SIGKILL');
	});

	test("a key command that takes too long is reported with the time that it had", async () => {
		await expect(resolveSecret("!echo partial; sleep 60", process.env, 200)).rejects.toMatchObject({
			code: "key_missing",
			message: 'The key command "echo partial; sleep 60" timed out after 0.2 s',
			hint: "it must print the key without asking for anything; fix it in models.json",
		});
	});

	test("a key command that prints too much says so", async () => {
		await expect(resolveSecret("!yes", process.env)).rejects.toMatchObject({
			code: "key_missing",
			message: 'The key command "yes" failed: stdout maxBuffer length exceeded',
		});
	});

	test("local servers need no key and receive a placeholder", async () => {
		const { keys, key } = setup({ providers: [access("mine", { keyless: true })] });
		for (const provider of ["ollama", "lmstudio", "llamacpp", "vllm", "demo", "mine"]) {
			expect([keys.hasKey(provider), await key(provider)]).toEqual([true, "none"]);
		}
	});
});

test("requestAuth returns resolved headers, and the key as a bearer token if configured", async () => {
	const provider = access("proxy", {
		apiKey: "MY_KEY",
		authHeader: true,
		headers: { "x-team": "TEAM_NAME", "x-title": "NOT_SET", "x-plain": "pi" },
	});
	const { keys } = setup({ providers: [provider], env: { MY_KEY: "k", TEAM_NAME: "red" } });
	expect(await keys.requestAuth({ provider: "proxy", id: "any" })).toEqual({
		apiKey: "k",
		headers: { "x-team": "red", "x-title": "NOT_SET", "x-plain": "pi", Authorization: "Bearer k" },
	});
});

test.each(["ключ-secret", "first\nsecret", "secret\0more"])(
	"a key that cannot be sent is refused without showing it",
	async (apiKey) => {
		const { keys } = setup({ providers: [access("proxy", { apiKey })] });
		const error = await keys.requestAuth({ provider: "proxy", id: "x" }).catch((thrown: unknown) => thrown);
		expect(error).toMatchObject({
			code: "key_missing",
			message:
				"The key of proxy (models.json) contains a line break or a character outside Latin-1, so it cannot be sent",
		});
		expect(describeError(error)).not.toContain("secret");
	},
);

test.each([
	[
		{ "x-team": "naïve\nsecret" },
		'The header "x-team" of proxy in models.json contains a line break or a character outside Latin-1, so it cannot be sent',
	],
	[{ "x team": "secret" }, 'The header "x team" of proxy in models.json is not a legal header name'],
])("a header that cannot be sent is refused by its name", async (headers, message) => {
	const { keys } = setup({ providers: [access("proxy", { apiKey: "k", headers })] });
	const error = await keys.requestAuth({ provider: "proxy", id: "x" }).catch((thrown: unknown) => thrown);
	expect(error).toMatchObject({ code: "key_missing", message });
	expect(describeError(error)).not.toContain("secret");
});

test("whitespace around a key and Latin-1 in a header are accepted", async () => {
	const { keys } = setup({ providers: [access("proxy", { apiKey: "k\n", headers: { "x-team": "naïve" } })] });
	expect(await keys.requestAuth({ provider: "proxy", id: "x" })).toMatchObject({ headers: { "x-team": "naïve" } });
});

test("the headers of a model replace those of its provider, whatever their case, and their secrets are known", async () => {
	const provider = access("proxy", {
		apiKey: "k",
		headers: { "X-Team": "red", "x-plain": "pi" },
		modelHeaders: { one: { "x-team": "blue", "x-api-token": "a-secret-of-one" } },
	});
	const { keys } = setup({ providers: [provider] });
	expect((await keys.requestAuth({ provider: "proxy", id: "one" })).headers).toEqual({
		"x-team": "blue",
		"x-plain": "pi",
		"x-api-token": "a-secret-of-one",
	});
	expect((await keys.requestAuth({ provider: "proxy", id: "two" })).headers).toEqual({
		"X-Team": "red",
		"x-plain": "pi",
	});
	expect(keys.redactSecrets("got a-secret-of-one")).toBe("got ‹key›");
});

describe("the error for a missing key names the ways to provide it", () => {
	test.each([
		[
			"anthropic",
			"No key for anthropic",
			"set ANTHROPIC_API_KEY or ANTHROPIC_OAUTH_TOKEN, or run /login anthropic in pi (saves it in FILE)",
		],
		["openai-codex", "No key for openai-codex", "run /login openai-codex in pi (saves it in FILE)"],
		[
			"proxy",
			"No key for proxy: models.json reads it from MY_KEY, which is not set",
			"set MY_KEY, or run /login proxy in pi",
		],
	])("%s", async (provider, message, hint) => {
		const { keys, authFile } = setup({ providers: [access("proxy", { apiKey: "MY_KEY" })] });
		const expected = { code: "key_missing", message, hint: hint.replace("FILE", authFile) };
		await expect(keys.requestAuth({ provider, id: "any" })).rejects.toMatchObject(expected);
	});
});

describe("auth.json", () => {
	test("saving a key makes the file private and preserves unknown entries", async () => {
		const { keys, key, authFile } = setup({ auth: { later: { type: "passkey", x: 1 } } });
		await keys.saveKey("openai", " sk-1\n");
		expect(await key("openai")).toBe("sk-1");
		expect(JSON.parse(readFileSync(authFile, "utf8"))).toEqual({
			later: { type: "passkey", x: 1 },
			openai: { type: "api_key", key: "sk-1" },
		});
		expect(statSync(authFile).mode & 0o777).toBe(0o600);
		expect(keys.storedProviders()).toEqual([{ provider: "openai", type: "api_key" }]);
		expect([await keys.removeKey("openai"), await keys.removeKey("openai")]).toEqual([true, false]);
		expect(await key("openai")).toBeUndefined();
	});

	test("a file readable by other users is made private, with a notice", () => {
		const { keys, authFile, notices } = setup({ auth: {} });
		chmodSync(authFile, 0o644);
		keys.hasKey("openai");
		expect(statSync(authFile).mode & 0o777).toBe(0o600);
		expect(notices).toEqual([`${authFile} was readable by other users; now only you can read it`]);
	});

	test("an invalid file contains no keys, is reported once and is kept when a key is saved", async () => {
		const { keys, key, authFile, notices } = setup({ auth: "{broken" });
		expect([await key("openai"), keys.hasKey("google")]).toEqual([undefined, false]);
		expect(notices).toEqual([
			`${authFile}:1:2: expected a key in double quotes or "}" · fix the file; until then it is not used`,
		]);
		await keys.saveKey("openai", "sk-1");
		expect(notices[1]).toBe(
			`${authFile} was invalid and is kept as ${authFile}.bad-${new Date().toISOString().slice(0, 10)}`,
		);
		expect(await key("openai")).toBe("sk-1");
	});

	test("a key in an invalid file is not removed: the error names the place, and the file stays as it is", async () => {
		const { keys, authFile } = setup({ auth: '{"openai": {"type": "api_key", "key": "sk-1"},}' });
		await expect(keys.removeKey("openai")).rejects.toThrow(`${authFile}:1:47: a "," before "}" is not allowed`);
		expect(readFileSync(authFile, "utf8")).toContain("sk-1");
		expect(readdirSync(dirname(authFile)).filter((name) => name.includes("bad"))).toEqual([]);
	});

	test("a file changed by another process is read again", async () => {
		const { key, authFile } = setup({ auth: {} });
		expect(await key("openai")).toBeUndefined();
		writeFileSync(authFile, JSON.stringify({ openai: { type: "api_key", key: "theirs" } }));
		expect(await key("openai")).toBe("theirs");
	});
});

describe("a login", () => {
	/** Issues tokens `access-1`, `access-2`, …; each refresh token works once. */
	function tokenServer(id: string) {
		let valid = "refresh-0";
		let count = 0;
		const state = { refusals: 0, calls: 0 };
		const remove = registerLogin({
			provider: id,
			name: id,
			login: async () => ({ type: "oauth", access: "access-0", refresh: "refresh-0", expires: 0 }),
			toAuth: async ({ access: token }) => ({ apiKey: token, baseUrl: `https://${token}` }),
			filterModels: (models) => models.filter((model) => model.id !== "not-in-the-plan"),
			async refresh({ refresh }) {
				state.calls++;
				if (refresh !== valid) {
					state.refusals++;
					throw new Error("refresh token was used before");
				}
				count++;
				valid = `refresh-${count}`;
				return { type: "oauth", access: `access-${count}`, refresh: valid, expires: Date.now() + 3_600_000 };
			},
		});
		onTestFinished(remove);
		return state;
	}
	const expired = { type: "oauth", access: "access-0", refresh: "refresh-0", expires: 0, account: "a" };

	test("an expired login is renewed once for concurrent requests", async () => {
		const server = tokenServer("test-login");
		const { authFile, keys } = setup({ auth: { "test-login": expired } });
		const other = new Credentials({ authFile, env: {}, home: "/" });
		const model = { provider: "test-login" };
		const asked = [keys, other, keys, other].map((source) => source.resolveApiKey(model));
		expect(await Promise.all(asked)).toEqual(["access-1", "access-1", "access-1", "access-1"]);
		expect(server).toEqual({ calls: 1, refusals: 0 });
		expect(JSON.parse(readFileSync(authFile, "utf8"))["test-login"]).toMatchObject({
			type: "oauth",
			access: "access-1",
			refresh: "refresh-1",
			account: "a",
		});
	});

	test("the error for a login that cannot be renewed names the command to run", async () => {
		tokenServer("test-login");
		const { key } = setup({ auth: { "test-login": { ...expired, refresh: "used" } } });
		await expect(key("test-login")).rejects.toMatchObject({
			code: "key_missing",
			message: "The login for test-login could not be renewed",
			hint: "run /login test-login in pi",
		});
	});

	test("a login adapts the models of its provider", async () => {
		tokenServer("test-login");
		const { keys } = setup();
		await keys.saveLogin("test-login", { access: "host", refresh: "r", expires: Date.now() + 3_600_000 });
		const models = [model("test-login", "a"), model("test-login", "not-in-the-plan"), model("other", "a")];
		expect(await keys.adaptModels(() => models)).toEqual([{ ...models[0], baseUrl: "https://host" }, models[2]]);
	});
});

test("redactSecrets replaces known keys, longest first, but no short words", async () => {
	const { keys, key } = setup({
		auth: {
			a: { type: "api_key", key: "secret-12345" },
			b: { type: "oauth", access: "access-token", refresh: "refresh-token", expires: 1 },
		},
		settingsKeys: { c: "settings-key", short: "abc" },
		providers: [
			access("d", {
				apiKey: "!printf command-secret",
				headers: { Authorization: "Bearer header-secret", "x-title": "titletitle" },
			}),
			access("e", { apiKey: "literal-secret" }),
		],
		env: { OPENAI_API_KEY: "secret-12345-longer", PATH: "/usr/bin:/bin", AWS_PROFILE: "x" },
	});
	await key("d");
	const text =
		"secret-12345-longer secret-12345 access-token refresh-token settings-key abc command-secret header-secret literal-secret titletitle <authenticated>";
	expect(keys.redactSecrets(text)).toBe(
		"‹key› ‹key› ‹key› ‹key› ‹key› abc ‹key› ‹key› ‹key› titletitle <authenticated>",
	);
});
