import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { corners, cornersOf } from "../helpers/images.js";
import { httpError, type LoopbackProvider, startProvider, toolCall } from "../helpers/loopback-provider.js";
import { runPi } from "../helpers/run-pi.js";
import { tempDir } from "../helpers/temp.js";
import { agentDirFor, openPi, submit } from "./support.js";

/** An image that no provider accepts as it is. */
const PHOTO = Buffer.from(corners(4000, 3000, "jpeg").data, "base64");

function withPhoto(): { cwd: string; path: string } {
	const cwd = tempDir();
	const path = join(cwd, "photo.jpg");
	writeFileSync(path, PHOTO);
	return { cwd, path };
}

/** The first image of a request. */
function sentImage({ requests }: LoopbackProvider, index: number) {
	const [, type = "", data = ""] =
		/data:(image\/\w+);base64,([\w+/=]+)/.exec(JSON.stringify(requests[index]?.body)) ?? [];
	return { type, ...cornersOf({ type: "image", data, mimeType: type }) };
}

const FITTED = { type: "image/jpeg", width: 1568, height: 1176, corners: ["red", "green", "blue", "white"] };

test("the installed program scales @file images and those that the model reads", async () => {
	const provider = await startProvider();
	const { cwd } = withPhoto();
	provider.reply([toolCall("read", { path: "photo.jpg" })], "Seen.");
	const run = await runPi(["-p", "@photo.jpg", "what is it?"], { agentDir: agentDirFor(provider), cwd });
	expect(run).toMatchObject({ code: 0, stdout: "Seen.\n" });
	expect(sentImage(provider, 0)).toEqual(FITTED);
	const result = provider.requests[1]?.messages.find(({ role }) => role === "tool");
	expect(result?.text).toMatch(/^photo\.jpg \(image\/jpeg, .*, 4000×3000 scaled to 1568×1176\)$/);
});

test("an image that cannot be sent is refused before anything is sent", async () => {
	const provider = await startProvider();
	const cwd = tempDir();
	const bomb = Buffer.from(corners(8, 8, "png").data, "base64");
	bomb.writeUInt32BE(60_000, 16);
	bomb.writeUInt32BE(60_000, 20);
	writeFileSync(join(cwd, "bomb.png"), bomb);
	const run = await runPi(["-p", "@bomb.png", "what is it?"], { agentDir: agentDirFor(provider), cwd });
	expect(run.code).not.toBe(0);
	expect(run.stderr).toContain("Cannot send bomb.png: it has 60000×60000 pixels; pi decodes at most 100 million");
	expect(provider.requests).toEqual([]);
});

test("a dropped image is scaled while keys work, and a refusal does not end the session", async () => {
	const provider = await startProvider();
	const { cwd, path } = withPhoto();
	provider.reply(httpError(400, {}, "Could not process image"), "I cannot see it.", "Now I do.");
	const pi = await openPi({ agentDir: agentDirFor(provider), cwd });
	pi.type(`\x1b[200~${path}\x1b[201~`);
	await pi.waitForText("[image #1]");
	await submit(pi, "what is it?");
	await pi.waitForText("scaling the image of the prompt");
	pi.type("typed while it scales");
	await pi.waitForText("typed while it scales");
	await pi.waitForText("I cannot see it.");
	const screen = await pi.scrollback();
	expect(screen).toContain("image  #1  4000×3000 → 1568×1176  jpeg");
	expect(screen).toContain(`original  ${path.slice(0, 40)}`);
	expect(screen.replace(/\s+/g, " ")).toContain(
		"image omitted from the context, because loopback refused it: 400 Could not process image · /uncompact sends it again",
	);
	expect(provider.requests.map(({ messages }) => messages.at(-1)?.images)).toEqual([1, 0]);
	await pi.press("ctrl+u");
	await submit(pi, "/uncompact");
	await pi.waitForText("entry 2 undone");
	await submit(pi, "and now?");
	await pi.waitForText("Now I do.");
	expect(sentImage(provider, 2)).toEqual(FITTED);
});

test("the package that scales images is a dependency with its code in it, and is not part of the bundle", () => {
	const manifest: unknown = JSON.parse(
		readFileSync(new URL("../../node_modules/@silvia-odwyer/photon-node/package.json", import.meta.url), "utf8"),
	);
	expect(manifest).not.toHaveProperty("scripts");
	expect(manifest).not.toHaveProperty("dependencies");
	expect(manifest).toMatchObject({ files: expect.arrayContaining(["photon_rs_bg.wasm"]) });
});
