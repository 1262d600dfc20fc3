import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { PiError } from "../../src/errors.js";
import * as declared from "../../src/operations/all.js";
import { bindOperations } from "../../src/operations/index.js";
import { type OperationKind, SessionActivity, type SessionRequest } from "../../src/session/activity.js";
import type { SessionComponents } from "../../src/session/session-components.js";
import { startSession } from "../helpers/session.js";

const root = fileURLToPath(new URL("../..", import.meta.url));
const FOLDER = join(root, "src/operations");
/** Files of the folder that are no operation. */
const HELPERS = ["all.ts", "index.ts", "input.ts", "operation.ts", "prompt-answer.ts"];
const KINDS: readonly OperationKind[] = [
	"run",
	"compacting",
	"shell",
	"prompting",
	"command",
	"dialog",
	"switching",
	"closing",
];

const all = { ...declared };
type Name = keyof typeof all;
const NAMES = Object.keys(all).sort() as Name[];

/** A session that has an activity, and where everything else ends the operation with `REACHED`. */
function busyWith(kind: OperationKind): SessionComponents {
	const activity = new SessionActivity();
	activity.begin(kind);
	const reach = { get: (_: object, key: string) => (key === "activity" ? activity : unreachable()) };
	return new Proxy({}, reach) as SessionComponents;
}

const REACHED = new Error("reached");
function unreachable(): never {
	throw REACHED;
}

/** Calls an operation of a session. @returns whether it is refused, or else carried out */
async function tryOperation(name: Name, kind: OperationKind): Promise<"refused" | "carried out"> {
	const session = busyWith(kind);
	const operate = bindOperations(() => session)[name] as (...args: unknown[]) => unknown;
	try {
		// An abort waits until what is active has ended, which nothing ends here.
		await Promise.race([operate("argument"), new Promise((resolve) => setImmediate(resolve))]);
	} catch (error) {
		if (error instanceof PiError && error.code === "session_busy") return "refused";
	}
	return "carried out";
}

/** What each kind of activity refuses, from `docs/architecture.md`: independent of the table that the program uses. */
const REFUSED: Record<SessionRequest, readonly OperationKind[]> = {
	prompt: ["closing"],
	command: ["closing"],
	compact: ["run", "compacting", "switching", "closing"],
	undo: ["run", "compacting", "shell", "switching", "closing"],
	shell: ["shell", "switching", "closing"],
	switch: ["switching", "closing"],
};

describe.each(NAMES)("%s", (name) => {
	test.each(KINDS)("is refused or carried out as declared while the session is busy with: %s", async (kind) => {
		const { request } = all[name];
		const isRefused = request !== null && REFUSED[request].includes(kind);
		// It ends with the session, whatever it waits for.
		if (name === "waitForIdle") return;
		expect(await tryOperation(name, kind)).toBe(isRefused ? "refused" : "carried out");
	});
});

test("each file of the folder declares one operation, under the name of the file", () => {
	const camel = (file: string) => file.replace(/\.ts$/, "").replace(/-(\w)/g, (_, letter) => letter.toUpperCase());
	const files = readdirSync(FOLDER).filter((file) => !HELPERS.includes(file));
	expect(files.map(camel).sort()).toEqual(NAMES);
});

/** The first sentence of the comment above an operation. */
function purposeOf(name: Name): string {
	const file = `${name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}.ts`;
	const source = readFileSync(join(FOLDER, file), "utf8");
	const [, comment = ""] =
		new RegExp(`/\\*\\*((?:(?!\\*/)[\\s\\S])*)\\*/\\nexport const ${name} = `).exec(source) ?? [];
	const text = comment
		.replace(/\n\s*\*/g, " ")
		.replace(/\s+/g, " ")
		.trim();
	return text.split(/(?<=\.) (?=@)/)[0] ?? "";
}

test("the table in the documentation comes from the declarations (npm run schemas updates it)", async () => {
	const code = (text: string | undefined) => (text === undefined ? "" : `\`${text}\``);
	const rows = NAMES.map((name) => {
		const { request, ...faces } = all[name];
		const ctx = "ctx" in faces ? faces.ctx : undefined;
		const rpc = "rpc" in faces ? faces.rpc : undefined;
		const refused = request === null ? "" : REFUSED[request].join(", ");
		const hooks = ctx ? `${code(`ctx.${ctx.member}`)}${ctx.callers === "commands" ? ", commands only" : ""}` : "";
		return `| ${code(name)} | ${purposeOf(name)} | ${hooks} | ${code(rpc?.command)} | ${refused} |`;
	});
	const page = readFileSync(join(root, "docs/architecture.md"), "utf8");
	const head = "| operation | | hooks | RPC | refused while |\n|---|---|---|---|---|\n";
	const [before = "", after = ""] = page.split(head);
	const rest = after.replace(/^(\|.*\n)*/, "");
	await expect(`${before}${head}${rows.join("\n")}\n${rest}`).toMatchFileSnapshot("../../docs/architecture.md");
});

test("what a run refuses waits for its end once the run has said that it is over", async () => {
	const { session, provider } = await startSession();
	provider.reply("hello");
	const answers: Promise<unknown>[] = [];
	session.subscribe(({ type }) => {
		if (type === "agent_end") answers.push(session.undoFiles(), session.compact());
	});
	await session.prompt("hi");
	const [undone, compacted] = await Promise.allSettled(answers);
	expect(undone).toEqual({ status: "fulfilled", value: null });
	expect(compacted).toMatchObject({ reason: { code: "compaction_failed" } });
});
