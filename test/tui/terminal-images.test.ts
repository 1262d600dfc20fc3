import { visibleWidth } from "@mariozechner/pi-tui";
import { expect, test } from "vitest";
import { imageSize } from "../../src/tui/image-size.js";
import { safeLine } from "../../src/tui/safe-line.js";
import { TerminalImages } from "../../src/tui/terminal-images.js";
import { CellImages } from "../../src/tui/tmux-images.js";
import { jpegHeader, png } from "../helpers/images.js";

const ROOM = { columns: 40, rows: 10 };

/** A frame's sequences: `[up 2]`, `[send 12 characters]`, `[place 4x3]`, … */
function readable(frame: string): string {
	return frame
		.replace(/(?:\x1b_G[^;]*m=[01];[^\x1b]*\x1b\\)+/g, (all) => {
			const data = [...all.matchAll(/;([^\x1b]*)\x1b/g)].map(([, part]) => part).join("");
			return `[send ${data.length}]`;
		})
		.replace(/\x1b_Ga=p,i=\d+,p=(\d+),c=(\d+),r=(\d+),C=1,q=2\x1b\\/g, "[place $1: $2x$3]")
		.replace(/\x1b_Ga=d,d=i,i=\d+,p=(\d+),q=2\x1b\\/g, "[delete $1]")
		.replace(
			/\x1b\]1337;File=inline=1;size=\d+;width=(\d+);height=(\d+):([^\x07]*)\x07/g,
			(_all, columns, rows, data: string) => {
				return `[file ${data.length} ${columns}x${rows}]`;
			},
		)
		.replace(/\x1b\[(\d+)A/g, "[up $1]")
		.replace(/\x1b\[(\d+)B/g, "[down $1]");
}

test("an image is blank lines and a last line without visible width", () => {
	const images = new TerminalImages("kitty");
	const lines = images.lines(images.add(png(90, 54)) ?? 0, ROOM);
	expect(lines).toEqual(["", "", expect.stringMatching(/^\x1b_Gi=\d+,c=10,r=3;\x1b\\$/)]);
	expect(safeLine(lines?.[2] ?? "", 1)).toBe(lines?.[2]);
});

test.each([
	["in its natural size", png(90, 54), "c=10,r=3"],
	["at most as wide as the room", png(900, 180), "c=40,r=4"],
	["at most as high as the room", png(90, 900), "c=2,r=10"],
	["with at least one cell", png(400, 1), "c=40,r=1"],
])("an image is drawn %s", (_how, image, cells) => {
	const images = new TerminalImages("kitty");
	expect(images.lines(images.add(image) ?? 0, ROOM)?.at(-1)).toContain(cells);
});

test("Kitty receives the data of an image once; an image that is drawn again is removed first", () => {
	const images = new TerminalImages("kitty");
	const image = png(90, 54);
	const line = images.lines(images.add(image) ?? 0, ROOM)?.at(-1) ?? "";
	const { length } = image.data;
	expect(readable(images.expand(`a\r\n${line}`))).toBe(`a\r\n[send ${length}][up 2][place 1: 10x3][down 2]`);
	expect(readable(images.expand(line))).toBe("[delete 1][up 2][place 2: 10x3][down 2]");
	expect(readable(images.removeAll())).toBe("[delete 2]");
	expect(readable(images.expand(line))).toBe("[up 2][place 3: 10x3][down 2]");
	images.leave([line]);
	expect(images.removeAll()).toBe("");
	images.forgetSent();
	expect(readable(images.expand(line))).toBe(`[send ${length}][up 2][place 4: 10x3][down 2]`);
});

test("long data is sent to Kitty in chunks", () => {
	const images = new TerminalImages("kitty");
	const image = png(200, 200);
	const frame = images.expand(images.lines(images.add(image) ?? 0, ROOM)?.at(-1) ?? "");
	const pieces = [...frame.matchAll(/\x1b_G([^;\x1b]*);([^\x1b]*)\x1b/g)];
	expect(pieces.map(([, , data]) => data).join("")).toBe(image.data);
	expect(Math.max(...pieces.map(([, , data = ""]) => data.length))).toBe(4096);
	expect(pieces.map(([, keys = ""]) => /m=(\d)/.exec(keys)?.[1]).join("")).toMatch(/^1+0$/);
});

test("iTerm2 receives the file with each drawing and no removal", () => {
	const images = new TerminalImages("iterm2");
	const image = png(90, 54);
	const line = images.lines(images.add(image) ?? 0, ROOM)?.at(-1) ?? "";
	const drawing = `[up 2][file ${image.data.length} 10x3]`;
	expect(readable(images.expand(line) + images.removeAll() + images.expand(line))).toBe(drawing + drawing);
});

test("images are refused without a protocol, or if corrupt, truncated, not base64 or of an unsupported format", () => {
	const image = png(90, 54);
	expect(new TerminalImages(null).add(image)).toBeNull();
	const images = new TerminalImages("kitty");
	for (const broken of [
		{ ...image, data: "" },
		{ ...image, data: "AAAA" },
		{ ...image, data: image.data.slice(0, -40) },
		{ ...image, data: `${image.data.slice(0, 100)}\x1b\\\x1b]0;x\x07${image.data.slice(100)}` },
		{ ...image, mimeType: "image/jpeg" },
		{ ...image, mimeType: "\x1b[2J" },
		png(12_000, 1),
		jpegHeader(90, 54),
	]) {
		expect(images.add(broken)).toBeNull();
	}
	expect(new TerminalImages("iterm2").add(jpegHeader(90, 54))).not.toBeNull();
});

test("a mark without an image draws nothing, and a similar sequence never reaches the terminal", () => {
	expect(new TerminalImages("kitty").expand("a\x1b_Gi=7,c=1,r=1;\x1b\\b")).toBe("ab");
	expect(safeLine("\x1b_Ga=T,f=100;AAAA\x1b\\", 80)).toBe("␛_Ga=T,f=100;AAAA␛\\");
	expect(safeLine("\x1b]1337;File=inline=1:AAAA\x07", 80)).toBe("␛]1337;File=inline=1:AAAA^G");
});

test("the size of an image is read from its header, also after camera metadata", () => {
	expect(imageSize(png(640, 480).data, "image/png")).toEqual({ width: 640, height: 480 });
	for (const metadata of [0, 10_000, 200_000]) {
		const { data, mimeType } = jpegHeader(640, 480, metadata);
		expect(imageSize(data, mimeType)).toEqual({ width: 640, height: 480 });
	}
	expect(imageSize("", "image/png")).toBeNull();
});

test("in tmux an image is text: it is sent once, and each cell says which part of which image it is", async () => {
	const found: string[] = [];
	const images = new TerminalImages(null, {
		find: async () => new CellImages(),
		onFound: () => void found.push("found"),
	});
	const image = png(90, 54);
	expect([images.add(image), images.protocol]).toEqual([null, null]);
	await Promise.resolve();
	expect([found, images.protocol]).toEqual([["found"], "cells"]);
	const id = images.add(image) ?? 0;
	const lines = images.lines(id, ROOM) ?? [];
	expect(lines.map((line) => visibleWidth(line))).toEqual([10, 10, 10]);
	expect(lines.map((line) => safeLine(line, 10))).toEqual(lines);
	const cells = lines.map((line) => line.split("\u{10eeee}").slice(1));
	const marks = ["\u0305", "\u030d", "\u030e"];
	const first = cells[0]?.[0]?.slice(2);
	expect(cells.map((row) => row[0]?.slice(0, 3))).toEqual(marks.map((row) => `${row}\u0305${first}`));
	expect(cells[1]?.slice(0, 3).map((cell) => cell.slice(0, 3))).toEqual(marks.map((mark) => `\u030d${mark}${first}`));
	expect(lines[0]).toContain(`\x1b[38;5;${id & 0xff}m`);
	const sent = images.expand(lines.join("\r\n"));
	const chunks = [...sent.matchAll(/\x1bPtmux;\x1b\x1b_G(?:a=t,f=100,i=\d+,)?q=2,m=[01];([^\x1b]*)\x1b\x1b\\\x1b\\/g)];
	expect(chunks.map(([, data]) => data).join("")).toBe(image.data);
	expect(sent).toContain(`\x1bPtmux;\x1b\x1b_Ga=p,U=1,i=${id},c=10,r=3,q=2\x1b\x1b\\\x1b\\`);
	expect(images.expand(lines[0] ?? "")).not.toContain("_G");
	expect(images.removeAll()).toBe("");
	images.forgetSent();
	expect(images.expand(lines[0] ?? "")).toContain("_Ga=t");
});

test("where tmux cannot draw images, it is asked once", async () => {
	let asked = 0;
	const find = async () => {
		asked += 1;
		return null;
	};
	const images = new TerminalImages(null, { find, onFound: () => expect.unreachable() });
	for (let at = 0; at < 3; at += 1) {
		expect(images.add(png(9, 9))).toBeNull();
		await Promise.resolve();
	}
	expect(asked).toBe(1);
});

test("of more images than ids, the last ones are described instead of showing others", async () => {
	const images = new TerminalImages(null, { find: async () => new CellImages(), onFound: () => {} });
	images.add(png(9, 9));
	await Promise.resolve();
	const ids = Array.from({ length: 256 }, () => images.add(png(9, 9)));
	expect(new Set(ids).size).toBe(256);
	expect(ids.indexOf(null)).toBe(255);
	images.clear();
	expect(images.add(png(9, 9))).not.toBeNull();
});
