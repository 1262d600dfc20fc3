import { expect, onTestFinished, test } from "vitest";
import { REFUSED_EVENTS, REFUSED_MEMBERS } from "../../src/extensions/refusals.js";
import { createHookTest, toolCall } from "../../src/testing/index.js";
import { toolCall as wireToolCall } from "../helpers/loopback-provider.js";
import { startSession } from "../helpers/session.js";
import { tempAgentDir, tempDir, writeFiles } from "../helpers/temp.js";
import { startApp } from "../modes/interactive/app.js";
import { extension, tryExtension } from "./try-extension.js";

test.each(Object.entries(REFUSED_EVENTS))(
	"the event %s is refused by name, and the rest works",
	async (event, reason) => {
		const t = await tryExtension(`
		pi.on("${event}", () => {});
		pi.registerCommand("works", { handler: async (args, ctx) => ctx.ui.notify("works") });
	`);
		expect([...t.errors, ...t.notices].join("\n")).toContain(`the event ${event} is not available in pi: ${reason}`);
		await t.run("/works");
		expect(t.notices).toContain("works");
	},
);

const CALLS: Readonly<Record<string, string>> = {
	"pi.registerMarkdownTransformer": "(() => {})",
};

test.each(Object.entries(REFUSED_MEMBERS))(
	"the member %s is refused by name when it is used",
	async (member, reason) => {
		const t = await tryExtension(`
		pi.registerCommand("use", { handler: async (args, ctx) => {
			try { await ${member}${CALLS[member] ?? '("x")'}; } catch (error) { ctx.ui.notify(error.message); }
			try { await ${member}${CALLS[member] ?? '("x")'}; } catch {}
		} });
	`);
		await t.run("/use");
		const said = [...t.errors, ...t.notices].filter((line) =>
			line.includes(`${member} is not available in pi: ${reason}`),
		);
		expect(said).toHaveLength(1);
	},
);

test("what is missing when an extension loads is reported in one line", async () => {
	const t = await tryExtension(`
		pi.on("project_trust", () => {});
		pi.on("ui_prompt_end", () => {});
		pi.on("project_trust", () => {});
	`);
	expect([...t.errors, ...t.notices]).toEqual([
		expect.stringContaining(
			"not available in pi: the event project_trust, the event ui_prompt_end · pi hooks check tells why",
		),
	]);
});

test("a branch is a step in the tree, which an extension takes and may cancel", async () => {
	const t = await tryExtension(
		`
		const tell = (ctx, ...words) => ctx.ui.notify(words.map((word) => String(word).replace(/^.*:/, "")).join(" "));
		let isOpen = false;
		pi.on("session_before_tree", ({ preparation: { targetId, oldLeafId, commonAncestorId }, signal }, ctx) => {
			tell(ctx, "before", targetId, oldLeafId, commonAncestorId, signal.aborted);
			return isOpen ? undefined : { cancel: true };
		});
		pi.on("session_tree", ({ newLeafId, oldLeafId }, ctx) => tell(ctx, "after", newLeafId, oldLeafId));
		pi.registerCommand("go", { handler: async (args, ctx) => {
			const entries = ctx.sessionManager.getEntries();
			const target = entries.filter(({ type }) => type === "message")[Number(args)];
			try { tell(ctx, "canceled", (await ctx.navigateTree(target.id)).cancelled); }
			catch (error) { ctx.ui.notify(error.message); }
		} });
		pi.registerCommand("open", { handler: async () => { isOpen = true; } });
	`,
		{ replies: ["one", toolCall("bash", { command: "true" }), "two", "three"] },
	);
	let known = 0;
	const heard = () => {
		const from = known;
		known = t.notices.length;
		return t.notices.slice(from);
	};
	for (const text of ["first", "second", "third"]) await t.run(text);
	const at = (n: number) => t.entries.flatMap(({ type }, index) => (type === "message" ? [index] : []))[n];
	const [prompt, last] = [at(2), t.entries.length - 1];
	const before = `before ${prompt} ${last} ${(prompt ?? 0) - 1} false`;
	await t.run("/go 2");
	expect(heard()).toEqual([before, "canceled true"]);
	await t.run("/go 3");
	expect(heard()).toEqual([expect.stringContaining("ctx.navigateTree to an entry inside a turn is not available")]);
	await t.run("/go 7");
	expect(heard()).toEqual(["canceled false"]);
	await t.run("/open");
	// What was said last before the prompt.
	await t.run("/go 1");
	expect(heard()).toEqual([before, `after ${(prompt ?? 0) - 1} ${last}`, "canceled false"]);
	expect(t.errors).toEqual([]);
});

