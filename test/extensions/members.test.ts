import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { REFUSED_EVENTS, REFUSED_MEMBERS } from "../../src/extensions/refusals.js";
import { runPrint } from "../../src/modes/print.js";
import { toolCall } from "../helpers/loopback-provider.js";
import { startSession } from "../helpers/session.js";
import { skipTime } from "../helpers/skip-time.js";
import { tempAgentDir, writeFiles } from "../helpers/temp.js";
import { share } from "../hooks/support.js";
import { startApp } from "../modes/interactive/app.js";
import { serve } from "../modes/rpc/serve.js";

const PROBE = fileURLToPath(new URL("../fixtures/extensions/probe.ts", import.meta.url));

type Seen = Record<string, unknown>;

/** The commands that use every member, in order; the last ones leave the session. */
const COMMANDS = [
	"/probe-session compact",
	"/probe now",
	"/probe-session reload",
	"/probe-session switch",
	"/probe-session fork",
	"/probe-session new",
	"/probe-session back",
	"/probe-session idle",
	"stop",
	"/probe-session shutdown",
];

const userSettings = { compaction: { keepRecentTokens: 1 } };

async function probeInteractive(): Promise<Seen> {
	const agentDir = tempAgentDir({ settings: userSettings });
	writeFiles(agentDir, { "extensions/probe.ts": readFileSync(PROBE, "utf8") });
	const seen: Seen = {};
	share("__probe", seen);
	const { submit, terminal, provider, session, exit } = await startApp({ agentDir, rows: 60 });
	provider
		.reply([toolCall("probe", { word: "hello" })])
		.reply("done")
		.reply("more")
		.reply("answered for withSession")
		.reply("answered while it waits")
		.reply([toolCall("probe", { word: "abort" })]);
	await submit("go");
	await terminal.waitFor("done");
	await submit("again");
	await terminal.waitFor("more");
	await submit("!ls");
	await terminal.waitFor("from the probe");
	terminal.send("\x1b[19~");
	await expect.poll(() => seen.shortcut).toBeDefined();
	await session().prompt("/probe-session compact");
	await submit("/probe now");
	await terminal.waitFor("Select");
	await terminal.press("enter");
	await terminal.waitFor("really");
	skipTime(1);
	await terminal.type("y");
	await terminal.waitFor("Input");
	await terminal.type("typed");
	await terminal.press("enter");
	await terminal.waitFor("Editor");
	await terminal.press("enter");
	await terminal.waitFor("component");
	await terminal.type("x");
	await expect.poll(() => seen["ui.custom"]).toBeDefined();
	for (const text of ["drawn message for the model", "drawn entry 1", "widget component", "header", "footer", "status"])
		await terminal.waitFor(text);
	for (const command of COMMANDS.slice(2)) await session().prompt(command);
	seen["ctx.shutdown"] = await exit;
	return seen;
}

async function probeRpc(): Promise<Seen> {
	const seen: Seen = {};
	share("__probe", seen);
	const options = { extensions: [PROBE], session: { kind: "new" } as const, userSettings };
	const { client, provider, events, session } = await serve(options);
	provider
		.reply([toolCall("probe", { word: "hello" })])
		.reply("done")
		.reply("more")
		.reply("answered for withSession")
		.reply("answered while it waits")
		.reply([toolCall("probe", { word: "abort" })]);
	client.onDialog((dialog) => {
		if (dialog.method === "select") return dialog.options[0] ?? null;
		return dialog.method === "confirm" ? true : "typed";
	});
	for (const message of ["go", "again"]) {
		const end = client.nextEvent(({ type }) => type === "agent_end");
		await client.call("prompt", { message });
		await end;
	}
	await client.call("bash", { command: "ls" });
	for (const message of COMMANDS) {
		const last = message.startsWith("/") ? "command_end" : "agent_end";
		const end = client.nextEvent(({ type }) => type === last);
		await client.call("prompt", { message });
		await end;
	}
	seen["ctx.shutdown"] = refusalOf(events("hook_error").map(({ error }) => error));
	await session.dispose();
	const shown = events("hook_ui_request").map(({ method }) => method);
	expect(shown).toEqual(expect.arrayContaining(["setStatus", "setWidget", "setTitle", "notify"]));
	return seen;
}

