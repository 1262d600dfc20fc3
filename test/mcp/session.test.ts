import { readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test, vi } from "vitest";
import { toolCall } from "../helpers/loopback-provider.js";
import { startSession, type TestSession, type TestSessionOptions } from "../helpers/session.js";
import { tempDir, writeFiles } from "../helpers/temp.js";
import { agentDirWith, EVERYTHING, filesystem, hostile } from "./servers.js";

/** A session with servers that are ready. */
async function startWith(servers: Record<string, object>, options: TestSessionOptions = {}): Promise<TestSession> {
	const test = await startSession({ ...options, agentDir: agentDirWith(servers) });
	await test.session.prompt("/mcp");
	return test;
}

/** Lets the model call tools one after another. @returns the text of each result */
async function call(
	{ session, provider }: TestSession,
	...calls: [name: string, args: Record<string, unknown>][]
): Promise<string[]> {
	const before = provider.requests.length;
	provider.reply(...calls.map(([name, args]) => [toolCall(name, args)]), "done");
	await session.prompt("go");
	return provider.requests.slice(before + 1).map(({ messages }) => messages.at(-1)?.text ?? "");
}

/** The tools of request `number` (0-based). */
function toolsOf({ provider }: TestSession, number: number): { name: string; description: string }[] {
	const { tools } = provider.requests[number]?.body ?? {};
	return Array.isArray(tools) ? tools.map((tool) => tool.function) : [];
}

function toolNames(pi: TestSession, number: number): string[] {
	return toolsOf(pi, number).map(({ name }) => name);
}

test("the tools of server-everything are found by a search, and run from the next request on", async () => {
	const pi = await startWith({ everything: EVERYTHING });
	const texts = await call(
		pi,
		["mcp_search", { query: "sum of numbers" }],
		["everything_get-sum", { a: 2, b: 40 }],
		["everything_get-sum", { a: 2 }],
	);
	expect(texts[0]).toContain("everything_get-sum: Returns the sum of two numbers");
	expect(texts[1]).toBe("The sum of 2 and 40 is 42.");
	expect(texts[2]).toBe("Missing arguments: b.");
	expect(toolNames(pi, 0).filter((name) => name.startsWith("everything_"))).toEqual([]);
	expect(toolNames(pi, 1)).toContain("everything_get-sum");
	expect(pi.notices().filter((line) => !line.startsWith("MCP servers"))).toEqual([]);
});

test("images of results reach the model, and a server sees only the listed variables, PATH and HOME", async () => {
	const pi = await startWith(
		{ everything: { ...EVERYTHING, env: { MINE: "1" }, tools: ["get-tiny-image", "get-env"] } },
		{ modelOptions: { input: ["text", "image"] } },
	);
	const texts = await call(pi, ["everything_get-tiny-image", {}], ["everything_get-env", {}]);
	const result = pi.session.context.messages.find(({ message }) => message.role === "toolResult")?.message;
	expect(result).toMatchObject({
		content: [
			{ type: "text", text: expect.stringContaining("Here's the image you requested") },
			{ type: "image", mimeType: "image/png" },
		],
	});
	expect(Object.keys(JSON.parse(texts[1] ?? "")).sort()).toEqual(["MINE", "PATH"]);
});

test("keys of a server that it echoes reach neither the model nor the screen, the session or the log", async () => {
	const SECRET = "sesame-0123456789";
	const env = { API_TOKEN: SECRET, PLAIN: "visible" };
	const broken = { command: `/no/such/\${MY_KEY:-program-0123456789}` };
	const everything = { ...EVERYTHING, env, tools: ["get-env"] };
	const pi = await startWith({ everything, echo: { ...hostile("echo"), env, tools: ["crash"] }, broken });
	const texts = await call(pi, ["everything_get-env", {}], ["echo_crash", {}]);
	expect(JSON.parse(texts[0] ?? "")).toMatchObject({ API_TOKEN: "‹key›", PLAIN: "visible" });
	await pi.session.prompt("/mcp log echo");
	const seen = JSON.stringify([pi.provider.requests, pi.session.entries, pi.events]);
	expect(seen.includes(SECRET)).toBe(false);
	expect(seen).toContain("the token is ‹key›");
	const [failure] = pi.notices().filter((line) => line.startsWith("The MCP server broken did not start"));
	expect(failure).toContain("did not start: /no/such/‹key›: command not found · /mcp log broken");
	expect(failure).not.toContain("program-0123456789");
});