test("a step to a prompt puts it into the editor, one to an answer does not", async () => {
	const agentDir = tempAgentDir();
	writeFiles(agentDir, {
		"extensions/step.ts": extension(`pi.registerCommand("step", { handler: async (args, ctx) => {
			const messages = ctx.sessionManager.getEntries().filter(({ type }) => type === "message");
			await ctx.navigateTree(messages[Number(args)].id);
		} });`),
	});
	const { submit, terminal, provider } = await startApp({ agentDir });
	for (const text of ["one", "two"]) provider.reply(`answer ${text}`);
	await submit("prompt one");
	await terminal.waitFor("answer one");
	await submit("prompt two");
	await terminal.waitFor("answer two");
	await submit("/step 1");
	await expect.poll(async () => (await terminal.screen()).join("\n")).not.toContain("two");
	await terminal.waitFor("answer one");
	await submit("/step 0");
	await terminal.waitFor(/^ prompt one $/m);
});

test("a tool ends pi once the run has ended", async () => {
	const agentDir = tempAgentDir();
	writeFiles(agentDir, {
		"extensions/end.ts": `export default (pi) => pi.registerTool({ name: "end", label: "End", description: "d",
			parameters: { type: "object", properties: {} },
			execute: async (id, params, signal, onUpdate, ctx) => {
				ctx.shutdown();
				return { content: [{ type: "text", text: "soon" }], details: {} };
			} });`,
	});
	const app = await startApp({ agentDir });
	app.provider.reply([wireToolCall("end", {})]).reply("goodbye");
	await app.submit("end it");
	expect(await app.exit).toBe(0);
	expect(app.provider.requests).toHaveLength(2);
	expect(JSON.stringify(app.session().entries)).toContain("goodbye");
});

test("an extension changes parameters of a request, and no messages", async () => {
	const dir = tempDir();
	writeFiles(dir, {
		"mine.ts": extension(`
			pi.on("before_provider_request", ({ payload }) => ({ ...payload, user: "first" }));
			pi.on("before_provider_request", ({ payload }) => ({ ...payload, user: payload.user + " second" }));
			pi.on("before_provider_request", () => undefined);
		`),
		"other.ts": extension(`pi.on("before_provider_request", ({ payload }) => ({ ...payload, messages: [] }));`),
	});
	const { session, provider, events } = await startSession({ extensions: [`${dir}/mine.ts`, `${dir}/other.ts`] });
	provider.reply("ok");
	await session.prompt("hello");
	expect(provider.requests[0]?.body.user).toBe("first second");
	expect(provider.requests[0]?.messages.at(-1)?.text).toBe("hello");
	expect(events.flatMap((event) => (event.type === "hook_error" ? [event.error] : []))).toEqual([
		"messages must stay as it is recorded, use context; the answer was ignored",
	]);
});

test("resources_discover adds skills, prompts and themes before the first request", async () => {
	const dir = tempDir();
	writeFiles(dir, {
		"SKILL.md": "---\nname: sew\ndescription: About sewing\n---\nSew.\n",
		"greet.md": "Say hello.",
		"night.json": '{ "colors": {} }',
		"mine.ts": extension(`pi.on("resources_discover", ({ cwd, reason }, ctx) => {
			globalThis.__asked = [cwd === ctx.cwd, reason];
			return { skillPaths: ["${dir}/SKILL.md"], promptPaths: ["${dir}/greet.md"], themePaths: ["${dir}/night.json"] };
		});`),
	});
	const { session, provider } = await startSession({ extensions: [`${dir}/mine.ts`] });
	expect(Reflect.get(globalThis, "__asked")).toEqual([true, "startup"]);
	expect(session.loaded).toMatchObject({
		skills: ["sew"],
		templates: ["greet"],
		themes: [{ path: `${dir}/night.json` }],
	});
	provider.reply("ok");
	await session.prompt("go");
	expect(JSON.stringify(provider.requests[0]?.messages)).toContain("About sewing");
});

