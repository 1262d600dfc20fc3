import { expect, test } from "vitest";
import { jpegHeader, png } from "../../helpers/images.js";
import { messageEntry, reply, Script } from "./script.js";
import { createStage, type Stage, type StageOptions, TIMESTAMP } from "./stage.js";

const SHOT = png(180, 180);

/** A stage with a reply that read an image. */
async function stageWithImage(options: StageOptions = {}): Promise<Stage> {
	const stage = await createStage(options);
	const script = new Script();
	const args = { path: "docs/shot.png" };
	const content = [{ type: "text" as const, text: "docs/shot.png (image/png, 26 KB)" }, SHOT];
	stage.play(
		{ type: "agent_start" },
		...script.user("what does it show?"),
		...script.reply([{ id: "c1", tool: "read", args }], { stop: "toolUse" }),
		script.toolStart("c1", "read", args),
		{ type: "tool_execution_end", toolCallId: "c1", toolName: "read", result: { content }, isError: false },
		...script.reply([{ text: "A cat." }]),
		{ type: "agent_end", messages: [] },
	);
	return stage;
}

/** How often image data was sent, and images were placed and deleted. */
function traffic({ terminal: { output } }: Stage) {
	const count = (pattern: RegExp) => output.match(pattern)?.length ?? 0;
	return { sent: count(/\x1b_Ga=t/g), placed: count(/\x1b_Ga=p/g), deleted: count(/\x1b_Ga=d/g) };
}

test("one line describes an image that cannot be drawn", async () => {
	const stage = await stageWithImage();
	const image = { ...SHOT, data: "AAAA" };
	const text = '<file name="/tmp/broken.png">(image)</file>\n\nand [image #1]';
	const message = { role: "user" as const, content: [{ type: "text" as const, text }, image, jpegHeader(640, 480)] };
	stage.play({ type: "message_end", message: { ...message, timestamp: 0 }, entryIndex: 9 });
	await expect(await stage.terminal.text()).toMatchFileSnapshot("../../screens/images-as-text.txt");
	expect(traffic(stage)).toEqual({ sent: 0, placed: 0, deleted: 0 });
});

test("an image format that the terminal does not support shows the reason", async () => {
	const message = { role: "user" as const, content: [jpegHeader(640, 480)], timestamp: 0 };
	const stage = await createStage({ images: "kitty", entries: [messageEntry(message)] });
	expect(await stage.terminal.text()).toContain("image  640×480  jpeg  1 KB  this terminal supports PNG only");
	const iterm = await createStage({ images: "iterm2", entries: [messageEntry(message)] });
	expect(await iterm.terminal.text()).not.toContain("PNG only");
});

test("an image is sent and placed once, at most 40 % of the screen high; later frames do not touch it", async () => {
	const stage = await stageWithImage({ rows: 30, images: "kitty" });
	await stage.terminal.settle();
	expect(traffic(stage)).toEqual({ sent: 1, placed: 1, deleted: 0 });
	const rows = await stage.terminal.screen();
	expect(rows.filter((row) => row.trim() === "▎ │")).toHaveLength(10);
	stage.style.requestRender();
	const script = new Script(8);
	stage.play({ type: "agent_start" }, ...script.user("more"), ...script.reply([{ text: "Words.\n".repeat(60) }]));
	await stage.terminal.settle();
	expect(traffic(stage)).toEqual({ sent: 1, placed: 1, deleted: 0 });
});

test("a redraw does not send an image's data again; the scrollback keeps lines that scrolled off", async () => {
	const stage = await stageWithImage({ rows: 30, images: "kitty" });
	await stage.terminal.settle();
	stage.transcript.redraw();
	await stage.terminal.settle();
	expect(traffic(stage)).toEqual({ sent: 1, placed: 2, deleted: 1 });
	expect((await stage.terminal.screen()).filter((row) => row.trim() === "▎ │")).toHaveLength(10);
	expect(stage.terminal.output).not.toContain("\x1b[3J");
});

test("several images of a message are drawn below each other", async () => {
	const images = [png(90, 54), png(90, 54), png(90, 54)];
	const entries = [messageEntry({ role: "user", content: images, timestamp: 0 })];
	const stage = await createStage({ rows: 40, images: "kitty", entries });
	await stage.terminal.settle();
	expect(traffic(stage)).toMatchObject({ sent: 3, placed: 3 });
});

