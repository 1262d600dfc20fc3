import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { png } from "../../helpers/images.js";
import type { LoopbackModelOptions } from "../../helpers/loopback-provider.js";
import { tempAgentDir, tempDir, writeFiles } from "../../helpers/temp.js";
import { startPlain } from "../plain/start-plain.js";
import { startApp } from "./app.js";

const VISION: LoopbackModelOptions = { input: ["text", "image"] };
const pixel = (cwd: string, name: string) => writeFileSync(join(cwd, name), Buffer.from(png(1, 1).data, "base64"));

test("an image named with @ in the editor is attached, as on the command line", async () => {
	const app = await startApp({ modelOptions: VISION });
	pixel(app.cwd, "shot.png");
	await app.terminal.waitFor("0%");
	app.provider.reply("A dot.", "Two dots.");
	await app.submit("what is in @shot.png?");
	await app.terminal.waitFor("A dot.");
	expect(app.provider.requests[0]?.messages.at(-1)).toMatchObject({ text: "what is in @shot.png?", images: 1 });
	expect(await app.terminal.text()).toContain("image  shot.png  1×1  png");
});

test("a skill gets the images that its prompt names, and an unseen paste attaches none", async () => {
	const agentDir = tempAgentDir();
	writeFiles(agentDir, { "skills/tea/SKILL.md": "---\nname: tea\ndescription: Make tea\n---\nBoil water." });
	const app = await startApp({ agentDir, modelOptions: VISION });
	pixel(app.cwd, "shot.png");
	await app.terminal.waitFor("0%");
	app.provider.reply("Tea.", "Log.");
	await app.submit("/skill:tea like @shot.png ");
	await app.terminal.waitFor("Tea.");
	expect(app.provider.requests[0]?.messages.at(-1)).toMatchObject({ images: 1 });
	await app.terminal.paste(`${"line\n".repeat(20)}@shot.png`);
	await app.terminal.press("enter");
	await app.terminal.waitFor("Log.");
	expect(app.provider.requests[1]?.messages.at(-1)).toMatchObject({ images: 0 });
});

test("the plain mode attaches it, too", async () => {
	const cwd = tempDir();
	pixel(cwd, "shot.png");
	const plain = await startPlain({ cwd, modelOptions: VISION });
	plain.provider.reply("A dot.");
	await plain.until("> ");
	plain.enter("what is in @shot.png?");
	await plain.until("A dot.");
	expect(plain.provider.requests[0]?.messages.at(-1)).toMatchObject({ images: 1 });
});