test("an extension may test whether a member exists", async () => {
	const t = await tryExtension(`
		pi.on("session_start", (event, ctx) => {
			ctx.ui.requestRender?.();
			ctx.ui.notify(String([typeof pi.sing, typeof ctx.dance, typeof ctx.ui.requestRender]));
		});
	`);
	expect(t.errors).toEqual([]);
	expect(t.notices).toEqual(["undefined,undefined,undefined"]);
});

test.each([
	[{}, false],
	[{ checks: false }, true],
])("a flag --no-checks turns off --checks: with %j it is %s", async (flags, expected) => {
	const t = await tryExtension(
		`
		pi.registerFlag("no-checks", { type: "boolean", default: false });
		pi.on("session_start", (event, ctx) => ctx.ui.notify(String(pi.getFlag("no-checks"))));
		`,
		{ flags },
	);
	expect([t.errors, t.notices]).toEqual([[], [String(expected)]]);
});

test("before_agent_start knows the directory, the tools and the context files", async () => {
	const t = await tryExtension(
		`
		pi.on("before_agent_start", ({ systemPromptOptions: { cwd, selectedTools, contextFiles } }, ctx) =>
			ctx.ui.notify([cwd === ctx.cwd, selectedTools.includes("read"), contextFiles.length].join()));
		`,
		{ replies: ["hi"] },
	);
	await t.run("go");
	expect([t.errors, t.notices]).toEqual([[], ["true,true,0"]]);
});

test("sections and other parts of systemPromptOptions become the system prompt of the run, and only of that run", async () => {
	const t = await tryExtension(
		`
		let run = 0;
		pi.on("before_agent_start", ({ systemPromptOptions: options }) => {
			if (++run > 1) return;
			options.sections.rules = "Be exact.";
			options.sections.empty = "";
			options.promptGuidelines.push("test it");
			options.appendSystemPrompt = "Appended.";
		});
		pi.on("before_agent_start", ({ systemPrompt, systemPromptOptions: options }, ctx) => {
			ctx.ui.notify(String(systemPrompt.includes("<rules>") + " " + Object.keys(options.sections)));
		});
		pi.on("before_agent_start", ({ systemPromptOptions: options }) => { options.selectedTools.pop(); });
		pi.registerCommand("options", { handler: async (args, ctx) => {
			ctx.ui.notify(Object.keys(ctx.getSystemPromptOptions().sections).length + " sections");
		} });
		`,
		{ replies: ["one", "two"] },
	);
	await t.run("go");
	await t.run("go on");
	await t.run("/options");
	const sent = t.requests.map(({ systemPrompt }) => systemPrompt);
	expect(sent[0]).toMatch(/\n\nAppended\.\n\n- test it\n\n<rules>\nBe exact\.\n<\/rules>$/);
	expect(sent[1]).not.toContain("<rules>");
	expect(t.notices).toEqual(["true rules,empty", "false ", "0 sections"]);
	expect(t.errors).toEqual([expect.stringContaining("a change of systemPromptOptions.selectedTools is not available")]);
});

test("an extension finds the line with the working directory in the system prompt, and changes it", async () => {
	const t = await tryExtension(
		`
		pi.on("before_agent_start", ({ systemPrompt }, ctx) => ({
			systemPrompt: systemPrompt.replace("Current working directory: " + ctx.cwd, "Current working directory: /srv"),
		}));
		`,
		{ replies: ["hi"] },
	);
	await t.run("go");
	expect(t.errors).toEqual([]);
	expect(t.requests[0]?.systemPrompt).toMatch(/\nCurrent working directory: \/srv$/);
});