test("server-filesystem reads and writes files, and hooks block its tools like any other", async () => {
	const dir = tempDir();
	writeFileSync(join(dir, "a.txt"), "hello");
	const gate = `export default (pi) => pi.on("tool_call", ({ toolName }) => toolName.endsWith("move_file") ? { block: true, reason: "no moves" } : undefined);`;
	const pi = await startWith(
		{ fs: { ...filesystem(dir), tools: ["read_text_file", "write_file", "move_file", "nothing"] } },
		{ hooks: { "gate.ts": gate } },
	);
	const texts = await call(
		pi,
		["fs_read_text_file", { path: join(dir, "a.txt") }],
		["fs_write_file", { path: join(dir, "b.txt"), content: "new" }],
		["fs_move_file", { source: join(dir, "a.txt"), destination: join(dir, "c.txt") }],
		["fs_read_text_file", { path: "/etc/hostname" }],
	);
	expect(texts[0]).toContain("hello");
	expect(readFileSync(join(dir, "b.txt"), "utf8")).toBe("new");
	expect(texts[2]).toContain("no moves");
	expect(texts[3]).toContain("Access denied");
	expect(pi.notices()).toContainEqual(
		expect.stringMatching(/mcp\.json: the MCP server fs has no tool nothing · correct its "tools"$/),
	);
});

test("the first request does not wait for servers: the search tool waits, and tools join when their server is ready", async () => {
	const pi = await startSession({ agentDir: agentDirWith({ late: hostile("late") }) });
	const { provider, session, cwd } = pi;
	provider.reply("no tools yet", [toolCall("mcp_search", { query: "env" })], [toolCall("late_env", {})], "done");
	await session.prompt("hello");
	expect(toolNames(pi, 0).filter((name) => name.startsWith("late_"))).toEqual([]);
	expect(toolNames(pi, 0)).toContain("mcp_search");
	session.subscribe(({ type }) => type === "tool_execution_start" && writeFiles(cwd, { go: "" }));
	await session.prompt("now");
	expect(provider.requests[2]?.messages.at(-1)?.text).toContain("late_env: The tool env");
	expect(toolNames(pi, 2)).toContain("late_env");
	expect(toolNames(pi, 2)).not.toContain("mcp_search");
	expect(provider.requests[3]?.messages.at(-1)?.text).toBe("PATH");
});

test("500 tools cost at most 100 KB, also after searches that find many", async () => {
	const pi = await startWith({ many: hostile("many", "500") });
	const searches = Array.from({ length: 6 }, (_, at): [string, Record<string, unknown>] => [
		"mcp_search",
		{ query: `tool-${at}` },
	]);
	await call(pi, ...searches);
	for (const { index } of pi.provider.requests) {
		const ofServer = toolsOf(pi, index).filter(({ name }) => /^(many_|mcp_)/.test(name));
		expect(Buffer.byteLength(JSON.stringify(ofServer))).toBeLessThan(100 * 1024);
	}
	expect(toolNames(pi, 1)).toContain("many_tool-0");
});

test("a result over 10 MB is refused and the server stays usable", async () => {
	const pi = await startWith({ h: hostile() });
	const texts = await call(pi, ["h_big", {}], ["h_bigfirst", {}], ["h_add_two", { a: 1, b: 2 }]);
	expect(texts.slice(0, 2)).toEqual([
		expect.stringContaining("the answer is larger than 10 MB and was dropped"),
		expect.stringContaining("the answer is larger than 10 MB and was dropped"),
	]);
	expect(texts[2]).toBe("3");
});

test("results are plain text, long ones are cut and saved, and requests to the client are refused", async () => {
	const pi = await startWith({ h: hostile() });
	const [ansi, long = "", ask, env] = await call(pi, ["h_ansi", {}], ["h_long", {}], ["h_ask", {}], ["h_env", {}]);
	expect(ansi).toBe("red text\u202eend");
	expect(long).toContain("line 1999");
	expect(long).not.toContain("line 2000\n");
	const path = /The complete text is in (\S+\.txt)\.\]/.exec(long)?.[1] ?? expect.fail();
	expect(readFileSync(path, "utf8")).toContain("line 4999");
	expect(ask).toMatch(/^refused: /);
	expect(env).toBe("PATH");
});

