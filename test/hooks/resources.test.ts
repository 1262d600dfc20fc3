import { join } from "node:path";
import { expect, test } from "vitest";
import { startSession } from "../helpers/session.js";
import { tempDir, writeFiles } from "../helpers/temp.js";
import { hook } from "./support.js";

const SKILL = (name: string) => `---\nname: ${name}\ndescription: About ${name}\n---\nDo ${name}.\n`;

function files(): string {
	const dir = tempDir();
	writeFiles(dir, {
		"skills/sew/SKILL.md": SKILL("sew"),
		"greet.md": "---\ndescription: Greets\n---\nSay hello to $1.\n",
		"looks/night.json": '{ "colors": { "accent": "#112233" } }',
	});
	return dir;
}

test("resources of a hook are there when the session starts, and gone when it is turned off", async () => {
	const dir = files();
	const source = `pi.resources({ skills: ["${dir}/skills"], prompts: ["${dir}/greet.md"], themes: ["${dir}/looks"] });`;
	const { session, provider } = await startSession({ hooks: { "a.ts": hook(source) } });
	expect(session.loaded).toMatchObject({
		skills: ["sew"],
		templates: ["greet"],
		themes: [{ path: join(dir, "looks/night.json"), copy: join(dir, "looks/night.json") }],
	});
	provider.reply("ok");
	await session.prompt("/greet Ada");
	expect(provider.requests[0]?.messages.at(-1)?.text).toBe("Say hello to Ada.");
	expect(JSON.stringify(provider.requests[0]?.messages)).toContain("About sew");
});

test("a handler waits until its resources are read, and a new list replaces the old one", async () => {
	const dir = files();
	const { session } = await startSession({
		hooks: {
			"a.ts":
				hook(`pi.on("session", async ({ reason }) => { if (reason === "start") await pi.resources({ prompts: ["${dir}/greet.md"] }); });
				pi.command("less", { handler: async () => { await pi.resources({}); } });`),
		},
	});
	expect(session.loaded.templates).toEqual(["greet"]);
	await session.prompt("/less");
	expect(session.loaded.templates).toEqual([]);
});

test("a path that does not exist is reported", async () => {
	const { session } = await startSession({ hooks: { "a.ts": hook(`pi.resources({ skills: ["/nowhere/at/all"] });`) } });
	expect(session.loaded.warnings).toEqual(["/nowhere/at/all: no such file or directory; a hook names it"]);
});

test.each([
	["7", "pi.resources expects { skills, prompts, themes }"],
	["{ hooks: [] }", 'pi.resources: unknown field "hooks"'],
	["{ themes: 'a.json' }", "pi.resources: themes must be a list of paths"],
	["{ skills: [7] }", "pi.resources: skills must be a list of paths"],
])("the malformed argument %s is refused", async (given, reason) => {
	const refused: string[] = [];
	Reflect.set(globalThis, "__refused", refused);
	await startSession({
		hooks: { "a.ts": hook(`pi.resources(${given}).catch((error) => globalThis.__refused.push(error.message));`) },
	});
	await expect.poll(() => refused).toEqual([reason]);
});