test("sendUserMessage sends a command as it is, and says so if it was to be expanded", async () => {
	const t = await tryExtension(
		`
		pi.registerCommand("go", { handler: async () =>
			pi.sendUserMessage("/go on", { expandPromptTemplates: true }) });
		`,
		{ replies: ["hi"] },
	);
	await t.run("/go");
	await expect.poll(() => t.requests.length).toBe(1);
	expect(t.errors).toEqual([expect.stringContaining("expandPromptTemplates of pi.sendUserMessage is not available")]);
});

test("forceSystemPrompt replaces the system prompt", async () => {
	const t = await tryExtension(
		`pi.on("before_agent_start", ({ systemPromptOptions }) => { systemPromptOptions.forceSystemPrompt = "Sing."; });`,
		{ replies: ["la"] },
	);
	await t.run("go");
	expect([t.errors, t.requests[0]?.systemPrompt]).toEqual([[], "Sing."]);
});

test("a member that nobody knows, and a name that the package lacks, are named when they are called", async () => {
	const dir = tempDir();
	writeFiles(dir, {
		"mine.ts": `import { ModelRegistry, defineTool } from "@mariozechner/pi-coding-agent";
			class Mine extends ModelRegistry {}
			export default (pi) => {
				pi.registerCommand("use", { handler: async (args, ctx) => {
					for (const call of [() => pi.sing(), () => ctx.ui.dance(), () => ctx.sessionManager.appendMessage({}), () => ctx.modelRegistry.sing(), () => new Mine()]) {
						try { call(); } catch (error) { ctx.ui.notify(error.message); }
					}
				} });
			};`,
	});
	const t = await createHookTest({ hooks: [], extensions: [`${dir}/mine.ts`] });
	onTestFinished(() => t.dispose());
	await t.run("/use");
	expect(t.notices.map((line) => line.split(" is not")[0])).toEqual([
		"pi.sing",
		"ctx.ui.dance",
		"ctx.sessionManager.appendMessage",
		"ctx.modelRegistry.sing",
		"new @earendil-works/pi-coding-agent.ModelRegistry",
	]);
});

test("the model gets the error of an extension's tool as its message", async () => {
	const t = await tryExtension(
		`pi.registerTool({ name: "boom", description: "Fails", parameters: { type: "object", properties: {} },
			execute: async () => { throw new Error("no such thing"); } });`,
		{ replies: [toolCall("boom", {}), "ok"] },
	);
	await t.run("go");
	expect(t.entries).toContainEqual(
		expect.objectContaining({
			message: expect.objectContaining({ isError: true, content: [{ type: "text", text: "no such thing" }] }),
		}),
	);
});

test("packages find out which members sessionManager and modelRegistry lack", async () => {
	const t = await tryExtension(`
		pi.registerCommand("use", { handler: async (args, { sessionManager, modelRegistry, ui }) => {
			ui.notify(typeof sessionManager._rewriteFile);
			ui.notify(String("appendMessage" in sessionManager));
			ui.notify(String(modelRegistry.getRegisteredProviderConfig?.("x")));
			ui.notify(typeof { ...sessionManager, ...modelRegistry }.getEntries);
			ui.notify(typeof sessionManager.getEntries + typeof modelRegistry.find);
		} });
	`);
	await t.run("/use");
	expect([t.errors, t.notices]).toEqual([[], ["undefined", "false", "undefined", "function", "functionfunction"]]);
});

test("the error of a handler names the extension, its place and the event; the other handlers run", async () => {
	const t = await tryExtension(
		`
		pi.on("agent_end", () => { throw new Error("no luck"); });
		pi.on("agent_end", (event, ctx) => ctx.ui.notify("second"));
		`,
		{ replies: ["hi"] },
	);
	await t.run("go");
	expect(t.errors).toEqual(["event agent_end of mine: no luck (mine.ts:3:36)"]);
	expect(t.notices).toContain("second");
});