test("progress is shown as partial results and restarts the timeout", async () => {
	const pi = await startWith({ h: { ...hostile(), timeoutMs: 1500 } });
	expect(await call(pi, ["h_slow", {}])).toEqual(["slow but done"]);
	const updates = pi.events.filter((event) => event.type === "tool_execution_update");
	expect(updates.length).toBeGreaterThan(2);
	expect(updates.at(-1)).toMatchObject({
		toolName: "h_slow",
		partialResult: { content: [{ type: "text", text: expect.stringMatching(/^\d of 8 · step \d$/) }] },
	});
});

test("progress that arrives together with the result is shown, its last state too", async () => {
	const pi = await startWith({ h: hostile() });
	expect(await call(pi, ["h_burst", {}])).toEqual(["burst"]);
	const updates = pi.events.filter((event) => event.type === "tool_execution_update");
	expect(updates.map(({ partialResult }) => partialResult.content)).toEqual([
		[{ type: "text", text: "1 of 3" }],
		[{ type: "text", text: "3 of 3" }],
	]);
});

test("a crash is named, the server is started again once, and works", async () => {
	const starts = join(tempDir(), "starts");
	const pi = await startWith({ h: { ...hostile(), env: { STARTS_FILE: starts } } });
	const texts = await call(pi, ["h_crash", {}], ["h_add_two", { a: 1, b: 1 }]);
	expect(texts[0]).toContain(
		"The MCP server h ended during the call: it ended with exit code 7. It was started again.",
	);
	expect(texts[1]).toBe("2");
	expect(pi.notices()).toContainEqual(
		expect.stringMatching(/^The MCP server h ended: it ended with exit code 7; pi starts it again$/),
	);
	expect(readFileSync(starts, "utf8").trim().split("\n")).toHaveLength(2);
});

test.each(["dies", "exits"])("a server that %s at its start is started at most 4 times", async (mode) => {
	const starts = join(tempDir(), "starts");
	const pi = await startSession({ agentDir: agentDirWith({ h: { ...hostile(mode), env: { STARTS_FILE: starts } } }) });
	for (let prompt = 0; prompt < 7; prompt++) {
		pi.provider.reply("ok");
		await pi.session.prompt("hello");
		await vi.waitFor(async () => expect((await command(pi, "/mcp")).status).toContain("h · failed"), 10_000);
	}
	expect(readFileSync(starts, "utf8").trim().split("\n")).toHaveLength(4);
	const lines = pi.notices().filter((line) => line.startsWith("The MCP server h"));
	expect(lines).toHaveLength(2);
	expect(lines[0]).toMatch(
		mode === "dies" ? /did not start: it ended with exit code 3 · \/mcp log h/ : /ended: it ended with exit code 5/,
	);
	expect(lines[1]).toContain("pi tried 4 times");
	const { status } = await command(pi, "/mcp log h");
	expect(status).toContain(mode === "dies" ? "cannot find the database" : "started");
	expect(status).not.toContain("\x1b");
});

test("a server that never answers fails after its timeout, and does not hold up the session", async () => {
	const pi = await startSession({ agentDir: agentDirWith({ h: { ...hostile("hangs"), timeoutMs: 400 } }) });
	const startedAt = performance.now();
	const { status } = await command(pi, "/mcp");
	expect(status).toContain("h · failed · it did not answer within 0.4 s");
	expect(performance.now() - startedAt).toBeLessThan(3000);
});

test("odd tools are named: clashes, and definitions that are too large", async () => {
	const pi = await startWith({ h: hostile("odd") });
	expect(pi.notices().filter((line) => line.startsWith("The tool "))).toEqual([
		"The tool a!b of the MCP server h is ignored: another tool is called h_a_b, too",
		"The tool huge of the MCP server h is ignored: its definition has 98 KB, more than 32 KB",
	]);
	// A pattern that takes forever is not run.
	expect(await call(pi, ["h_list", { x: `${"a".repeat(50)}!` }])).toEqual(["called list"]);
	expect(toolsOf(pi, 0).find(({ name }) => name === "h_fine")?.description).toBe("fine red");
});