async function probePrint(): Promise<Seen> {
	const seen: Seen = {};
	share("__probe", seen);
	const { session, provider } = await startSession({ extensions: [PROBE], session: { kind: "new" }, userSettings });
	provider
		.reply([toolCall("probe", { word: "hello" })])
		.reply("done")
		.reply("more")
		.reply([toolCall("probe", { word: "abort" })]);
	session.acceptsSend = false;
	const lines: string[] = [];
	const io = { out: async () => {}, err: (text: string) => void lines.push(text), outIsTerminal: false };
	// A run that is stopped ends the mode.
	const rest = ["again", ...COMMANDS.filter((text) => text !== "stop"), "stop"];
	await runPrint(session, { first: { text: "go", images: [] }, rest }, io);
	await session.dispose();
	seen["ctx.shutdown"] = refusalOf(lines);
	return seen;
}

/** What the user sees of the refusal of a member. */
function refusalOf(lines: readonly string[]): string {
	return lines.flatMap((line) => /ctx\.shutdown is not available in pi: [^(\n]*/.exec(line)?.[0] ?? []).join("\n");
}

/** What every mode gives the extension: the fields of each event, and what each member returns. */
const EVERYWHERE: Seen = {
	"pi.getFlag while loading": "undefined",
	"event session_start": "reason type",
	"session_start reason": "startup",
	"session_start startup": "no label",
	"session_start reload": "here",
	"session_start resume": "no label",
	"session_start fork": "no label",
	"session_start new": "no label",
	"session_shutdown reload": "reason type",
	"session_shutdown fork": "reason targetSessionFile type",
	"session_shutdown new": "reason targetSessionFile type",
	"session_shutdown resume": "reason targetSessionFile type",
	"session_shutdown quit": "reason type",
	"event input": "images source streamingBehavior text type",
	"event before_agent_start": "images prompt systemPrompt systemPromptOptions type",
	"event agent_start": "type",
	"event agent_end": "messages type",
	"event agent_settled": "type",
	"event turn_start": "timestamp turnIndex type",
	"event turn_end": "message messageEntryId toolResultEntryIds toolResults turnIndex type",
	"event message_start": "message type",
	"event message_update": "assistantMessageEvent message type",
	"event message_end": "message type",
	"event context": "messages type",
	"event tool_call": "input toolCallId toolName type",
	"event tool_execution_start": "args toolCallId toolName type",
	"event tool_execution_update": "args partialResult toolCallId toolName type",
	"event tool_result": "content details input isError toolCallId toolName type",
	"event tool_execution_end": "isError result toolCallId toolName type",
	"event before_provider_request": "payload type",
	"event after_provider_response": "headers status type",
	"event model_select": "model previousModel source type",
	"event thinking_level_select": "level previousLevel type",
	"event session_info_changed": "name type",
	"event session_before_compact": "branchEntries customInstructions preparation reason signal type willRetry",
	"event session_compact": "compactionEntry fromExtension reason type willRetry",
	"event session_before_fork": "entryId position type",
	"event session_before_switch": "reason type",
	"event resources_discover": "cwd reason type",
	"event session_before_tree": "preparation signal type",
	"event session_tree": "newLeafId oldLeafId type",
	"ctx.navigateTree": { cancelled: false },
	"context roles": expect.any(String),
	execute: "string changed false function false",
	"ctx.cwd": "string",
	"ctx.model": "scripted",
	"ctx.isIdle": "boolean",
	"ctx.signal": expect.any(Boolean),
	"ctx.hasPendingMessages": false,
	"ctx.isProjectTrusted": false,
	"ctx.getContextUsage": "number",
	"ctx.getSystemPrompt": "string",
	"ctx.modelRegistry": true,
	"ctx.sessionManager": ["session", 0, 0, "string", "unnamed"],
	"ctx.waitForIdle": true,
	"ctx.getSystemPromptOptions": true,
	"ctx.compact": true,
	"ctx.switchSession": expect.stringContaining('There is no session "nowhere"'),
	"ctx.fork": { cancelled: false },
	"ctx.newSession": 0,
	"newSession cancelled": false,
	"ctx.switchSession back": true,
	"switchSession cancelled": false,
	"ctx.abort": true,
	file: expect.any(String),
	labeled: expect.any(String),
	"command args": "now",
	"entry ids": [true, "custom_message"],
	label: "here",
	"pi.getSessionName": "probed",
	"pi.exec": "hi",
	"pi.exec with options": ["/", true, true, 1, false],
	"pi.getActiveTools": true,
	"pi.getAllTools": ["word"],
	"pi.getCommands": true,
	"pi.setThinkingLevel": true,
	"pi.getFlag": "yes",
	"pi.events": "emitted",
	"pi.setModel": true,
	"pi.unregisterProvider": expect.any(Boolean),
	"ui.theme": true,
	"ui.notify": true,
	"ui.setStatus": true,
	"ui.setWidget": true,
	"ui.setFooter": true,
	"ui.setHeader": true,
	"ui.setTitle": true,
	"ui.setWorkingMessage": true,
	"ui.setEditorText": true,
	"ui.pasteToEditor": true,
	"ui.addAutocompleteProvider": true,
	"ui.getToolsExpanded": false,
	"ui.setToolsExpanded": true,
	"ui.setWorkingVisible": true,
	"ui.setWorkingIndicator": true,
	"ui.setHiddenThinkingLabel": true,
	"ui.getAllThemes": "",
	"ui.getTheme": ["none", "none"],
	"ui.setTheme": [false, false],
	"ui.getEditorComponent": true,
	"ui.setEditorComponent": true,
	"ui.onTerminalInput": true,
	"ctx.thinkingLevel": "string",
	"ctx.scopedModels": 0,
	"next.sendMessage": true,
	"entry types": "custom custom_message",
	"session.getCwd": true,
	"session.getSessionDir": true,
	"session.getSessionId": true,
	"session.getSessionFile": true,
	"session.getSessionName": "probed",
	"session.getHeader": true,
	"session.getEntries": true,
	"session.getBranch": 2,
	"session.getLeafId": true,
	"session.getLeafEntry": true,
	"session.getEntry": true,
	"session.getLabel": "none",
	"session.getTree": [null, 1],
};

const ROOT = new URL("../../node_modules/@earendil-works/pi-coding-agent/dist/core/", import.meta.url);
const DECLARED = readFileSync(new URL("extensions/types.d.ts", ROOT), "utf8");

/** The members that an interface of the published declarations has. */
function membersOf(name: string): string[] {
	const [, body = ""] =
		new RegExp(`\nexport interface ${name}(?: extends \\w+)? \\{\n([\\s\\S]*?)\n\\}`).exec(DECLARED) ?? [];
	return [...new Set([...body.matchAll(/^ {4}(?:readonly )?(\w+)[?(:<]/gm)].map(([, member = ""]) => member))];
}

/** The members of `ctx.sessionManager`, which the declarations pick from those of a class. */
function sessionMembers(): string[] {
	const source = readFileSync(new URL("session-manager.d.ts", ROOT), "utf8");
	const [, picked = ""] = /ReadonlySessionManager = Pick<SessionManager, ([^>]*)>/.exec(source) ?? [];
	return [...picked.matchAll(/"(\w+)"/g)].map(([, member = ""]) => member);
}

/** Rows that show the effect of a member under another name. */
const SHOWN_BY: Readonly<Record<string, string>> = {
	"pi.on": "event session_start",
	"pi.registerTool": "execute",
	"pi.registerCommand": "command args",
	"pi.registerFlag": "pi.getFlag",
	"pi.registerProvider": "pi.setModel",
	"pi.setSessionName": "pi.getSessionName",
	"pi.setLabel": "label",
	"pi.appendEntry": "entry types",
	"pi.sendMessage": "entry types",
	"pi.sendUserMessage": "ctx.waitForIdle after a prompt",
	"pi.getThinkingLevel": "pi.setThinkingLevel",
	"pi.setActiveTools": "pi.getActiveTools",
	"pi.registerShortcut": "shortcut",
	"pi.registerMessageRenderer": "drawn message",
	"pi.registerEntryRenderer": "drawn entry",
	"ctx.ui": "ui.notify",
	"ctx.reload": "session_start reload",
};

test("the tables have a row for every event and member of the published declarations", () => {
	const events = [...DECLARED.matchAll(/^ {4}on\(event: "(\w+)"/gm)].map(([, event = ""]) => event);
	expect(events.length).toBeGreaterThan(35);
	const shown = new Set(MODES.flatMap(([, , own]) => Object.keys({ ...EVERYWHERE, ...own })));
	const isShown = (row: string) => [...shown].some((key) => key === row || key.startsWith(`${row} `));
	expect(events.filter((event) => !(event in REFUSED_EVENTS) && !isShown(`event ${event}`) && !isShown(event))).toEqual(
		[],
	);
	expect(Object.keys(REFUSED_EVENTS).filter((event) => !events.includes(event))).toEqual([]);
	const members = [
		...membersOf("ExtensionAPI").map((member) => `pi.${member}`),
		...[...membersOf("ExtensionContext"), ...membersOf("ExtensionCommandContext")].map((member) => `ctx.${member}`),
		...membersOf("ExtensionUIContext").map((member) => `ctx.ui.${member}`),
		...membersOf("ReplacedSessionContext").map((member) => `next.${member}`),
		...sessionMembers().map((member) => `session.${member}`),
	];
	expect(members.length).toBeGreaterThan(95);
	const missing = members.filter((member) => {
		const row = SHOWN_BY[member] ?? member.replace("ctx.ui.", "ui.");
		return !(member.replace("session.", "ctx.sessionManager.") in REFUSED_MEMBERS) && !isShown(row);
	});
	expect(missing).toEqual([]);
	const refused = Object.keys(REFUSED_MEMBERS).map((member) => member.replace("ctx.sessionManager.", "session."));
	expect(refused.filter((member) => !members.includes(member))).toEqual([]);
});

const ANSWERED: Seen = { "ui.select": "a", "ui.confirm": true, "ui.input": "typed" };
const USER_BASH = { "event user_bash": "command cwd excludeFromContext type" };

const MODES: readonly [mode: string, probe: () => Promise<Seen>, own: Seen][] = [
	[
		"interactive",
		probeInteractive,
		{
			...ANSWERED,
			...USER_BASH,
			"input source": "interactive",
			"ctx.waitForIdle after a prompt": true,
			"next.sendUserMessage": true,
			"ctx.shutdown": 0,
			"ctx.mode": "tui",
			"ctx.hasUI": true,
			"ui.editor": "text",
			"ui.custom": "chosen",
			"ui.getEditorText": "edited",
			"ui.getAllThemes": "dark high-contrast light plain",
			"ui.getTheme": ["light", "none"],
			"ui.setTheme": [true, false],
			shortcut: true,
			"drawn message": "probe-message",
			"drawn entry": "probe-entry",
		},
	],
	[
		"rpc",
		probeRpc,
		{
			...ANSWERED,
			...USER_BASH,
			"input source": "rpc",
			"ctx.waitForIdle after a prompt": true,
			"next.sendUserMessage": true,
			"ctx.shutdown": "ctx.shutdown is not available in pi: the program that runs this session ends it",
			"ctx.mode": "rpc",
			"ctx.hasUI": true,
			"ui.editor": "typed",
			"ui.custom": "undefined",
			"ui.getEditorText": expect.any(String),
		},
	],
	[
		"print",
		probePrint,
		{
			"input source": "interactive",
			// Nothing sends a prompt in print mode but the command line.
			"ctx.waitForIdle after a prompt": false,
			"next.sendUserMessage": false,
			"ctx.shutdown": "ctx.shutdown is not available in pi: the program that runs this session ends it",
			"ctx.mode": "print",
			"ctx.hasUI": false,
			"ui.select": "undefined",
			"ui.confirm": false,
			"ui.input": "undefined",
			"ui.editor": "undefined",
			"ui.custom": "undefined",
			"ui.getEditorText": "",
		},
	],
];

test.each(MODES)("in %s mode every event and member of the API works as its table says", async (_, probe, own) => {
	expect(await probe()).toEqual({ ...EVERYWHERE, ...own });
});