test("partial replies and results reach an extension between the start and the end of a message and a call", async () => {
	const t = await tryExtension(
		`let text = "", seen = [];
		const note = (line) => line === seen.at(-1) || seen.push(line);
		pi.on("message_start", ({ message }) => note("start " + message.role));
		pi.on("message_update", ({ message, assistantMessageEvent: { type, delta, partial } }) => {
			note("update " + (message === partial));
			if (type === "text_delta") text += delta;
		});
		pi.on("message_end", ({ message }) => note("end " + message.role));
		pi.on("tool_execution_start", ({ toolName }) => note("run " + toolName));
		pi.on("tool_execution_update", ({ args, partialResult: { content, details } }) => note([args.n, content[0].text, details.step].join()));
		pi.on("tool_execution_end", ({ toolName }) => note("ran " + toolName));
		pi.registerTool({ name: "steps", description: "Runs.", parameters: { type: "object", properties: { n: { type: "number" } } },
			async execute(id, params, signal, onUpdate) {
				onUpdate({ content: [{ type: "text", text: "half" }], details: { step: 1 } });
				return { content: [{ type: "text", text: "full" }], details: {} };
			} });
		pi.registerCommand("seen", { handler: async (args, ctx) => ctx.ui.notify(text + "|" + seen.join("|")) });`,
		{ replies: [{ ...toolCall("steps", { n: 7 }), text: "I run it." }, "done"] },
	);
	await t.run("go");
	await t.run("/seen");
	expect(t.errors).toEqual([]);
	const reply = ["start assistant", "update true", "end assistant"];
	const call = ["run steps", "7,half,1", "ran steps", "start toolResult", "end toolResult"];
	expect(t.notices).toEqual([["I run it.done", "start user", "end user", ...reply, ...call, ...reply].join("|")]);
});

test("a handler of message_update that fails is reported once in a run", async () => {
	const t = await tryExtension(`pi.on("message_update", () => { throw new Error("no luck"); });`, {
		replies: ["one ".repeat(50), "two"],
	});
	await t.run("go");
	expect(t.errors).toEqual([expect.stringMatching(/message_update.*: no luck \(mine\.ts:2:39\)/)]);
	await t.run("again");
	expect(t.errors).toHaveLength(2);
});

test("a handler of tool_call that fails blocks the call", async () => {
	const t = await tryExtension(`pi.on("tool_call", () => { throw new Error("no luck"); });`, {
		replies: [toolCall("bash", { command: "true" }), "ok"],
	});
	await t.run("go");
	expect(t.requests[1]?.messages.at(-1)?.text).toBe("Blocked: hook mine failed: no luck");
});

test("messages stand after the prompt or the results, not between a call and its result", async () => {
	const t = await tryExtension(
		`pi.on("tool_call", () => pi.sendMessage({ customType: "note", content: "while it runs", display: false }));
		pi.registerCommand("later", { handler: async () => pi.sendMessage({ customType: "note", content: "next", display: false }, { deliverAs: "nextTurn" }) });`,
		{ replies: [toolCall("bash", { command: "true" }), "ok", "yes"] },
	);
	await t.run("go");
	expect(t.requests[1]?.messages.map(({ role }) => role)).toEqual(["user", "assistant", "toolResult", "user"]);
	await t.run("/later");
	await t.run("and now");
	expect(t.requests[2]?.messages.slice(-2).map(({ text }) => text)).toEqual(["and now", "next"]);
	expect(t.context.filter(({ hook }) => hook?.endsWith("mine.ts")).map(({ text }) => text)).toEqual([
		"while it runs",
		"next",
	]);
	expect(t.errors).toEqual([]);
});