test("a malformed tool is named in one line, and the other tools of its server work", async () => {
	const pi = await startWith({ h: hostile("malformed") });
	const ignored = (name: string, reason: string) => `${name} of the MCP server h is ignored: ${reason}`;
	expect(pi.notices().filter((line) => !line.startsWith("MCP servers"))).toEqual([
		ignored("The tool unschemed", "its input schema is not that of an object"),
		ignored("A tool", "it has no name"),
		ignored("A tool", "it has no name"),
		ignored("The tool numbered", "its description is not a text"),
		ignored("The tool listed", "its input schema is not that of an object"),
		ignored("The tool titled␛[31m", "its title is not a text"),
	]);
	expect(await call(pi, ["h_answer-again", {}])).toEqual(["called answer-again"]);
	expect(toolNames(pi, 0).filter((name) => name.startsWith("h_"))).toEqual(["h_answer", "h_answer-again"]);
	expect((await command(pi, "/mcp log h")).status).toContain("no prompts: its answer to prompts/list is malformed");
});

test.each([
	["content that is no list", '{"content":"text"}'],
	["a block without text", '{"content":[{"type":"text"}]}'],
	["an unknown block", '{"content":[{"type":"video","data":"x"}]}'],
	["a number as an image", '{"content":[{"type":"image","data":7,"mimeType":"image/png"}]}'],
	["isError that is a text", '{"content":[{"type":"text","text":"x"}],"isError":"yes"}'],
	["structured content that is no object", '{"content":[],"structuredContent":"x"}'],
	["no object", '"text"', "its answer is malformed"],
	["nothing", "null", "its answer is malformed"],
])("a malformed result of a tool is one plain line for the model: %s", async (_, result, line?: string) => {
	const pi = await startWith({ h: hostile("malformed") });
	expect(await call(pi, ["h_answer", { result }], ["h_answer-again", {}])).toEqual([
		`MCP server h: ${line ?? "its answer to tools/call is malformed"}`,
		"called answer-again",
	]);
});

test("an error with an empty result shows the reason of the server", async () => {
	const pi = await startWith({ h: hostile("malformed") });
	expect(await call(pi, ["h_answer", { result: "null", error: "no such row" }])).toEqual(["MCP server h: no such row"]);
});

test("prompts are commands with positional or named arguments", async () => {
	const pi = await startWith({ everything: EVERYTHING });
	expect(pi.session.palette().find(({ name }) => name === "everything:args-prompt")).toMatchObject({
		origin: "MCP",
		argumentHint: "<city> [state]",
	});
	pi.provider.reply("a", "b", "c");
	await pi.session.prompt("/everything:args-prompt Austin Texas");
	await pi.session.prompt('/everything:args-prompt state="New York" city=Albany');
	await pi.session.prompt("/everything:simple-prompt");
	expect(pi.sent(1)).toEqual(["user: What's weather in Austin, Texas?"]);
	expect(pi.sent(2).at(-1)).toBe("user: What's weather in Albany, New York?");
	expect(pi.sent(3).at(-1)).toBe("user: This is a simple prompt without arguments.");
	await expect(pi.session.prompt("/everything:args-prompt")).rejects.toMatchObject({
		message: "/everything:args-prompt needs city",
		hint: "write /everything:args-prompt <city> [state], or name=value",
	});
	await expect(pi.session.prompt("/everything:nope")).rejects.toMatchObject({
		message: "The MCP server everything has no prompt /everything:nope",
	});
});

test("a server that floods stderr stays usable, and its log is bounded", async () => {
	const pi = await startWith({ h: hostile("floods", "30") });
	expect(await call(pi, ["h_flood", {}])).toEqual(["flooded"]);
	expect(await call(pi, ["h_add_two", { a: 1, b: 2 }])).toEqual(["3"]);
	const path = /log: (\S+\.log)/.exec((await command(pi, "/mcp")).status)?.[1] ?? expect.fail("no log");
	await expect.poll(() => readFileSync(path, "utf8").trimEnd().endsWith("the flood is over")).toBe(true);
	expect(statSync(path).size).toBeLessThan(10.5 * 1024 * 1024);
	const { status } = await command(pi, "/mcp log h");
	expect(status).toMatch(/the flood is over/);
	expect(status).not.toContain("\x1b");
	expect(status.match(/flood f{300}/g)?.length ?? 0).toBeGreaterThan(50);
});

test("a prompt command starts its server", async () => {
	const pi = await startSession({ agentDir: agentDirWith({ everything: EVERYTHING }) });
	pi.provider.reply("a");
	await pi.session.prompt("/everything:simple-prompt");
	expect(pi.sent(1)).toEqual(["user: This is a simple prompt without arguments."]);
});