test("resizing the screen resizes the image, and a screen that is too low shows a line instead", async () => {
	const stage = await stageWithImage({ rows: 30, images: "kitty" });
	await stage.terminal.settle();
	stage.terminal.resize(80, 16);
	await stage.terminal.waitFor((screen) => screen.filter((row) => row.trim() === "▎ │").length === 6);
	stage.terminal.resize(80, 4);
	await stage.terminal.waitFor("▎ │ image  shot.png  180×180  png");
	expect(traffic(stage)).toEqual({ sent: 1, placed: 2, deleted: 2 });
});

test("an image that is partly off the screen is drawn completely or not at all", async () => {
	const stage = await stageWithImage({ rows: 20, images: "kitty" });
	const script = new Script(8);
	// Half of the image is above the screen.
	stage.play(...script.user("one\ntwo\nthree\nfour\nfive\nsix\nseven"));
	await stage.terminal.settle();
	const before = stage.terminal.output.length;
	stage.tui.requestRender();
	stage.terminal.resize(80, 19);
	await stage.terminal.settle();
	const redraw = stage.terminal.output.slice(before);
	for (const placed of redraw.matchAll(/\x1b\[(\d+)A\x1b_Ga=p/g)) {
		const above = redraw.slice(0, placed.index).split("\r\n").slice(1).slice(-Number(placed[1]));
		expect(above).toHaveLength(Number(placed[1]));
	}
	expect(redraw).toContain("\x1b_Ga=p");
});

test("images of a popped turn keep their position when expanded, behind the gutter for hidden entries", async () => {
	const entries = [
		messageEntry({ role: "user", content: [SHOT], timestamp: 0 }),
		messageEntry(reply([{ text: "A cat." }])),
		messageEntry({ role: "user", content: "next", timestamp: 0 }),
	];
	const stage = await createStage({ rows: 40, theme: "plain", images: "kitty", entries });
	await stage.rebuild([
		{
			hook: "/hooks/stack.ts",
			transform: async (messages) => ({ messages: messages.filter(({ entryIndex }) => (entryIndex ?? 9) > 2) }),
		},
	]);
	await stage.terminal.settle();
	expect((await stage.terminal.screen()).filter((row) => row.trimEnd() === "┆")).toHaveLength(11);
	expect(stage.terminal.output).not.toContain("␛");
});

const SCALED = {
	...jpegHeader(1568, 1176),
	original: { width: 4000, height: 3000, mimeType: "image/png", bytes: 27_430_415, path: "/home/ada/shots/desk.png" },
};

test.each([
	[40, ["image  #1  4000×3000 → 1568×1176  png…", "original  /home/ada/shots/desk.png"]],
	[80, ["image  #1  4000×3000 → 1568×1176  png → jpeg  26.2 MB → 1 KB", "original  /home/ada/shots/desk.png"]],
	[120, ["image  #1  4000×3000 → 1568×1176  png → jpeg  26.2 MB → 1 KB", "original  /home/ada/shots/desk.png"]],
])("a scaled image names both sizes and its original at %i columns", async (columns, lines) => {
	const content = [{ type: "text" as const, text: "see [image #1]" }, SCALED];
	const stage = await createStage({ columns, entries: [messageEntry({ role: "user", content, timestamp: 0 })] });
	const screen = (await stage.terminal.text()).split("\n").map((row) => row.replace(/^▎ ?/, "").trimEnd());
	expect(screen.filter((row) => /^(?:image|original) /.test(row))).toEqual(lines);
});

test("a drawn image that was scaled has a caption", async () => {
	const image = { ...png(180, 180), original: SCALED.original };
	const message = { role: "user" as const, content: [image], timestamp: 0 };
	const stage = await createStage({ rows: 30, images: "kitty", entries: [messageEntry(message)] });
	expect(await stage.terminal.text()).toContain("image  4000×3000 → 180×180  png  26.2 MB → ");
	expect(traffic(stage)).toEqual({ sent: 1, placed: 1, deleted: 0 });
});

test.each([40, 80, 120])("an omitted image is an event of the transcript at %i columns", async (columns) => {
	const stage = await createStage({ columns });
	const script = new Script();
	stage.play(
		{ type: "agent_start" },
		...script.user("what does it show?"),
		script.entry({
			type: "image_omission",
			timestamp: TIMESTAMP,
			images: [{ digest: "0", entryIndex: 1 }],
			provider: "anthropic",
			modelId: "claude",
			reason: "400 Could not process image",
		}),
		...script.reply([{ text: "I cannot see it." }]),
		{ type: "agent_end", messages: [] },
	);
	await expect((await stage.terminal.text()).trim()).toMatchFileSnapshot(`../../screens/image-omitted-${columns}.txt`);
});