test("a message that starts a run is an entry, not a prompt, and the model gets it once", async () => {
	const t = await tryExtension(
		`const send = (content, display, options) =>
			pi.sendMessage({ customType: "note", content, display }, { triggerTurn: true, ...options });
		pi.registerMessageRenderer("note", (message) => ({ render: () => ["drawn: " + message.content], invalidate() {} }));
		pi.registerCommand("shown", { handler: async () => send("shown", true) });
		pi.registerCommand("hidden", { handler: async () => send("hidden", false) });
		pi.on("tool_call", () => send("after the run", true, { deliverAs: "followUp" }));`,
		{ replies: ["one", "two", toolCall("bash", { command: "true" }), "three", "four"] },
	);
	expect(await t.run("/shown")).toMatchObject({ reply: "one" });
	expect(await t.run("/hidden")).toMatchObject({ reply: "two" });
	await t.run("go");
	expect(t.requests.map(({ messages }) => messages.at(-1)?.text)).toEqual([
		"shown",
		"hidden",
		"go",
		expect.any(String),
		"after the run",
	]);
	const users = t.requests.at(-1)?.messages.filter(({ role }) => role === "user");
	expect(users?.map(({ text }) => text)).toEqual(["shown", "hidden", "go", "after the run"]);
	const own = t.entries.flatMap((entry) => ("message" in entry ? [entry.message] : []));
	expect(own.filter((message) => Object(message).role === "user")).toHaveLength(1);
	const notes = t.entries.filter(({ type }) => type === "custom_message");
	expect(notes).toMatchObject([{ display: true }, { display: false }, { display: true }]);
	expect(await t.draw(notes[0] ?? 0, 80)).toEqual(["drawn: shown"]);
	expect(t.errors).toEqual([]);
});

test("a message that waits for the end of a run starts none if the user stops that run", async () => {
	const t = await tryExtension(
		`pi.on("tool_call", async (event, ctx) => {
			pi.sendMessage({ customType: "note", content: "later", display: true }, { deliverAs: "followUp", triggerTurn: true });
			ctx.abort();
		});`,
		{ replies: [toolCall("bash", { command: "true" }), "ok"] },
	);
	await t.run("go");
	expect(t.requests).toHaveLength(1);
	await t.run("and now");
	expect(t.requests[1]?.messages.slice(-2).map(({ text }) => text)).toEqual(["and now", "later"]);
	expect(t.errors).toEqual([]);
});

test("a changed system prompt is an entry, so that the request can be recomputed, and ends with the change", async () => {
	const t = await tryExtension(
		`let calls = 0;
		pi.on("before_agent_start", (event) => (calls++ === 2 ? undefined : { systemPrompt: event.systemPrompt + "\\n\\nBe brief." }));`,
		{ replies: ["one", "two", "three"] },
	);
	for (const text of ["a", "b", "c"]) await t.run(text);
	expect(t.requests.map(({ systemPrompt }) => systemPrompt.split("Be brief.").length - 1)).toEqual([1, 1, 0]);
	expect(t.entries.flatMap((entry) => (entry.type === "custom" && "data" in entry ? [entry.data] : []))).toEqual([
		{ before: "", after: "\n\nBe brief." },
		null,
	]);
	expect(t.errors).toEqual([]);
});

test("two extensions share the entry types without a clash, and each draws its own", async () => {
	const dir = tempDir();
	const draws = (name: string) =>
		extension(`pi.registerEntryRenderer("${name}", (entry) => ({ render: () => ["${name} " + entry.data], invalidate() {} }));
			pi.registerCommand("${name}", { handler: async () => pi.appendEntry("${name}", "state") });`);
	writeFiles(dir, { "one.ts": draws("one"), "two.ts": draws("two") });
	const t = await createHookTest({ hooks: [], extensions: [`${dir}/one.ts`, `${dir}/two.ts`] });
	onTestFinished(() => t.dispose());
	await t.run("/one");
	await t.run("/two");
	expect([await t.draw(1), await t.draw(2)]).toEqual([["one state"], ["two state"]]);
	expect(t.notices).toEqual([]);
});