test("resources of servers join the prompt that names them, and are completed", async () => {
	const pi = await startSession({ agentDir: agentDirWith({ everything: EVERYTHING }) });
	const complete = (typed: string) => pi.session.mcp.completeResource(typed, new AbortController().signal);
	expect(await complete("ev")).toEqual([{ value: "everything:", description: expect.any(String) }]);
	const uri = "demo://resource/static/document/features.md";
	expect(await complete("everything:feat")).toEqual([{ value: `everything:${uri}`, description: "features.md" }]);
	pi.provider.reply("a");
	await pi.session.prompt(`What is in @everything:${uri}? Not in @nobody:x.`);
	expect(pi.sent(1)[0]).toMatch(
		/^user: <file name="everything:demo:\/\/resource\/static\/document\/features\.md">\n# /,
	);
	expect(pi.sent(1)[0]).toContain("Not in @nobody:x.");
	await expect(pi.session.prompt("see @everything:demo://nothing")).rejects.toMatchObject({
		message: expect.stringMatching(/^Cannot read @everything:demo:\/\/nothing: MCP server everything: /),
	});
});

test("servers are turned off and on and restarted, and --no-mcp uses none", async () => {
	const pi = await startWith({ h: hostile() });
	expect(await command(pi, "/mcp disable h")).toMatchObject({ status: "h · off" });
	pi.provider.reply("ok");
	await pi.session.prompt("hello");
	expect(toolNames(pi, 0).filter((name) => /^(h_|mcp_)/.test(name))).toEqual([]);
	expect(await command(pi, "/mcp enable h")).toMatchObject({
		status: expect.stringMatching(/^h · ready · 10 tools · \d+ tokens$/),
	});
	expect(await command(pi, "/mcp restart h")).toMatchObject({ status: expect.stringContaining("ready") });
	await expect(pi.session.prompt("/mcp restart g")).rejects.toMatchObject({ message: 'There is no MCP server "g"' });
	await expect(pi.session.prompt("/mcp start h")).rejects.toMatchObject({ code: "bad_arguments" });
	const without = await startSession({ agentDir: agentDirWith({ h: hostile() }), mcp: false });
	expect(await command(without, "/mcp")).toMatchObject({
		status: expect.stringContaining("No MCP server is configured"),
	});
});

test("--tools names tools of servers, and tools that join while only some are on stay off", async () => {
	const chosen = await startWith({ h: hostile() }, { tools: ["read", "h_add_two"] });
	chosen.provider.reply("ok");
	await chosen.session.prompt("hello");
	expect(toolNames(chosen, 0)).toEqual(["read", "h_add_two"]);
	const hook = `export default (pi) => pi.on("session", (event, ctx) => ctx.tools.setActive(["read"]));`;
	const restricted = await startWith({ h: hostile() }, { hooks: { "only.ts": hook } });
	restricted.provider.reply("ok");
	await restricted.session.prompt("hello");
	expect(toolNames(restricted, 0)).toEqual(["read"]);
});

test("/reload applies a changed mcp.json, and servers of an SDK program work", async () => {
	const pi = await startWith({ h: hostile() });
	writeFiles(pi.agentDir, { "mcp.json": { mcpServers: { g: hostile() } } });
	await pi.session.reload();
	expect((await command(pi, "/mcp")).status).toMatch(/^MCP servers\ng · ready/);
	const sdk = await startSession({ mcpServers: { s: hostile() } });
	expect((await command(sdk, "/mcp")).status).toContain("s · ready");
});

test("/new reads a new server and keeps the tools that a hook registered when the session started", async () => {
	const hook = `import { Type } from "typebox";
	export default (pi) => pi.on("session", ({ reason }) => {
		if (reason === "start") pi.tool({ name: "late", description: "late", parameters: Type.Object({}), run: () => ({ content: [] }) });
	});`;
	const pi = await startSession({ hooks: { "late.ts": hook }, session: { kind: "new" } });
	pi.provider.reply("a1", "a2");
	await pi.session.prompt("u1");
	writeFiles(pi.agentDir, { "mcp.json": { mcpServers: { g: hostile() } } });
	await command(pi, "/new");
	await command(pi, "/mcp");
	await pi.session.prompt("u2");
	expect(toolNames(pi, 0)).toContain("late");
	expect(toolNames(pi, 1)).toEqual(expect.arrayContaining(["late", "g_add_two"]));
});