test("extensions are found in directories of user and project, the project's only after trust", async () => {
	const say = (name: string) =>
		extension(`pi.registerCommand("${name}", { handler: async (args, ctx) => ctx.ui.notify("${name}") });`);
	const files = {
		"extensions/a.ts": say("a"),
		"extensions/b.js": say("b"),
		"extensions/c/index.ts": say("c"),
		"extensions/d/package.json": JSON.stringify({ pi: { extensions: ["./src/d.ts"] } }),
		"extensions/d/src/d.ts": say("d"),
		"extensions/d/index.ts": say("not-d"),
		"extensions/readme.md": "no extension",
	};
	const agentDir = tempDir();
	writeFiles(agentDir, files);
	const project = { ".pi/extensions/p.ts": say("p"), ".pi/extensions/q/index.ts": say("q") };
	const names = (session: Awaited<ReturnType<typeof startSession>>) =>
		session.session.inspector.hookStatuses().map(({ name }) => name);
	const trusted = await startSession({ agentDir, files: project, trust: true });
	expect(names(trusted)).toEqual(["a", "b", "c", "d", "p", "q"]);
	const untrusted = await startSession({ agentDir, files: project });
	expect(names(untrusted)).toEqual(["a", "b", "c", "d"]);
	expect(untrusted.notices().join("\n")).toContain(".pi/extensions/p.ts");
	expect(names(await startSession({ agentDir, discoverHooks: false }))).toEqual([]);
});

test("unreadable lines are neither parents nor the leaf of the tree, and the last label of an entry counts", async () => {
	const timestamp = "2026-01-01T00:00:00.000Z";
	const user = (content: string) => ({ type: "message", timestamp, message: { role: "user", content, timestamp: 1 } });
	const label = (label?: string) => ({ type: "label", timestamp, targetId: "s:1", label });
	const lines = [
		{ type: "session", version: 1, id: "s", timestamp, cwd: "/" },
		user("one"),
		"not JSON",
		user("two"),
		label("first"),
		label("second"),
		"not JSON either",
	];
	const dir = tempDir();
	writeFiles(dir, {
		"s.jsonl": lines.map((line) => `${typeof line === "string" ? line : JSON.stringify(line)}\n`).join(""),
	});
	const t = await tryExtension(
		`
		pi.registerCommand("tree", { handler: async (args, { sessionManager: session, ui }) => {
			const short = (entry) => [entry.id, entry.parentId].map((id) => id && id.split(":")[1]).join("<");
			const tree = (nodes) => nodes.flatMap(({ entry, label, children }) => [short(entry) + (label ?? ""), ...tree(children)]);
			ui.notify(session.getEntries().map(short).join());
			ui.notify(tree(session.getTree()).join());
			ui.notify([session.getLeafId() === session.getLeafEntry().id, session.getLeafEntry().label].join());
		} });
	`,
		{ sessionFile: `${dir}/s.jsonl` },
	);
	await t.run("/tree");
	expect(t.errors).toEqual([]);
	expect(t.notices.slice(-3)).toEqual(["1<,3<1,4<3,5<4", "1<second,3<1,4<3,5<4", "true,second"]);
});

test("session_start knows the models, also that of a switch", async () => {
	const t = await tryExtension(`
		pi.on("session_start", ({ reason }, ctx) =>
			ctx.ui.notify(reason + " " + ctx.modelRegistry.getAvailable().some(({ id }) => id === ctx.model.id)));
	`);
	await t.session.newSession();
	expect(t.notices).toEqual(["startup true", "new true"]);
});

test("a callback of compact that fails is an error of the extension", async () => {
	const t = await tryExtension(
		`
		pi.registerCommand("compact-now", { handler: async (args, ctx) => {
			await new Promise((resolve) => ctx.compact({
				onComplete() { setImmediate(resolve); throw new Error("no room"); },
				onError() { setImmediate(resolve); throw new Error("no callback"); },
			}));
		} });
	`,
		{ replies: ["answer"] },
	);
	await t.run("/compact-now");
	expect(t.errors).toEqual([expect.stringMatching(/^event compact of mine: no callback \(mine\.ts:\d+:\d+\)$/)]);
});

test("a reload starts the extension again with its reason", async () => {
	const t = await tryExtension(`pi.on("session_start", ({ reason }, ctx) => ctx.ui.notify("start " + reason));
		pi.on("session_shutdown", ({ reason }, ctx) => ctx.ui.notify("shutdown " + reason));`);
	await t.session.reload();
	expect(t.notices.filter((line) => /^(start|shutdown)/.test(line))).toEqual([
		"start startup",
		"shutdown reload",
		"start reload",
	]);
});