test("/reload restarts the servers whose definition or program changed, and those that failed", async () => {
	const dir = tempDir();
	const path = join(dir, "server.mjs");
	const source = readFileSync(hostile().args[0] ?? "", "utf8");
	writeFileSync(path, source);
	const counted = (name: string) => ({ STARTS_FILE: join(dir, name) });
	const starts = (name: string) => readFileSync(join(dir, name), "utf8").trim().split("\n").length;
	const same = { ...hostile(), env: counted("same") };
	const own = { command: process.execPath, args: ["server.mjs"], cwd: dir, env: counted("own") };
	const broken = { command: process.execPath, args: [join(dir, "late.mjs")] };
	const pi = await startWith({ same, own, broken, changed: hostile() });
	expect((await command(pi, "/reload")).status).toMatch(/ · restarted MCP servers: broken$/);
	writeFileSync(path, source.replace('tool("ask")', 'tool("asked_again")'));
	writeFileSync(join(dir, "late.mjs"), source);
	const changed = { ...hostile(), env: { MINE: "1" } };
	writeFiles(pi.agentDir, { "mcp.json": { mcpServers: { same, own, broken, changed } } });
	expect((await command(pi, "/reload")).status).toMatch(/ · restarted MCP servers: own, broken, changed$/);
	await command(pi, "/mcp");
	expect([starts("same"), starts("own")]).toEqual([1, 2]);
	const texts = await call(pi, ["own_asked_again", {}], ["broken_add_two", { a: 1, b: 2 }], ["changed_env", {}]);
	expect(texts).toEqual(["called asked_again", "3", "MINE PATH"]);
});

test("a server of a project does not start again after a file was added that it would run", async () => {
	const source = readFileSync(hostile().args[0] ?? "", "utf8");
	const server = { command: process.execPath, args: ["server.mjs"] };
	const pi = await startSession({
		trust: true,
		files: { "server.mjs": `${source}\n// "./late.mjs"`, ".mcp.json": { mcpServers: { ours: server } } },
	});
	expect((await command(pi, "/mcp")).status).toContain("ours · ready");
	expect((await command(pi, "/mcp restart ours")).status).toContain("ready");
	writeFiles(pi.cwd, { "late.mjs": "" });
	expect((await command(pi, "/mcp restart ours")).status).toContain("late.mjs is new or changed since you trusted it");
	writeFiles(pi.cwd, Object.fromEntries(Array.from({ length: 1001 }, (_, index) => [`m${index}.py`, ""])));
	writeFiles(pi.cwd, { "late.mjs": '"./m.py"', "m.py": "" });
	expect((await command(pi, "/mcp restart ours")).status).toContain("cannot be checked: it has more than 1000 files");
});

test("the arguments of a prompt are completed by its server, by position and by name", async () => {
	const pi = await startWith({ everything: EVERYTHING, h: hostile() });
	const complete = async (typed: string) =>
		(await pi.session.completeArguments("everything:completable-prompt", typed)).map(({ value }) => value);
	expect(await complete("")).toEqual(["Engineering", "Sales", "Marketing", "Support"]);
	expect(await complete("Ma")).toEqual(["Marketing"]);
	expect(await complete("Sales ")).toEqual(["Sales David", "Sales Eve", "Sales Frank"]);
	expect(await complete("name=E")).toEqual([]);
	expect(await complete("department=Support name=")).toEqual(
		["John", "Kim", "Lee"].map((name) => `department=Support name=${name}`),
	);
	expect(await complete("department=Support K")).toEqual(["department=Support Kim"]);
	expect(await pi.session.completeArguments("everything:args-prompt", "")).toEqual([
		{ value: "city=", description: "Name of the city" },
		{ value: "state=" },
	]);
	expect(await pi.session.completeArguments("everything:args-prompt", "Austin st")).toMatchObject([
		{ value: "Austin state=" },
	]);
	expect(await pi.session.completeArguments("everything:simple-prompt", "")).toEqual([]);
	expect(await pi.session.completeArguments("everything:nope", "")).toEqual([]);
});

async function command({ session }: TestSession, line: string): Promise<{ status: string }> {
	const result = await session.prompt(line);
	return { status: result.kind === "command" ? (result.status ?? "") : expect.fail(`${line} is not a command`) };
}
